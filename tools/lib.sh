# shellcheck shell=bash
# What the scripts in tools/ share. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Nothing here may read or change the settings of the person at the keyboard,
# nor ask the network whether there is a newer Terraform.
export TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

step() { printf '\n==> %s\n' "$*"; }

# tool NAME builds a development tool into bin/, unless it is there and newer
# than the go.mod that fixes its version, and prints its path.
tool() {
  local name=$1 module package flags='-s -w'
  case $name in
    golangci-lint) module=tools package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
    gotestsum) module=tools package=gotest.tools/gotestsum ;;
    tfplugindocs) module=tools package=github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs ;;
    goreleaser) module=tools/goreleaser package=github.com/goreleaser/goreleaser/v2 ;;
    tofu)
      module=tools/opentofu package=github.com/opentofu/opentofu/cmd/tofu
      # Without it, OpenTofu calls itself a development build.
      flags+=' -X github.com/opentofu/opentofu/version.dev=no'
      ;;
    *) die "no tool called $name" ;;
  esac
  if [[ ! bin/$name -nt $module/go.mod ]]; then
    printf 'building %s (the first time takes up to five minutes; later builds are cached)\n' "$name" >&2
    go build -C "$module" -trimpath -ldflags "$flags" -o "$root/bin/$name" "$package" >&2 ||
      die "building $name failed"
  fi
  printf '%s\n' "$root/bin/$name"
}

# cli auto|terraform|tofu prints the path of the command-line tool to use. auto is
# Terraform or OpenTofu from PATH, else OpenTofu built here.
cli() {
  case $1 in
    auto) command -v terraform || command -v tofu || tool tofu ;;
    tofu) command -v tofu || tool tofu ;;
    terraform) command -v terraform || die 'terraform is not on PATH' ;;
    *) die "no command-line tool called $1: use terraform or tofu" ;;
  esac
}
