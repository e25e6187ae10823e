# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh, functions of hidden.sh
# Says a file's raw mode (hex), size and SHA-256 on a line, then its content. Of a file larger than LIMIT it says only
# the line, and links it where the bridge reads bytes as they are: under a name that ends in .gz (BRIDGE.md, "Files").
# Of a file larger than MOST it says only the size.
#
# Arguments: PATH LIMIT MOST

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
  printf '%s %s %s\n' "$mode" "$size" "${sum%% *}"
  if ((size > limit)); then
    # -f, since an answer that was lost is asked for again.
    mkdir -p -- "$staging" && ln -sfT -- "$path" "$staging/content.gz" || return "$UNREADABLE"
    return "$LINKED"
  fi
  head -c "$size" -- "$path"
}

beat
answer "$@"
