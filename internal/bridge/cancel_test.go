package bridge_test

import (
	"context"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// haltStart stops the next run between its claim of the right to start and the start, until /workspace/go is there. So
// that there is time for that, it leaves much to clear away, which is what a run does last before it starts.
const haltStart = `
cd /tmp/.cloudflaresandbox/runs
for ((i = 0; i < 400; i++)); do printf -v old[i] %032d "$i"; done
mkdir "${old[@]}"
touch -d '2 hours ago' "${old[@]/%//status}"
own=(*/room)
mkdir /workspace/ready
until [[ -n ${found-} ]]; do
  for run in */room; do
    [[ $run == "${own[0]}" ]] || found=${run%/*}
  done
done
for process in /proc/[0-9]*; do
  if [[ $(tr '\0' ' ' 2>/dev/null <"$process/cmdline") == *"cloudflaresandbox $found "* ]]; then
    kill -STOP "${process#/proc/}"
    stopped+=("${process#/proc/}")
  fi
done
[[ ! -e $found/group ]] || mkdir /workspace/late
mkdir /workspace/halted
until [[ -d /workspace/go ]]; do sleep 0.02; done
kill -CONT "${stopped[@]}"`

// A machine so busy that a command starts seconds after it was cancelled must not run it for good.
func TestRunCancelledBeforeItHasStartedEndsTheCommand(t *testing.T) {
	t.Parallel()
	b := startLocalBridge(t)
	client := b.client(t)
	s := newSandbox(t, client)
	inside(t, s, "true")

	halting := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash", "-c", haltStart}, Timeout: patience})
		halting <- err
	}()
	awaitInside(t, s, "/workspace/ready")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, bridge.Command{Argv: []string{"sleep", "300.25"}, Timeout: 5 * time.Minute})
		ended <- err
	}()
	awaitInside(t, s, "/workspace/halted")
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled command succeeded")
	}
	if inside(t, s, "[[ ! -d /workspace/late ]] || echo late") != "" {
		t.Skip("this machine was too fast to halt the start")
	}

	inside(t, s, "mkdir /workspace/go")
	if err := <-halting; err != nil {
		t.Fatal(err)
	}
	await.That(t, "the command ends", func() bool {
		processes, err := b.local.Processes(s.ID())
		return err == nil && len(processes) == 0
	})
}

// awaitInside waits for a directory, and starts no command for it.
func awaitInside(t *testing.T, s *bridge.Sandbox, path string) {
	t.Helper()
	await.That(t, path+" is there", func() bool {
		infos, err := s.Inspect(t.Context(), path)
		return err == nil && len(infos) == 1 && infos[0].Kind == bridge.KindDirectory
	})
}
