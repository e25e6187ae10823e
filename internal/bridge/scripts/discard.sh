# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of prelude.sh
# Removes what was staged for another request that did not come to its end.
#
# Arguments: REQUEST (its nonce)

main() {
  staging=$staging_root/$1
  unstage
}

answer "$@"
