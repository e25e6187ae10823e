# shellcheck shell=bash
# Process groups: shared by the scripts that end a command.

# group_alive GROUP: whether a process of the group is still running. Zombies do not count: the container's first
# process does not collect orphans, so they stay for good and "kill -0" would find them.
group_alive() {
  local file line state group
  for file in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$file" || continue
    # The name in parentheses may itself hold spaces and parentheses; what follows the last one is safe to split.
    read -r state _ group _ <<<"${line##*) }"
    [[ $group == "$1" && $state != [ZX] ]] && return 0
  done
  return 1
}

# A pipe on which nobody rings, where a script has made one.
silence=

# pause SECONDS: on that pipe if there is one. It takes no process, and in a sandbox that has no room for another one bash
# tries for half a minute to start one.
pause() {
  if [[ -n $silence ]]; then
    read -r -t "$1" -u "$silence"
  else
    sleep "$1"
  fi
}

# stop_group GROUP: ends every process of the group, in good order first and by force after 5 seconds.
stop_group() {
  local tick
  kill -TERM -- "-$1" 2>/dev/null
  for ((tick = 0; tick < 100; tick++)); do
    group_alive "$1" || return 0
    pause 0.05
  done
  kill -KILL -- "-$1" 2>/dev/null
}
