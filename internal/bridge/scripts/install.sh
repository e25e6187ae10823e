# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Puts a staged file in its place: joins the parts, checks the content, sets the mode, and renames, so that whoever
# reads the path sees the old file or the new one and nothing between. Says the new file's raw mode (hex) and size, or,
# when it fails, the reason.
#
# Arguments: PATH MODE SHA256 PARTS (the parts are $staging/1, 2, ...)

main() {
  local path=$1 mode=$2 sha256=$3 parts=$4 directory part sum
  directory=${path%/*}
  # Beside its target, since a rename is atomic only within one file system, and /workspace may hold several;
  # and with a name of its own in case a lost connection made two of this script run at once.
  temporary=$directory/.cloudflaresandbox-$nonce-$BASHPID
  trap 'rm -f -- "$temporary"; unstage' EXIT
  exec 2>&1

  if [[ -d $path && ! -L $path ]]; then
    return "$IS_DIRECTORY"
  fi
  [[ -d $directory ]] || mkdir -p -- "$directory" || return "$CANNOT_WRITE"
  umask 077
  : >"$temporary" || return "$CANNOT_WRITE"
  for ((part = 1; part <= parts; part++)); do
    [[ -f $staging/$part ]] || return "$NOT_STAGED"
    cat -- "$staging/$part" >>"$temporary" || return "$CANNOT_WRITE"
    # At once, so that a large file needs its size on the disk and not twice that.
    ((parts == 1)) || rm -f -- "$staging/$part"
  done
  sum=$(sha256sum <"$temporary") || return "$CANNOT_WRITE"
  [[ ${sum%% *} == "$sha256" ]] || return "$DIFFERENT"
  chmod -- "$mode" "$temporary" || return "$CANNOT_WRITE"
  stat -c '%f %s' -- "$temporary" || return "$CANNOT_WRITE"
  mv -fT -- "$temporary" "$path" || return "$CANNOT_WRITE"
}

beat
answer "$@"
