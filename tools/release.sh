#!/usr/bin/env bash
# Releases: release.sh check | release.sh publish
#
# check    the release configuration is valid and builds for this platform
# publish  builds all platforms for the tag checked out and drafts the release;
#          signed where GPG_FINGERPRINT names a key (.github/workflows/release.yml)
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

goreleaser=$(tool goreleaser)

case ${1:-} in
  check)
    "$goreleaser" check
    "$goreleaser" build --snapshot --single-target --clean
    ;;
  publish)
    skip=()
    [[ ${GPG_FINGERPRINT:-} ]] || skip=(--skip=sign)
    "$goreleaser" release --clean "${skip[@]}"
    ;;
  *) die 'usage: release.sh check | release.sh publish' ;;
esac
