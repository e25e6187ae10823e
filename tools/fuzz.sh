#!/usr/bin/env bash
# Runs every fuzz target for a while: fuzz.sh [TIME], 20s each by default.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

time=${1:-20s}
found=0

# `go test -fuzz` takes one target of one package at a time.
while IFS= read -r package; do
  while IFS= read -r target; do
    found=1
    step "$target in $package for $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
  done < <(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
done < <(go list ./...)

((found)) || printf 'no fuzz targets\n'
