#!/usr/bin/env bash
# Checks everything that can be checked without running it. Changes nothing.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

failed=0
check() {
  step "$1"
  shift
  "$@" || failed=1
}

formatted() {
  local files
  mapfile -t files < <(gofmt -l "$@")
  ((${#files[@]} == 0)) || { printf 'not formatted: %s\n' "${files[@]}"; return 1; }
}

command -v shellcheck >/dev/null || die 'shellcheck is missing: install your system'\''s package "shellcheck"'

mapfile -t go_dirs < <(find . -maxdepth 1 -name '*.go' -o -maxdepth 1 -type d \( -name internal -o -name cmd \))
mapfile -t scripts < <(find . -name '*.sh' -not -path './.git/*' -not -path './bin/*' -not -path '*/.terraform/*' | sort)

check 'gofmt' formatted "${go_dirs[@]}"
check 'go.mod is tidy' go mod tidy -diff
check 'golangci-lint' "$(tool golangci-lint)" run ./...
check "shellcheck (${#scripts[@]} scripts and .ci/run)" shellcheck --shell=bash --external-sources "${scripts[@]}" .ci/run
check 'format of the examples' "$(cli auto)" fmt -check -diff -recursive examples

((failed == 0)) || die 'something above needs attention'
