#!/usr/bin/env bash
# Shows the provider at work, on this machine alone: builds it, starts the local
# bridge, takes examples/quickstart from plan to destroy, and then goes on a tour
# of what else there is: a build with its artifact, and a preview URL.
#
# Everything lives in one temporary directory; your Terraform settings, plugins
# and credentials are neither read nor changed.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

command -v curl >/dev/null || die 'curl is missing'

work=$(mktemp -d "${TMPDIR:-/tmp}/cloudflaresandbox-demo.XXXXXX")
bridge_pid='' finished=''

cleanup() {
  local status=$?
  trap - EXIT
  if [[ $bridge_pid ]]; then
    kill "$bridge_pid" 2>/dev/null || true
    wait "$bridge_pid" 2>/dev/null || true
  fi
  if ((status == 130 || status == 143)); then
    printf '\nStopped. Nothing is left on this machine.\n' >&2
  elif [[ ! $finished ]]; then
    printf '\nThe demo stopped early (status %s).\n' "$status" >&2
    for log in "$work"/bridge.log "$work"/terraform.log; do
      [[ ! -s $log ]] || { printf -- '--- the end of %s:\n' "${log##*/}" && tail -n 30 "$log"; } >&2
    done
  fi
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ -t 1 ]]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
number=0

# headline TEXT WHY
headline() {
  number=$((number + 1))
  printf '\n%s%d. %s%s\n%s   %s%s\n\n' "$bold" "$number" "$1" "$plain" "$dim" "$2" "$plain"
}

indent() { sed 's/^/   | /'; }

# show EXAMPLE makes it the one that the commands below work on.
show() {
  example=$work/${1##*/}
  cp -R "$1" "$example"
  export TF_DATA_DIR=$example.data
  tf init -input=false || die 'init failed'
}

# tf runs Terraform or OpenTofu on the example, with its output kept in a log.
tf() {
  (cd "$example" && "$cli" "$@" -no-color) </dev/null >"$work/terraform.log" 2>&1
}

# told shows the lines of the last run that matter to a reader.
told() { grep -E "$1" "$work/terraform.log" | indent; }

# api METHOD PATH [BODY] speaks to the bridge directly, without the provider.
# The key travels in a file, so that it is in no process list.
api() {
  curl --silent --show-error --fail-with-body --noproxy '*' --config "$work/curl.conf" \
    --request "$1" "$CLOUDFLARE_SANDBOX_API_URL$2" \
    ${3:+--header 'Content-Type: application/json' --data-binary "$3"}
}

# inside COMMAND runs one in the sandbox, past the provider, and prints what it
# printed. The bridge answers with events whose data is base64.
inside() {
  local event='' line command=${1//\\/\\\\}
  command=${command//\"/\\\"}
  while IFS= read -r line; do
    case $line in
      'event: '*) event=${line#event: } ;;
      'data: '*)
        case $event in
          stdout | stderr) base64 --decode <<<"${line#data: }" ;;
          error) die "the sandbox could not run $1: ${line#data: }" ;;
        esac
        ;;
    esac
  done < <(api POST "/v1/sandbox/$sandbox/exec" "{\"argv\":[\"bash\",\"-c\",\"$command\"]}")
}

# from_json NAME prints a string or number of a flat JSON object on stdin.
from_json() { sed -nE "s/.*\"$1\": ?\"?([^\",}]*)\"?.*/\\1/p"; }

output() { (cd "$example" && "$cli" output -no-color -raw "$1"); }

# assigned is how many containers the bridge has given to sandboxes.
assigned() { api GET /v1/pool/stats | from_json assigned; }

headline 'Build the provider and the local bridge' \
  'The bridge is what stands between Terraform and Cloudflare. The local one runs sandboxes on this machine.'
version=0.1.0
mirror=$work/plugins/terraform.local/local/cloudflaresandbox/$version/$(go env GOOS)_$(go env GOARCH)
mkdir -p "$mirror"
go build -ldflags "-X main.version=$version" -o "$mirror/terraform-provider-cloudflaresandbox_v$version" .
go build -o "$work/localbridge" ./cmd/localbridge
cli=$(cli auto)
"$cli" version | sed -n 1p | indent

cat >"$work/cli.tfrc" <<TFRC
provider_installation {
  filesystem_mirror {
    path = "$work/plugins"
  }
}
TFRC
export TF_CLI_CONFIG_FILE=$work/cli.tfrc TF_IN_AUTOMATION=1
unset TF_LOG TF_WORKSPACE TF_CLI_ARGS TF_REATTACH_PROVIDERS "${!TF_CLI_ARGS_@}" "${!TF_VAR_@}"

headline 'Start the local bridge' \
  'On a free port of the loopback interface, with a key made for this run.'
