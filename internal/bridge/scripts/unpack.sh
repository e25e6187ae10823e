# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Makes a directory hold a tree: takes away what is no longer a part of it, makes directories, and puts staged files and
# links in their places by renaming. Everything is unpacked and verified before the first of it is placed, and what would
# be in the way is looked for before anything is changed. Other files in the directory stay as they are.
#
# Arguments: TARGET TREE SUPERSEDED LAST SHA256 CONTENTS PARTS
#   TARGET      the directory
#   TREE        the name of its records in $home/trees
#   SUPERSEDED  the SHA-256 of the list that it was made by before, or ""
#   LAST        1: the tree is empty from now on, and the directory goes as well if it was made here and is empty
#   SHA256      of the staged parts ($staging/1, 2, ...), joined
#   CONTENTS    the SHA-256 of what "sha256sum -bz" says about the sent files
#   PARTS       how many parts there are
#
# The parts are a compressed tar of
#   list    the whole tree, for look.sh (its format is told there)
#   sent    the regular files that come with it, each ended by NUL
#   linked  the links that come with it, likewise
#   remove  pairs of "d" (a directory) or "f" (anything else) and a path, each ended by NUL; directories sorted
#   modes   pairs of a mode and a path: files whose mode is not, or not only, to be had from the tar
#   tree/   what is sent
# with all paths relative to the directory. When it fails, it says the path that is in the way or the system's reason.
#
# No path is trusted to lead where its names say: the directory that it is in is entered first, and then seen to be the
# one (enter). So a link planted in the place of a directory is never followed.

