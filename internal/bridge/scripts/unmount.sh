# shellcheck shell=bash
# Unmounts what is mounted at a path if it has a certain source, and removes the directory when it is empty. Says the
# reason when it fails.
#
# Arguments: PATH SOURCE

main() {
  local source tool
  read -r _ _ _ source < <(mounted "$1")
  [[ -n $source && $source == "$2" ]] || return 0
  for tool in fusermount fusermount3; do
    type -P "$tool" >/dev/null || continue
    "$tool" -u -- "$1" 2>&1 || return "$CANNOT_UNMOUNT"
    rmdir -- "$1" 2>/dev/null
    return 0
  done
  printf 'there is no fusermount in the image'
  return "$CANNOT_UNMOUNT"
}

answer "$@"
