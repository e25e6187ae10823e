#!/usr/bin/env bash
# Formats Go code and the examples.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$(tool golangci-lint)" fmt ./...
"$(cli auto)" fmt -recursive examples
