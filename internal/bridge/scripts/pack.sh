# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Packs a directory or a file into a file of $staging, a compressed tar, and says
#   SHA256 SIZE NAME
# on a line, then what tar had to say of files that changed while it read them. The same content gives the same bytes:
# names in order, no owners, no time of the packing. When it fails, it says the system's reason.
#
# Arguments: PATH PARTS
#   PATH   what is to be packed; what is in a directory is named relative to it
#   PARTS  in how many staged parts ($staging/1, 2, ...) the names are that are to be packed, each ended by NUL and
#          relative to the directory; 0: all that is in it

# choose goes to where the names start, and fills what with tar's arguments for them.
choose() {
  local part name files=()
  if [[ ! -d $path ]]; then
    CDPATH='' cd -P -- "${path%/*}" || return "$UNREADABLE"
    what=("./${path##*/}")
    # Of a link, what it leads to; one inside a directory stays a link.
    [[ ! -L $path ]] || what=(--dereference "${what[@]}")
    return
  fi
  CDPATH='' cd -P -- "$path" || return "$UNREADABLE"
  what=(--null --no-unquote --files-from="$own.names")
  if ((parts == 0)); then
    [[ -r . ]] || return "$UNREADABLE"
    shopt -s dotglob nullglob
    # The directory itself is left out: what passes through $staging_root changes its time.
    for name in *; do
      [[ $PWD/$name -ef $staging_root ]] || printf './%s\0' "$name"
    done >"$own.names" || return "$CANNOT_WRITE"
    return
  fi
  for ((part = 1; part <= parts; part++)); do
    [[ -f $staging/$part ]] || return "$NOT_STAGED"
    files+=("$staging/$part")
  done
  cat -- "${files[@]}" >"$own.names" || return "$CANNOT_WRITE"
  what=(--no-recursion "${what[@]}")
}

pack() {
  local status sum size
  [[ -e $path ]] || return "$MISSING"
  ((parts == 0)) || [[ -d $staging ]] || return "$NOT_STAGED"
  mkdir -p -- "$staging" || return "$CANNOT_WRITE"
  choose || return
  # Files that install.sh is about to put in their places are no content.
  tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
    --no-anchored --wildcards --exclude='.cloudflaresandbox-*' \
    "${what[@]}" 2>"$own.complaints" | gzip -n >"$own.gz"
  status=("${PIPESTATUS[@]}")
  if ((status[0] > 1 || status[1])); then
    head -c 2000 -- "$own.complaints"
    # What cannot be read is told apart from a full disk by the one of the two that failed.
    ((status[1])) && return "$CANNOT_WRITE"
    return "$UNREADABLE"
  fi
  sum=$(sha256sum <"$own.gz") && size=$(stat -c %s -- "$own.gz") || return "$CANNOT_WRITE"
  printf '%s %s %s\n' "${sum%% *}" "$size" "${own##*/}.gz"
  ((status[0] == 0)) || head -c 2000 -- "$own.complaints"
}

main() {
  # Names of its own, in case a lost connection made two of this script run at once.
  local path=$1 parts=$2 own=$staging/archive-$BASHPID what status
  exec 2>&1
  pack
  status=$?
  ((status == 0)) || unstage
  return "$status"
}

beat
answer "$@"
