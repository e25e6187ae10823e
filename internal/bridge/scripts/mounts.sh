# shellcheck shell=bash
# What scripts need that have to do with mounts.

# canonical PATH: the path as the kernel's table has it, without symbolic links. What is mounted there may hang, so the
# last name is looked at only where it is a link itself.
canonical() {
  local parent
  if [[ -L $1 ]]; then
    realpath -m -- "$1"
    return
  fi
  parent=$(realpath -m -- "${1%/*}/")
  printf '%s\n' "${parent%/}/${1##*/}"
}

# mounted PATH: says what is mounted at the path, the topmost if there are several; nothing where nothing is:
#   TYPE ro|rw alive|dead SOURCE
# A file system is dead when the process behind it is gone.
mounted() {
  local path fields point separator type='' source access life=alive
  path=$(canonical "$1")
  while read -r -a fields; do
    # Spaces and the like stand there in octal.
    printf -v point '%b' "${fields[4]}"
    [[ $point == "$path" ]] || continue
    for ((separator = 6; separator < ${#fields[@]}; separator++)); do
      [[ ${fields[separator]} == - ]] && break
    done
    type=${fields[separator + 1]} source=${fields[separator + 2]} access=rw
    [[ ,${fields[5]},${fields[separator + 3]}, == *,ro,* ]] && access=ro
  done </proc/self/mountinfo
  [[ -n $type ]] || return 0
  # What is asked here s3fs knows itself, without a request to the bucket.
  [[ $(timeout 10 stat -f -- "$path" 2>&1 >/dev/null) == *'not connected'* ]] && life=dead
  printf '%s %s %s %s\n' "$type" "$access" "$life" "$source"
}