# parent PATH: in up, the directory that the path is in, "" for the tree's own.
parent() {
  up=
  [[ $1 != */* ]] || up=${1%/*}
}

# place PATH: in place, where a path of the tree is.
place() {
  place=$root${1:+/$1}
}

# enter DIRECTORY: goes into a directory of the tree and makes it writable. Returns 1 if there is none, that is, if the
# path or anything on the way to it is not really a directory, and 2 if it is closed to us.
enter() {
  local up place
  place "$1"
  if [[ $PWD != "$place" ]] && ! CDPATH='' cd -P -- "$place" 2>/dev/null; then
    if [[ -n $1 ]]; then
      parent "$1"
      enter "$up" || return
    fi
    # Its parents are open by now, and seen to be what they seem.
    [[ -d $place && ! -L $place ]] || return
    unlock "$place" "$1" || return
    CDPATH='' cd -P -- "$place" || return 2
  fi
  [[ $PWD == "$place" ]] || return
  [[ -r . && -w . ]] || unlock . "$1"
}

# unlock PLACE DIRECTORY: lets the owner do everything in a directory, until relock.
unlock() {
  local mode
  mode=$(stat -c %a -- "$1") && chmod u+rwx -- "$1" || return 2
  unlocked+=("$2")
  unlocked_mode+=("0000$mode")
}

# relock WHICH: gives back their modes to directories that were unlocked: to all; to the root of the tree; or to the
# others that are not (or no longer) a part of the tree.
relock() {
  local i place which
  # What was unlocked last may be inside what was unlocked before.
  for ((i = ${#unlocked[@]} - 1; i >= 0; i--)); do
    which=others
    [[ -z ${declared["/${unlocked[i]}"]-} ]] || which=declared
    [[ -n ${unlocked[i]} ]] || which=root
    [[ $1 == all || $1 == "$which" ]] || continue
    place "${unlocked[i]}"
    [[ -d $place && ! -L $place ]] || continue
    chmod -- "${unlocked_mode[i]}" "$place" || return
    # The tree does not tell the root's mode; a closed one would hide the tree.
    [[ $1 != root || (-r $place && -x $place) ]] || chmod 00755 -- "$place" || return
  done
}

# finish leaves nothing behind but the result.
finish() {
  cd /
  [[ -z ${private-} ]] || rm -rf -- "$private"
  relock all >/dev/null 2>&1
  unstage
}

# claim waits for another one of this script, which a lost connection may have left at work under the same nonce.
claim() {
  local owner tick
  for ((tick = 0; ; tick++)); do
    mkdir -- "$staging/claimed" 2>/dev/null && break
    if [[ ! -d $staging ]]; then
      unstage
      return "$NOT_STAGED"
    fi
    owner=
    [[ -f $staging/claimed/by ]] && read -r -d '' -n 64 owner 2>/dev/null <"$staging/claimed/by"
    # It may have been killed, or not have said yet who it is; or there is no room for a claim.
    if [[ -n $owner ]]; then
      kill -0 "$owner" 2>/dev/null || break
    elif ((tick > 50)); then
      break
    fi
    sleep 0.1
  done
  if ! printf '%s\n' "$BASHPID" >"$staging/claimed/by"; then
    unstage
    return "$CANNOT_WRITE"
  fi
}

# locate finds the directory's real path, and a private place on the same file system, since a rename is atomic only there.
locate() {
  local near=$target
  if [[ $target == /workspace ]]; then
    CDPATH='' cd -P -- "$target" || return
    root=$PWD
  else
    [[ -d ${target%/*} ]] || mkdir -p -- "${target%/*}" || return
    CDPATH='' cd -P -- "${target%/*}" || return
    root=${PWD%/}/${target##*/}
    [[ -d $root && ! -L $root ]] && near=$root || near=$PWD
  fi
  private=$staging/tree-$BASHPID
  [[ $(stat -c %d -- "$near") == "$(stat -c %d -- "$staging")" ]] || private=$near/.cloudflaresandbox-$nonce-$BASHPID
  mkdir -m 700 -- "$private"
}

# unpack joins, verifies and extracts what is staged.
unpack() {
  local part files=() sum
  for ((part = 1; part <= parts; part++)); do
    [[ -f $staging/$part ]] || return "$NOT_STAGED"
    files+=("$staging/$part")
  done
  sum=$(cat -- "${files[@]}" | sha256sum) || return "$NOT_STAGED"
  [[ ${sum%% *} == "$sha256" ]] || return "$DIFFERENT"
  # Times are those of the writing, as with every other way to write a file: tools like make rely on it.
  cat -- "${files[@]}" | tar -xzpmf - --no-same-owner -C "$private" || return "$CANNOT_WRITE"
  rm -f -- "${files[@]}"
  mapfile -d '' -t list <"$private/list"
  mapfile -d '' -t sent <"$private/sent"
  mapfile -d '' -t linked <"$private/linked"
  mapfile -d '' -t remove <"$private/remove"
  mapfile -d '' -t modes <"$private/modes"
  CDPATH='' cd -- "$private/tree" || return "$CANNOT_WRITE"
  sum=$(batch sha256sum -bz -- "${sent[@]/#/./}" | sha256sum) && [[ ${sum%% *} == "$contents" ]] || return "$DIFFERENT"
}

# survey finds out what is to be made and what is in the way, and whether that may go. It fills directories (parents
# before what is in them), real (those that are there), missing, obstacles (what is no directory where one is to be) and hollow (directories where
# something else is to be).
survey() {
  local i path up
  declare -Ag declared=() goes=() real=()
  directories=() directory_modes=() missing=() obstacles=() hollow=()
  ((last)) || missing+=("")
  if [[ -d $root && ! -L $root ]]; then
    real[/]=1
    missing=()
    [[ -x $root ]] || enter '' || return "$CANNOT_WRITE"
  elif ((!last)) && [[ -e $root || -L $root ]]; then
    obstacles+=("")
  fi
  for ((i = 0; i < ${#remove[@]}; i += 2)); do
    [[ ${remove[i]} == d ]] || goes["/${remove[i + 1]}"]=1
  done
  for ((i = 0; i < ${#list[@]}; i += 2)); do
    [[ ${list[i]} == "d "* ]] || continue
    path=${list[i + 1]}
    directories+=("$path")
    directory_modes+=("0${list[i]#d }")
    declared["/$path"]=1
    parent "$path"
    if [[ -n ${real["/$up"]-} ]]; then
      if [[ -d $root/$path && ! -L $root/$path ]]; then
        real["/$path"]=1
        # What is in a closed directory would seem to be missing.
        [[ -x $root/$path ]] || enter "$path" || return "$CANNOT_WRITE"
        continue
      fi
      [[ ! -e $root/$path && ! -L $root/$path ]] || obstacles+=("$path")
    fi
    missing+=("$path")
  done
  for path in "${sent[@]}" "${linked[@]}"; do
    parent "$path"
    [[ -n ${real["/$up"]-} && -d $root/$path && ! -L $root/$path ]] || continue
    if ! becomes_empty "$path"; then
      printf '%s' "$path"
      return "$IS_DIRECTORY"
    fi
    hollow+=("$path")
  done
}

# becomes_empty DIRECTORY: whether it holds nothing but what is taken away, and empty directories.
becomes_empty() {
  local entry
  [[ -r $root/$1 && -x $root/$1 ]] || return
  for entry in "$root/$1"/*; do
    if [[ -d $entry && ! -L $entry ]]; then
      becomes_empty "${entry#"$root/"}" || return
    else
      [[ -n ${goes["/${entry#"$root/"}"]-} ]] || return
    fi
  done
}

# take_away removes what is no longer a part of the tree: files and links that still are files or links, and directories
# that were made here and are empty.
take_away() {
  local i path up name files=() folders=() mine=()
  declare -Ag made=()
  [[ ! -f $records/made ]] || mapfile -d '' -t mine <"$records/made"
  for path in "${mine[@]}"; do
    made["$path"]=1
  done
  # From the end, since in the order of their names parents come first.
  for ((i = ${#remove[@]} - 2; i >= 0; i -= 2)); do
    path=${remove[i + 1]}
    parent "$path"
    enter "$up"
    case $? in
      0) ;;
      1) continue ;;
      *) return 1 ;;
    esac
    name=./${path##*/}
    if [[ ${remove[i]} != d ]]; then
      [[ ! -L $name && ! -f $name ]] || files+=("./$path")
    elif [[ -d $name && ! -L $name && -n ${made["/$path"]-} ]]; then
      folders+=("./$path")
    fi
  done
  ((${#files[@]} + ${#folders[@]})) || return 0
  enter '' && batch rm -f -- "${files[@]}" && batch rmdir --ignore-fail-on-non-empty -- "${folders[@]}"
}

# clear_out DIRECTORY: removes a directory that holds nothing but empty directories.
clear_out() {
  local entry up
  for entry in "$root/$1"/*; do
    clear_out "${entry#"$root/"}" || return
  done
  parent "$1"
  enter "$up" && rmdir -- "./${1##*/}"
}

# make_directories clears the places of those that are missing, and makes them where what they will hold is waiting. It
# notes first that they are made here.
make_directories() {
  local path up
  for path in "${hollow[@]}"; do
    [[ ! -d $root/$path ]] || clear_out "$path" || return
  done
  ((${#missing[@]})) || return 0
  # Not where a pipe stands in its place, on which to wait for ever.
  [[ ! -e $records/made || -f $records/made ]] || return
  printf '%s\0' "${missing[@]/#//}" >>"$records/made" || return
  for path in "${obstacles[@]}"; do
    if [[ -z $path ]]; then
      cd / && rm -f -- "$root" || return
      continue
    fi
    parent "$path"
    enter "$up" && rm -f -- "./${path##*/}" || return
  done
  if [[ -z ${missing[0]} ]]; then
    mkdir -- "$root" || return
    real[/]=1
    missing=("${missing[@]:1}")
  fi
  CDPATH='' cd -- "$private/tree" && batch mkdir -p -- "${missing[@]/#/./}"
}

# put renames what was sent into its places, a new directory with all that is in it, and sets what modes are left.
put() {
  local directory entry entries i up name later=()
  for ((i = 0; i < ${#modes[@]}; i += 2)); do
    name=$private/tree/${modes[i + 1]}
    if [[ -f $name && ! -L $name ]]; then
      chmod -- "0${modes[i]}" "$name" || return
    else
      later+=("${modes[i]}" "${modes[i + 1]}")
    fi
  done
  for directory in "" "${directories[@]}"; do
    [[ -n ${real["/$directory"]-} ]] || continue
    entries=()
    for entry in "$private/tree${directory:+/$directory}"/*; do
      [[ -n ${real["/${entry#"$private/tree/"}"]-} ]] || entries+=("$entry")
    done
    ((${#entries[@]})) || continue
    enter "$directory" && batch mv -f -t . -- "${entries[@]}" || return
  done
  for ((i = 0; i < ${#later[@]}; i += 2)); do
    parent "${later[i + 1]}"
    name=./${later[i + 1]##*/}
    enter "$up" && [[ -f $name && ! -L $name ]] && chmod -- "0${later[i]}" "$name" || return
  done
}

# close_directories gives all directories of the tree their modes, what is in a directory before itself, and those that
# were only opened for the work their old ones.
close_directories() {
  local i same=() mode=''
  relock others || return
  enter '' || return
  for ((i = ${#directories[@]} - 1; i >= 0; i--)); do
    if [[ ${directory_modes[i]} != "$mode" ]]; then
      batch chmod "$mode" -- "${same[@]}" || return
      same=() mode=${directory_modes[i]}
    fi
    same+=("./${directories[i]}")
  done
  batch chmod "$mode" -- "${same[@]}" || return
  relock root || return
  unlocked=() unlocked_mode=()
}

# remember keeps the list for look.sh. Where that fails, look.sh is sent it again.
remember() {
  local sum
  if ((last)); then
    rm -rf -- "${records:?}"
    return
  fi
  sum=$(sha256sum <"$private/list")
  sum=${sum%% *}
  [[ $superseded == "$sum" ]] || rm -f -- "$records/$superseded"
  cp -- "$private/list" "$records/new-$BASHPID" && mv -fT -- "$records/new-$BASHPID" "$records/$sum"
}

main() {
  local target=$1 records=$home/trees/$2 superseded=$3 last=$4 sha256=$5 contents=$6 parts=$7
  unlocked=() unlocked_mode=()
  exec 2>&1
  claim || return
  trap finish EXIT
  shopt -s dotglob nullglob
  (umask 077 && mkdir -p -- "$records") || return "$CANNOT_WRITE"
  umask 022
  locate || return "$CANNOT_WRITE"
  unpack && survey || return
  carry_out || return "$INCOMPLETE"
}

carry_out() {
  take_away || return
  ((last)) || make_directories || return
  ((last)) || put || return
  remember >/dev/null 2>&1
  cd / && rm -rf -- "$private" || return
  private=
  if ((!last)); then
    close_directories
  elif [[ -n ${made[/]-} && -d $root && ! -L $root ]]; then
    rmdir --ignore-fail-on-non-empty -- "$root"
  fi
}

beat
answer "$@"
