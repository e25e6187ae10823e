# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Ends the command of a run, and sees to it that it is not started later if it has not been yet.
#
# Arguments: RUN (the nonce of the run)

main() {
  local run=$runs/$1 group tick
  rm -rf -- "${staging_root:?}/$1"
  rmdir -- "$staging_root" 2>/dev/null
  if mkdir -m 700 -- "$run" 2>/dev/null; then
    # Whoever comes late finds the right to start taken, and this word.
    printf 'cancelled 0\n' >"$run/status"
    return
  fi
  # What starts the command looks for this once it has told the group. So however slow it is, one of the two sees the
  # other.
  mkdir -- "$run/cancelled" 2>/dev/null
  for ((tick = 0; tick < 100; tick++)); do
    [[ -e $run/status ]] && break
    # The command may have put anything there.
    [[ -f $run/group ]] && read -r -d '' -n 64 group 2>/dev/null <"$run/group"
    [[ -z ${group-} ]] || break
    sleep 0.02
  done
  if [[ ${group-} =~ ^[0-9]+$ && $group -gt 1 ]]; then
    stop_group "$group"
    for ((tick = 0; tick < 100; tick++)); do
      [[ -e $run/status ]] && break
      sleep 0.02
    done
  elif [[ ! -e $run/status ]]; then
    # It has not started yet, and must find the mark when it does.
    return
  fi
  rm -rf -- "${run:?}"
}

answer "$@"
