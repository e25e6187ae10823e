# shellcheck shell=bash
# Shared by the scripts that work on any number of paths.

# batch COMMAND... -- ARGUMENT...: the command on the arguments, as many at a time as a command line takes. It fails as
# soon as one of them does.
batch() {
  local command=() arguments i
  while [[ $1 != -- ]]; do
    command+=("$1")
    shift
  done
  shift
  arguments=("$@")
  for ((i = 0; i < ${#arguments[@]}; i += 250)); do
    "${command[@]}" -- "${arguments[@]:i:250}" || return
  done
}
