# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Says what there is of a tree, without its content, compressed by gzip: for every path of its list that exists
#   RAW_MODE(hex) SIZE ./PATH NUL
# then an empty record, then for every regular file that can be read
#   SHA256 " *./" PATH NUL
# then an empty record, then for every link its path and where it leads, each ended by NUL, then an empty record, then
# the paths that cannot be looked at, each ended by NUL. No link is followed, also not one in the place of a directory.
#
# Arguments: TARGET TREE SHA256 PARTS
#   TARGET  the directory that the tree is in
#   TREE    the name of its records in $home/trees, where unpack.sh keeps the list
#   SHA256  of the list; one that has another is not trusted
#   PARTS   in how many parts the list is staged; 0: it is not, and should be known here
#
# The list has for each path two records, each ended by NUL: what it is, and the path. What it is is "d MODE",
# "f MODE SIZE SHA256" or "l TARGET". Directories come before what is in them.

# obtain fills list, from what is known or else from what is staged.
obtain() {
  read_list && return
  ((parts)) || return "$NO_LIST"
  local part files=() new=$records/new-$BASHPID
  for ((part = 1; part <= parts; part++)); do
    [[ -f $staging/$part ]] || return "$NOT_STAGED"
    files+=("$staging/$part")
  done
  (umask 077 && mkdir -p -- "$records" && cat -- "${files[@]}" >"$new" && mv -fT -- "$new" "$records/$sha256") 2>/dev/null
  read_list || return "$NOT_STAGED"
}

# read_list fills list if the known one is the right one. It is opened once, so that what is checked is what is read.
read_list() {
  local sum from
  [[ -f $records/$sha256 ]] || return
  { exec {from}<"$records/$sha256"; } 2>/dev/null || return
  sum=$(sha256sum <"/proc/self/fd/$from")
  [[ ${sum%% *} == "$sha256" ]] && mapfile -d '' -t list <&"$from"
}

# sort_out fills existing, files, links and unseen with those paths.
sort_out() {
  local i path up
  declare -A real=([/]=1) closed=()
  [[ -x . ]] || closed[/]=1
  for ((i = 1; i < ${#list[@]}; i += 2)); do
    path=${list[i]}
    up=
    [[ $path != */* ]] || up=${path%/*}
    if [[ -n ${closed["/$up"]-} ]]; then
      closed["/$path"]=1
      unseen+=("$path")
      continue
    fi
    [[ -n ${real["/$up"]-} ]] || continue
    if [[ -L $path ]]; then
      links+=("./$path")
    elif [[ -d $path ]]; then
      real["/$path"]=1
      [[ -x $path ]] || closed["/$path"]=1
    elif [[ -f $path ]]; then
      [[ ! -r $path ]] || files+=("./$path")
    elif [[ ! -e $path ]]; then
      continue
    fi
    existing+=("./$path")
  done
}

# tolerate COMMAND...: the command, on what may have gone meanwhile.
tolerate() {
  "$@"
  return 0
}

tell() {
  local i targets
  batch tolerate stat --printf '%f %s %n\0' -- "${existing[@]}"
  printf '\0'
  batch tolerate sha256sum -bz -- "${files[@]}"
  printf '\0'
  mapfile -d '' -t targets < <(batch tolerate readlink -z -- "${links[@]}")
  for ((i = 0; i < ${#links[@]}; i++)); do
    printf '%s\0' "${links[i]}"
    # It does not say which of several it could not read.
    if ((${#targets[@]} == ${#links[@]})); then
      printf '%s\0' "${targets[i]}"
    else
      readlink -z -- "${links[i]}" || printf '\0'
    fi
  done
  printf '\0'
  ((${#unseen[@]} == 0)) || printf './%s\0' "${unseen[@]}"
}

main() {
  local target=$1 records=$home/trees/$2 sha256=$3 parts=$4 parent list=() existing=() files=() links=() unseen=()
  ((parts == 0)) || trap unstage EXIT
  if [[ ! -e $target && ! -L $target ]]; then
    parent=$target
    until [[ -z $parent || -e $parent ]]; do
      parent=${parent%/*}
    done
    [[ -d $parent && ! -x $parent ]] && return "$UNREADABLE"
    return "$MISSING"
  fi
  [[ -d $target && ( ! -L $target || $target == /workspace ) ]] || return "$NOT_DIRECTORY"
  obtain || return
  CDPATH='' cd -P -- "$target" 2>/dev/null || return "$UNREADABLE"
  sort_out
  tell 2>/dev/null | gzip -1
}

beat
answer "$@"
