# shellcheck shell=bash
# Removes a file or a link; none there is as good. Says the reason when it fails.
#
# Arguments: PATH

main() {
  [[ -d $1 && ! -L $1 ]] && return "$IS_DIRECTORY"
  rm -f -- "$1" 2>&1 || return "$CANNOT_WRITE"
}

answer "$@"
