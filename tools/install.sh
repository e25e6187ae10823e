#!/usr/bin/env bash
# Installs the provider where Terraform and OpenTofu look by themselves:
# install.sh VERSION
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

version=${1:?usage: install.sh VERSION}
dir=$HOME/.terraform.d/plugins/terraform.local/local/cloudflaresandbox/$version/$(go env GOOS)_$(go env GOARCH)

mkdir -p "$dir"
go build -trimpath -ldflags "-s -w -X main.version=$version" \
  -o "$dir/terraform-provider-cloudflaresandbox_v$version$(go env GOEXE)" .

cat <<TEXT
Installed version $version in $dir

Use it with

  terraform {
    required_providers {
      cloudflaresandbox = {
        source = "terraform.local/local/cloudflaresandbox"
      }
    }
  }

and \`terraform init\`. Where a .terraform.lock.hcl remembers an earlier build of
the same version, remove that file first.
TEXT
