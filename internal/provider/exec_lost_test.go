package provider_test

import (
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// When the container dies in the middle of an apply, what waits for files that
// went with it must not run in the empty one, although another object has met
// the loss already.
func TestCommandsDoNotRunInAContainerThatLostWhatTheyWaitFor(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	// The other sandbox tells when those that wait may begin.
	c := b.cli(oneFile(`path = "file"`, set("content", "x")) +
		runBlock(command("sleep", "305"), "depends_on = ["+file+"]") + `
resource "cloudflaresandbox_sandbox" "gate" {}

resource "cloudflaresandbox_exec" "gate" {
  sandbox_id = cloudflaresandbox_sandbox.gate.id
  script     = "until [ -e /tmp/go ]; do sleep 0.0305; done"
}

resource "cloudflaresandbox_exec" "late" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  command    = ["touch", "/tmp/ran"]
  depends_on = [` + file + `, cloudflaresandbox_exec.gate]
}

data "cloudflaresandbox_exec" "late" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  command    = ["touch", "/tmp/ran"]
  depends_on = [` + file + `, cloudflaresandbox_exec.gate]
}

data "cloudflaresandbox_python" "late" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  code       = "open('/tmp/ran', 'w')"
  depends_on = [` + file + `, cloudflaresandbox_exec.gate]
}
`)

	apply, output := c.command("apply", "-auto-approve")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	await.That(b.t, "both commands run", func() bool { return b.runs("sleep 305") && b.runs("sleep 0.0305") })
	var lost, gate string
	for _, id := range b.local.Running() {
		processes, err := b.local.Processes(id)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(processes, "\n"), "sleep 305") {
			lost = id
		} else {
			gate = id
		}
	}
	started := b.local.ContainersStarted()
	b.local.Kill(lost)
	await.That(b.t, "the loss is met", func() bool { return b.local.ContainersStarted() > started })
	b.inside(gate, "touch /tmp/go")

	err := apply.Wait()
	// One for what was at work, and one for each that came late.
	if err == nil || strings.Count(output.String(), "Container was replaced meanwhile") != 4 {
		t.Errorf("apply: %v\n%s", err, output)
	}
	if found := b.inside(lost, "ls /tmp"); found != "" {
		t.Errorf("something ran: %s", found)
	}
}
