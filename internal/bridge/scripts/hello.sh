# shellcheck shell=bash
# Says which container answers, and nothing else. It starts the container when there is none.

main() {
  :
}

answer
