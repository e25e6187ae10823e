#!/usr/bin/env bash
# Runs every fuzz target for a while: fuzz.sh [TIME], 30s each by default, two at a time.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

time=${1:-30s}
logs=$(mktemp -d)
trap 'rm -rf -- "$logs"' EXIT

# run PACKAGE TARGET: `go test -fuzz` takes one target of one package at a time.
run() {
  local log=$logs/${1##*/}.$2
  if go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -parallel 1 -timeout 0 "$1" >"$log" 2>&1; then
    # What it has found interesting, and how much it has tried.
    printf '%-18s %s\n' "$2" "$(grep -o 'execs: [0-9]*.*' "$log" | tail -n 1)"
  else
    printf '%s in %s failed:\n' "$2" "$1"
    cat "$log"
    return 1
  fi
}

targets=()
while IFS= read -r package; do
  while IFS= read -r target; do
    targets+=("$package $target")
  done < <(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
done < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r dirname | sort -u)
((${#targets[@]})) || die 'no fuzz targets'

step "${#targets[@]} fuzz targets for $time each"
export time logs
export -f run
# xargs fails if one of them does; a shell that waits for background jobs can miss those that end early.
printf '%s\n' "${targets[@]}" | xargs -P 2 -L 1 bash -c 'run "$@"' run
