# shellcheck shell=bash
# A part of scripts that tell what is not there from what cannot be seen.

# hidden PATH: whether a path that is not to be seen may exist all the same, in a directory that cannot be searched.
hidden() {
  local parent=$1
  while [[ $parent == /*/* ]]; do
    parent=${parent%/*}
    [[ -e $parent ]] && break
  done
  [[ -d $parent && ! -x $parent ]]
}
