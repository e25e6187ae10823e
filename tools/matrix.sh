#!/usr/bin/env bash
# Tries every operation of every object under every fault, and writes what came
# of it into the page about failures. `make test` tries a selection.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

export FAULT_MATRIX=write TF_ACC=1
go test ./internal/provider -run '^TestEveryOperationUnderEveryFault$' -count=1 -timeout 45m "$@"
printf 'templates/guides/failures.md.tmpl is current; make generate makes the page of it\n'