# A process group of its own, so that Ctrl-C reaches Terraform first and the
# bridge only when this script ends it.
set -m
"$work/localbridge" -addr 127.0.0.1:0 -ready-file "$work/ready.json" </dev/null >"$work/bridge.log" 2>&1 &
bridge_pid=$!
set +m
for ((i = 0; i < 200; i++)); do
  [[ ! -s $work/ready.json ]] || break
  kill -0 "$bridge_pid" 2>/dev/null || die 'the local bridge did not start'
  sleep 0.05
done
[[ -s $work/ready.json ]] || die 'the local bridge is not ready after 10 seconds'
CLOUDFLARE_SANDBOX_API_URL=$(from_json url <"$work/ready.json")
CLOUDFLARE_SANDBOX_API_KEY=$(from_json key <"$work/ready.json")
export CLOUDFLARE_SANDBOX_API_URL CLOUDFLARE_SANDBOX_API_KEY
(umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$CLOUDFLARE_SANDBOX_API_KEY" >"$work/curl.conf")
printf '%s answers: %s\n' "$CLOUDFLARE_SANDBOX_API_URL" "$(api GET /health)" | indent

headline 'Apply examples/quickstart' \
  'One sandbox, three files in it, and a command that runs there once they are written.'
show examples/quickstart
tf apply -input=false -auto-approve || die 'apply failed'
told '^Plan:|: Creation complete|: Read complete|^Apply complete'
sandbox=$(output sandbox_id)

headline 'The outputs' \
  'The report is what the program printed in the sandbox.'
(cd "$example" && "$cli" output -no-color) | indent
[[ $(output report) == '3 orders, 42 EUR' ]] || die 'the report is not the one expected'

headline 'Look into the sandbox, past the provider' \
  'The bridge itself is asked, so this is what really lies there: paths, modes and bytes.'
inside 'cd /workspace && find . -type f -printf "%M %6s  %P\n" | sort -k 3 && sha256sum data/orders.csv' | indent

headline 'Plan again' \
  'What Terraform says is what is there: nothing to do.'
tf plan -input=false -detailed-exitcode || die 'the second plan is not empty'
told '^No changes'

headline 'Change a file behind its back, and plan' \
  'The bridge tells nobody. The provider compares the bytes themselves, so it notices.'
inside 'echo 9999,1000000 >> /workspace/data/orders.csv'
status=0
tf plan -input=false -detailed-exitcode || status=$?
((status == 2)) || die 'the plan did not notice'
told '^  # cloudflaresandbox|will be read|^Plan:'

headline 'Apply once more' \
  'The file is put right in place, and the command runs again afterwards.'
tf apply -input=false -auto-approve || die 'the second apply failed'
told ': Modifications complete|: Read complete|^Apply complete|^report'

headline 'Destroy' \
  'The container goes, not only its record in the state.'
tf destroy -input=false -auto-approve || die 'destroy failed'
told ': Destruction complete|^Destroy complete'
stats=$(api GET /v1/pool/stats)
printf 'pool: %s\n' "$stats" | indent
[[ $(from_json assigned <<<"$stats") == 0 ]] || die 'a container is still there'

headline 'Build something, and fetch the artifact' \
  'A source tree in one upload, a build that runs once, and its output as a verified archive on this disk.'
show examples/guides/ci-build
tf apply -input=false -auto-approve || die 'the build failed'
told ': Creation complete|: Read complete|^Apply complete'
tar -tvzf "$example/artifact.tar.gz" | indent
printf '%s  artifact.tar.gz\n' "$(output artifact_sha256)" | (cd "$example" && sha256sum -c -) | indent
tf destroy -input=false -auto-approve || die 'destroy failed'

headline 'Serve a page from a sandbox' \
  'A server in the background, and a tunnel to it. On Cloudflare the URL is public; here it is on this machine.'
show examples/guides/preview-url
tf apply -input=false -auto-approve || die 'the preview failed'
told ': Creation complete|^Apply complete'
url=$(output url)
printf '$ curl %s\n' "$url" | indent
curl --silent --show-error --fail --noproxy '*' "$url" | indent

headline 'Refuse what cannot be honoured' \
  'The bridge has no network policy. To believe that a sandbox is cut off while it is not is the failure that matters.'
sed -i 's/^resource "cloudflaresandbox_sandbox" "preview" {}/resource "cloudflaresandbox_sandbox" "preview" {\n  network_policy = "none"\n}/' "$example/main.tf"
! tf plan -input=false || die 'the plan was not refused'
sed -n '/^Error: /,/^$/p' "$work/terraform.log" | indent
cp examples/guides/preview-url/main.tf "$example/main.tf"
tf destroy -input=false -auto-approve || die 'destroy failed'
[[ $(assigned) == 0 ]] || die 'a container is still there'

finished=1
printf '\n%sDone.%s Nothing is left on this machine. The same configuration works with your own bridge:\nset CLOUDFLARE_SANDBOX_API_URL and CLOUDFLARE_SANDBOX_API_KEY, and see README.md.\n' "$bold" "$plain"
