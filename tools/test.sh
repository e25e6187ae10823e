#!/usr/bin/env bash
# Runs the tests: test.sh [--unit] [--cli terraform|tofu] [go test arguments]
#
# Unit and acceptance tests under the race detector. The acceptance tests run
# the provider through Terraform or OpenTofu against the local bridge, or, with
# CLOUDFLARE_SANDBOX_API_URL (and _API_KEY) set, against that bridge.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

unit='' want=auto
while (($#)); do
  case $1 in
    --unit) unit=1 ;;
    --cli)
      want=${2:?--cli needs a name}
      shift
      ;;
    *) break ;;
  esac
  shift
done

if [[ $unit ]]; then
  unset TF_ACC
  printf 'unit tests only\n'
else
  TF_ACC_TERRAFORM_PATH=$(cli "$want")
  export TF_ACC=1 TF_ACC_TERRAFORM_PATH
  version=$("$TF_ACC_TERRAFORM_PATH" version | sed -n 1p)
  # The plugin test library names providers by Terraform's default registry;
  # OpenTofu has another one.
  if [[ $version == OpenTofu* ]]; then
    export TF_ACC_PROVIDER_HOST=registry.opentofu.org
  fi
  printf 'unit and acceptance tests with %s, against %s\n' "$version" "${CLOUDFLARE_SANDBOX_API_URL:-the local bridge}"
fi

flags=(-count=1 -timeout=45m)
# The race detector needs cgo and a C compiler.
if [[ $(go env CGO_ENABLED) == 1 ]] && command -v "$(go env CC)" >/dev/null; then
  flags+=(-race)
  # A program built for the race detector waits a second before it exits. The
  # tests start hundreds: the provider as a plugin, and the sandboxes.
  export GORACE="atexit_sleep_ms=10 ${GORACE:-}"
else
  printf 'no C compiler found: running without the race detector\n' >&2
fi

if (($# == 0)); then
  set -- ./...
fi

gotestsum=$(tool gotestsum)
exec "$gotestsum" --format pkgname-and-test-fails -- "${flags[@]}" "$@"
