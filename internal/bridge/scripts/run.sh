# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of prelude.sh
# Runs a command once, however often it is asked for under the same nonce, and says its result.
#
# Arguments: TIMEOUT LIMIT DIRECTORY STAGED ENVIRONMENT ARGUMENTS SCRIPT STDIN REPLY FIELD...
#   TIMEOUT      seconds after which the command is ended; 0: never
#   LIMIT        bytes of each output stream that may be sent
#   DIRECTORY    where the command starts
#   STAGED       1: the fields are in the staged file, each ended by NUL; 0: they are the remaining arguments
#   ENVIRONMENT, ARGUMENTS, SCRIPT, STDIN   how many fields are NAME=value, argv, script text (0 or 1), input (0 or 1)
#   REPLY        bytes that may be sent of the reply, a file whose path is the command's last argument; 0: it has none
#
# The first request makes the directory $runs/NONCE, and with it the right to start the command. It and every later
# one follow the command to its end: an empty line every 10 seconds, then a line of base64 for standard output, one
# for standard error, each if there is any, and
#   NONCE end 0 EXIT TIMED_OUT STDOUT_SIZE STDERR_SIZE STDOUT_SENT STDERR_SENT
# where EXIT is the command's exit status as bash tells it (128+N after signal N), TIMED_OUT is 1 after TIMEOUT, SIZE
# are the bytes it wrote and SENT the bytes above; the end of a stream is sent where it is larger than LIMIT. If the
# command has written a reply, a third line of base64 follows the other two, and REPLY_SIZE REPLY_SENT end the last line.

# The command can find $run, and put there what it likes. It can so spoil its own result, and nothing else: what is read
# are plain files, never a pipe on which to wait for ever; what is written is opened for reading as well (1<>), which
# waits for nobody; and of the mark of the timeout only counts that something is there.

timeout=$1 limit=$2 directory=$3 staged=$4 environment_count=$5 argument_count=$6 has_script=$7 has_stdin=$8 reply_limit=$9
shift 9
run=$runs/$nonce
# Of each stream this much is kept, so that its end can be shown where it is larger than LIMIT.
kept=$((64 << 20))

end() {
  cleared
  printf '%s end %s\n' "$nonce" "$*"
  exit
}

# refuse ends before anything has been started and gives the right to start back.
refuse() {
  rm -rf -- "${run:?}"
  ((staged)) && unstage
  end "$1"
}

# sweep removes results that nobody has fetched for an hour; their provider is gone. One look tells that a result is there
# and how old it is: with two, one that comes in between would pass for an old one.
sweep() {
  local others=("$runs"/*) other
  ((${#others[@]} > 1)) || return
  while read -r -d '' other; do
    rm -rf -- "${other:?}"
  done < <(find "$runs" -mindepth 2 -maxdepth 2 -name status -mmin +60 -printf '%h\0' 2>/dev/null)
}

# inherit fills environment with what the container gives to a process. Our own variables may have taken a name of it.
inherit() {
  local variable
  environment=()
  while IFS= read -r -d '' variable; do
    case $variable in
      PWD=* | OLDPWD=* | SHLVL=* | _=*) ;;
      [A-Za-z_]*=*) environment+=("$variable") ;;
    esac
  done </proc/$$/environ
}

# launch NAME=value... "" ARGUMENT...: becomes the command, in the environment that the container gives and these
# variables. It keeps everything in positional parameters, which no variable of the user's can overwrite.
launch() {
  exec {bell}>&-
  [[ -z $silence ]] || exec {silence}>&-
  {
    unset LC_ALL OLDPWD
    while [[ -n $1 ]]; do
      # Unset first: a few of bash's own variables, like RANDOM, would not keep a value otherwise.
      unset -v "${1%%=*}"
      # shellcheck disable=SC2163 # NAME=value, whose NAME is exported
      export "$1"
      shift
    done
    shift
  } 2>/dev/null
  if [[ $1 != */* ]] && ! type -P -- "$1" >/dev/null; then
    printf '%s: command not found\n' "$1" >&2
    exit 127
  fi
  # exec, so that the first word is always a program, never one of bash's own words.
  exec -- "$@"
}

