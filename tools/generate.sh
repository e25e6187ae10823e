#!/usr/bin/env bash
# Writes docs/ from the provider's schema, templates/ and examples/.
#
# The schema comes from the provider itself (cmd/schemadump), not from the
# installed Terraform, so that everybody generates the same pages and nothing is
# downloaded.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

name=cloudflaresandbox
schema=$(mktemp)
log=$(mktemp)
trap 'rm -f "$schema" "$log"' EXIT

# tfplugindocs tells of every file it opens; that is of interest when it fails.
docs() {
  "$tfplugindocs" "$1" --provider-name "$name" --providers-schema "$schema" >"$log" 2>&1 || {
    cat "$log" >&2
    die "tfplugindocs $1 failed"
  }
}

"$(cli auto)" fmt -recursive examples
go run ./cmd/schemadump -as "$name" >"$schema"

tfplugindocs=$(tool tfplugindocs)
docs generate
docs validate
printf 'docs/ is current\n'
