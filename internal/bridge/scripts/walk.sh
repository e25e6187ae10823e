# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Says, compressed by gzip, the paths of all that is in a directory, relative to it and each ended by NUL, directories
# with a slash at the end and before what is in them. No link is followed. When a directory cannot be read, it says which.
#
# Arguments: DIRECTORY

main() {
  local path found
  [[ -e $1 || -L $1 ]] || return "$MISSING"
  [[ -d $1 ]] || return "$NOT_DIRECTORY"
  CDPATH='' cd -P -- "$1" 2>/dev/null || return "$UNREADABLE"
  shopt -s dotglob nullglob globstar
  found=(**)
  for path in . "${found[@]}"; do
    # Without this a closed directory would pass for an empty one.
    if [[ -d $path && ! -L $path && ! (-r $path && -x $path) ]]; then
      printf '%s' "$path"
      return "$UNREADABLE"
    fi
  done
  for path in "${found[@]}"; do
    [[ ! -d $path || -L $path ]] || path+=/
    printf '%s\0' "$path"
  done | gzip -1
}

beat
answer "$@"