# keep FILE: reads an output stream to its end and keeps the first $kept bytes of it. A command that floods its output
# does not fill the disk, and is not ended for it. dd writes at once what it reads; head would hold it back. What cannot
# be kept whole, since the disk is full, is not kept at all: a part of it must not pass for the whole.
keep() {
  dd bs=64K iflag=count_bytes count="$kept" of="$1" status=none || rm -f -- "$1"
  # Usually that was all of it.
  read -r -n 1 && exec cat >/dev/null
}

# asleep READER FILE: whether the process that reads for it waits for more: dd, once it has opened the file, or later cat.
# Any other may be on its way to become one of the two, and has read nothing yet.
asleep() {
  local file line parent
  [[ -e $2 ]] || return
  for file in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$file" || continue
    read -r _ parent _ <<<"${line##*) }"
    [[ $parent != "$1" ]] || { [[ $line == *' (dd) S '* ]]; return; }
  done
  read -r line 2>/dev/null <"/proc/$1/stat" && [[ $line == *' (cat) S '* ]]
}

# drained READER FILE: returns when the reader of an output stream has taken all that the command has written. It ends when
# nobody holds the stream any more. Where a background process of the command does, it sleeps once the stream is empty; a
# process that writes on and on keeps it busy, but not with what was written 2 seconds ago.
drained() {
  local tick line
  for ((tick = 0; tick < 2000; tick++)); do
    read -r line 2>/dev/null <"/proc/$1/stat" || return
    [[ ${line##*) } != [ZX]* ]] || return
    # Usually it ends at once; looking for who reads is for those that do not.
    ((tick < 3)) || ! asleep "$1" "$2" || return
    # Nobody rings yet: a pause that takes no process.
    read -r -t 0.001 -u "$bell"
  done
}

# supervise runs the command in a process group of its own, ends it after the timeout, and records how it ended.
#
# The command writes into pipes, as it would under docker run, and not into the files themselves: a program that opens
# /dev/stderr would empty a file.
supervise() {
  printf '%s\n' "$BASHPID" 1<>"$run/supervisor"
  local child timer code timed_out=0 input=/dev/null out err out_reader err_reader
  ((has_stdin)) && input=$run/stdin
  exec {out}> >(keep "$run/out")
  out_reader=$!
  exec {err}> >(keep "$run/err")
  err_reader=$!
  set -m
  if [[ $timeout != 0 ]]; then
    # It starts before the command, which may leave no room for another process, and takes none from then on.
    exec {silence}<> <(:)
    (
      read -r -u "$silence" child
      pause "$timeout"
      (($? > 128)) || exit
      : 1<>"$run/timed_out"
      stop_group "$child"
    ) {out}>&- {err}>&- &
    timer=$!
  fi
  (launch "${environment[@]}" "" "${arguments[@]}") <"$input" >&"$out" 2>&"$err" {out}>&- {err}>&- &
  child=$!
  exec {out}>&- {err}>&-
  [[ $timeout == 0 ]] || printf '%s\n' "$child" >&"$silence"
  printf '%s\n' "$child" 1<>"$run/group"
  # Whoever cancelled it before there was a group to be seen relies on this (cancel.sh).
  [[ ! -d $run/cancelled ]] || stop_group "$child"
  wait "$child"
  code=$?
  if [[ $timeout != 0 ]]; then
    if [[ -e $run/timed_out ]]; then
      timed_out=1
      wait "$timer"
    else
      kill -KILL -- "-$timer"
    fi
  fi
  drained "$out_reader" "$run/out"
  drained "$err_reader" "$run/err"
  ((has_stdin || has_script)) && rm -f "$run/stdin" "$run/script"
  printf '%s %s\n' "$code" "$timed_out" 1<>"$run/status" || {
    printf '%s %s\n' "$code" "$timed_out" 1<>"$run/room"
    mv -fT -- "$run/room" "$run/status"
  }
  printf '\n' >&"$bell"
}

# start loads what was asked for and hands it to the supervisor, which does not depend on this process.
start() {
  local fields
  if ((staged)); then
    [[ -f $staging/1 ]] || refuse "$NOT_STAGED"
    mapfile -d '' -t -n "$((environment_count + argument_count + has_script + has_stdin + 1))" fields 2>/dev/null <"$staging/1" || refuse "$NOT_STAGED"
    unstage
    staged=0
    ((${#fields[@]} == environment_count + argument_count + has_script + has_stdin)) || refuse "$NOT_STAGED"
  else
    fields=("$@")
  fi
  inherit
  environment+=("${fields[@]:0:environment_count}")
  arguments=("${fields[@]:environment_count:argument_count}")
  fields=("${fields[@]:environment_count+argument_count}")
  CDPATH='' cd -- "$directory" 2>/dev/null || refuse "$NO_DIRECTORY"
  if ((has_script)); then
    printf '%s' "${fields[0]}" >"$run/script" || refuse "$NO_RUN_DIRECTORY"
    arguments+=("$run/script")
    fields=("${fields[@]:1}")
  fi
  ((reply_limit)) && arguments+=("$run/reply")
  if ((has_stdin)); then
    printf '%s' "${fields[0]}" >"$run/stdin" || refuse "$NO_RUN_DIRECTORY"
  fi
  # Room for the status, in case that the command fills the disk. Where it is full already, the command may make some.
  printf '%64s\n' '' >"$run/room"
  sweep
  # A pipe that the supervisor rings when it is done.
  exec {bell}<> <(:)
  set -m
  supervise </dev/null >/dev/null 2>&1 &
  supervisor=$!
  set +m
}

# supervisor_alive tells a supervisor that is at work from one that was killed, which would never say an end.
supervisor_alive() {
  local line
  read -r line 2>/dev/null <"/proc/$supervisor/stat" && [[ ${line##*) } != [ZX]* ]]
}

# told FILE NAME...: reads words that stand in a file of $run. -d, since bash would pass over any number of NULs.
told() {
  [[ -f $run/$1 ]] || return
  read -r -d '' -n 64 "${@:2}" 2>/dev/null <"$run/$1"
  [[ -n ${!#} ]]
}

# await returns when the command's end is recorded.
await() {
  local tick=0 quiet patience=10
  until told status code timed_out; do
    [[ -d $run ]] || end "$CANCELLED"
    if [[ -n ${bell-} ]]; then
      # Who rings and has found no room for the status ends all the same.
      read -r -t "$patience" -u "$bell" && patience=0.1 && continue
      quiet=1
    else
      sleep 0.1
      quiet=$((++tick % 100 == 0))
      # Until there is one, whoever made the directory is about to start it.
      told supervisor supervisor || told maker supervisor || ((tick < 100)) || end "$SUPERVISOR_GONE"
    fi
    ((quiet)) && printf '\n'
    if [[ -n ${supervisor-} ]] && ! supervisor_alive; then
      told status code timed_out && return
      end "$SUPERVISOR_GONE"
    fi
  done
}

# send STREAM SIZE LIMIT: the stream as one line of base64, and in sent how many bytes of it that are. Of a stream over
# the limit only the end, which helps to see what happened. Of an empty one nothing, since an empty line is a sign of life.
send() {
  sent=$2
  ((sent)) || return
  if (($2 > $3)); then
    sent=$(($3 < 4096 ? $3 : 4096))
    tail -c +"$(($2 - sent + 1))" -- "$run/$1" | head -c "$sent" | base64 -w 0
  else
    head -c "$2" -- "$run/$1" | base64 -w 0
  fi
  printf '\n'
}

if mkdir -m 700 -- "$run" 2>/dev/null; then
  printf '%s\n' "$$" 1<>"$run/maker"
  start "$@"
elif [[ ! -d $run ]]; then
  ((staged)) && unstage
  end "$NO_RUN_DIRECTORY"
fi
await
[[ $code == cancelled ]] && end "$CANCELLED"
[[ -f $run/out && -f $run/err ]] || end "$RESULT_GONE" "$code"
{ read -r out_size && read -r err_size; } < <(stat -L -c %s -- "$run/out" "$run/err")
send out "$out_size" "$limit"
numbers=("$code" "$timed_out" "$out_size" "$err_size" "$sent")
send err "$err_size" "$limit"
numbers+=("$sent")
# The command may have done anything to a file whose path it knows.
if ((reply_limit)) && [[ -f $run/reply && -r $run/reply ]]; then
  reply_size=$(stat -L -c %s -- "$run/reply")
  send reply "$reply_size" "$reply_limit"
  numbers+=("$reply_size" "$sent")
fi
end 0 "${numbers[@]}"
