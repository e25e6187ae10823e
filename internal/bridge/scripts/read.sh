# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh, functions of hidden.sh
# Says a file's raw mode (hex), size and SHA-256 on a line, then its content. Of a file larger than LIMIT it says only
# the line, and links it where the bridge reads bytes as they are: under a name that ends in .gz (BRIDGE.md, "Files").
# Of a file larger than MOST it says only the size. When the link cannot be made, it says the reason.
#
# Arguments: PATH LIMIT MOST

# link makes the link, or says why it cannot. It may be there already: an answer that was lost is asked for again.
link() {
  mkdir -p -- "$staging" 2>&1 && ln -sfT -- "$path" "$staging/content.gz" 2>&1
}

main() {
  local path=$1 limit=$2 most=$3 mode size sum
  # Of a link, what it leads to.
  if [[ ! -e $path ]]; then
    hidden "$(readlink -m -- "$path")" && return "$UNREADABLE"
    return "$MISSING"
  fi
  [[ -d $path ]] && return "$IS_DIRECTORY"
  [[ -f $path ]] || return "$NOT_REGULAR"
  [[ -r $path ]] || return "$UNREADABLE"
  read -r mode size < <(stat -L -c '%f %s' -- "$path") || return "$MISSING"
  if ((size > most)); then
    printf '%s\n' "$size"
    return "$TOO_LARGE"
  fi
  sum=$(sha256sum <"$path") || return "$UNREADABLE"
  if ((size > limit)) && ! link; then
    unstage
    return "$CANNOT_WRITE"
  fi
  printf '%s %s %s\n' "$mode" "$size" "${sum%% *}"
  ((size <= limit)) || return "$LINKED"
  head -c "$size" -- "$path"
}

beat
answer "$@"
