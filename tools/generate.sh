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
trap 'rm -f "$schema"' EXIT

"$(cli auto)" fmt -recursive examples
go run ./cmd/schemadump -as "$name" >"$schema"

docs=$(tool tfplugindocs)
"$docs" generate --provider-name "$name" --providers-schema "$schema"
"$docs" validate --provider-name "$name" --providers-schema "$schema"
