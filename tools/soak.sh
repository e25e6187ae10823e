#!/usr/bin/env bash
# Runs the soak: soak.sh [TIME], 5m by default.
#
# Many objects go through rounds of apply, plan and destroy while containers die
# and Terraform is interrupted, by schedules whose seeds are printed. SEED=N
# repeats one of them, once.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

export SOAK=${1:-5m}
TF_ACC_TERRAFORM_PATH=$(cli auto)
export TF_ACC=1 TF_ACC_TERRAFORM_PATH

# The tests end by themselves, with the round that they are in when time is up.
exec go test -count=1 -timeout=0 -v ./internal/soak
