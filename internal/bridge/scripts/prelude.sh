# shellcheck shell=bash
# The head of every script that the provider runs in a sandbox. The script that follows it defines main.
#
# Arguments: NONCE EXPECTED ACKNOWLEDGED ARGUMENT...
#   NONCE         32 hex digits that no other request has; marks what this script says
#   EXPECTED      the instance this must run in, or "" for any
#   ACKNOWLEDGED  nonces of finished runs whose results have arrived and can go
#
# It says, on standard output:
#   NONCE begin INSTANCE
#   ... what the script has to say ...
#   NONCE end STATUS ...
# Everything is ASCII, since the bridge decodes output as UTF-8, and the last line proves that the script ended.
# scripts.go leaves out lines that are only a comment, and sets the statuses, which statuses.go explains, as variables.

nonce=$1 expected=$2 acknowledged=$3
shift 3

# What we call must be the system's own, whatever the sandbox has put on PATH.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export LC_ALL=C

home=/tmp/.cloudflaresandbox
runs=$home/runs
# The bridge can write files only below /workspace, so what is on its way into the sandbox waits there.
staging_root=/workspace/.cloudflaresandbox
staging=$staging_root/$nonce

# recall reads that token. Only from a plain file: a pipe in its place would hold up every script, and a device has no end.
# And only up to a NUL, since bash passes over those without counting, and a planted file may have any number of them.
recall() {
  [[ -f $home/instance ]] || return
  read -r -d '' -n 64 instance 2>/dev/null <"$home/instance"
  [[ -n $instance ]]
}

# A token kept outside /workspace tells this container from the next one under the same id. "ln" never overwrites,
# so that of several scripts that find none, one makes it and all read the same.
if ! recall; then
  (umask 077 && mkdir -p "$runs")
  printf '%s\n' "$nonce" >"$home/instance.$nonce"
  # -T, since a directory may stand there.
  ln -T "$home/instance.$nonce" "$home/instance" 2>/dev/null
  rm -f "$home/instance.$nonce"
  if ! recall; then
    printf '%s end %s\n' "$nonce" "$NO_HOME"
    exit
  fi
fi
printf '%s begin %s\n' "$nonce" "$instance"

if [[ -n $expected && $expected != "$instance" ]]; then
  printf '%s end %s\n' "$nonce" "$OTHER_INSTANCE"
  exit
fi

# What a link in the place of staged content leads to was not staged, and is not to be cleared away.
[[ ! -L $staging ]] || rm -f -- "$staging"

# Clearing away goes on beside the script, and is over when the script says its end.
if [[ -n $acknowledged ]]; then
  # shellcheck disable=SC2086 # several nonces
  (cd "$runs" && rm -rf -- $acknowledged) >/dev/null 2>&1 &
  clearing=$!
fi

# So do leftovers of an hour ago on their way into the sandbox: whoever sent them lost the bridge, and is gone.
for left in "$staging_root"/*; do
  if [[ -e $left && $left != "$staging" ]]; then
    (
      find "$staging_root" -mindepth 1 -maxdepth 1 -mmin +60 -exec rm -rf -- {} +
      rmdir -- "$staging_root"
    ) >/dev/null 2>&1 &
    sweeping=$!
    break
  fi
done
cleared() {
  local job
  for job in ${clearing-} ${sweeping-}; do
    wait "$job"
  done
}

# beat says an empty line every 10 seconds from here to the end of main. Scripts call it whose work grows with what is in
# the sandbox: a connection without a sign of life counts as lost (SilenceLimit in client.go).
beat() {
  local bell
  # A pipe on which nobody rings, so that waiting takes no process that would outlive this one.
  exec {bell}<> <(:)
  (
    until read -r -t 10 -u "$bell"; do
      # Time ran out, and the script is still there.
      (($? > 128)) && kill -0 "$$" 2>/dev/null && printf '\n' || exit
    done
  ) &
  beating=$!
  exec {bell}>&-
}

# still ends what beat has started.
still() {
  [[ -z ${beating-} ]] || { kill "$beating" && wait "$beating"; } 2>/dev/null
}

# answer runs main with the arguments and says what it printed as one line of base64, with its exit status and the
# line's length.
answer() {
  local payload status
  payload=$(
    main "$@" | base64 -w 0
    exit "${PIPESTATUS[0]}"
  )
  status=$?
  still
  cleared
  printf '%s\n%s end %s %s\n' "$payload" "$nonce" "$status" "${#payload}"
}

# unstage removes what was staged for this request, and the common parent if nothing else is on its way.
unstage() {
  rm -rf -- "${staging:?}"
  rmdir -- "$staging_root" 2>/dev/null
}
