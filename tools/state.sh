#!/usr/bin/env bash
# Writes the state that later versions must still read: state.sh VERSION
#
# internal/provider/testdata/state/vX.Y/ has, for every version that changed what is in a state, a configuration with a
# resource of each type and the state that this version made of it. What a release has written stays as it is: a test
# reads all of them, and must plan nothing.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

version=v$(cut -d . -f 1,2 <<<"${1:?which version?}")
states=internal/provider/testdata/state
if [[ ! -d $states/$version ]]; then
  newest=$(find "$states" -mindepth 1 -maxdepth 1 | sort -V | tail -n 1)
  cp -R -- "$newest" "$states/$version"
fi

TF_ACC_TERRAFORM_PATH=$(cli auto)
export TF_ACC=1 TF_ACC_TERRAFORM_PATH WRITE_STATE_FIXTURE=$version
go test -count=1 -timeout 5m -run '^TestStatesOfEarlierVersionsPlanEmpty$' ./internal/provider
printf 'written: %s\n' "$states/$version/state.json"
