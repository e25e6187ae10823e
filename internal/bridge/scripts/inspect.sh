# shellcheck shell=bash
# Says what is at each path, without its content: for every path that exists
#   RAW_MODE(hex) SIZE PATH NUL
# then an empty record, then for every regular file that can be read
#   SHA256 " *" PATH NUL
# then an empty record, then the paths that cannot be looked at, each ended by NUL. Links are not followed.
#
# Arguments: PATH...

main() {
  local path existing=() files=() unseen=()
  for path; do
    if [[ -e $path || -L $path ]]; then
      existing+=("$path")
      [[ -f $path && ! -L $path && -r $path ]] && files+=("$path")
    elif hidden "$path"; then
      unseen+=("$path")
    fi
  done
  ((${#existing[@]} == 0)) || stat --printf '%f %s %n\0' -- "${existing[@]}"
  printf '\0'
  ((${#files[@]} == 0)) || sha256sum -bz -- "${files[@]}"
  printf '\0'
  ((${#unseen[@]} == 0)) || printf '%s\0' "${unseen[@]}"
  return 0
}

beat
answer "$@"
