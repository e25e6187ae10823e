# shellcheck shell=bash
# Says what is mounted at a path, as "mounted" does.
#
# Arguments: PATH

main() {
  mounted "$1"
}

answer "$@"
