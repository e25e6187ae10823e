package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/clitest"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(crashVariable); where != "" {
		os.Exit(serveCrashing(where))
	}
	os.Exit(clitest.Main(m))
}

// cli runs Terraform or OpenTofu with the provider as a program of its own, for
// what cannot be seen when both live in the process of the test.
type cli struct {
	t   *testing.T
	run *clitest.CLI
	dir string
	env []string
}

func (b *testBridge) cli(config string) *cli {
	b.t.Helper()

	c := b.emptyCLI()
	c.run.Require(b.t)
	c.write("main.tf", config)

	return c
}

// emptyCLI is one without a configuration yet.
func (b *testBridge) emptyCLI() *cli {
	b.t.Helper()

	run := clitest.New(b.t)
	c := &cli{t: b.t, run: run, dir: run.Dir, env: []string{apiURLVariable + "=" + b.url, apiKeyVariable + "=" + b.key}}
	// What is left of it on the bridge is destroyed, whatever became of the test.
	b.t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(c.dir, "terraform.tfstate")); err == nil {
			c.must("destroy", "-auto-approve")
		}
		b.expectNothingLeft()
	})

	return c
}

func (c *cli) write(name, content string) {
	c.t.Helper()

	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// command is a run that has not been started yet, and what it will have printed.
func (c *cli) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	c.t.Helper()

	run := *c.run
	run.Env = c.env
	var output bytes.Buffer
	cmd := run.Command(c.t, append(args, "-no-color")...)
	cmd.Stdout, cmd.Stderr = &output, &output

	return cmd, &output
}

func (c *cli) try(args ...string) (string, error) {
	cmd, output := c.command(args...)
	err := cmd.Run()

	return output.String(), err
}

func (c *cli) must(args ...string) string {
	c.t.Helper()

	output, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", args[0], err, output)
	}

	return output
}

// plan makes and saves a plan, and counts its actions on resources by name.
func (c *cli) plan() map[string]int {
	c.t.Helper()
	c.must("plan", "-out=plan")

	cmd, output := c.command("show", "-json", "plan")
	cmd.Stderr = nil
	if err := cmd.Run(); err != nil {
		c.t.Fatal(err)
	}
	var plan tfjson.Plan
	if err := json.Unmarshal(output.Bytes(), &plan); err != nil {
		c.t.Fatal(err)
	}

	actions := map[string]int{}
	for _, change := range plan.ResourceChanges {
		if change.Mode == tfjson.ManagedResourceMode {
			actions[fmt.Sprint(change.Change.Actions, " ", change.Type)]++
		}
	}

	return actions
}

// The plan says which content it will write, and another one is not written in
// its place. It is Terraform that notices: it asks for the plan once more before
// it applies it, and tells the provider nothing of the first one.
func TestSourceChangedBetweenPlanAndApplyIsNotWritten(t *testing.T) {
	b := anyBridge(t)
	source := localFile(t, []byte("planned"))
	c := b.cli(oneFile(`path = "file"`, set("source", source)))

	c.plan()
	replaceLocal(t, source, "edited later")
	output, err := c.try("apply", "plan")
	if err == nil || !strings.Contains(output, "sha256") {
		t.Errorf("apply: %v\n%s", err, output)
	}
	if sent := b.sent(); strings.Contains(sent, "PUT") {
		t.Errorf("requests: %s", sent)
	}

	c.must("apply", "-auto-approve")
}

// Cancelling Terraform ends the command in the sandbox, too.
func TestInterruptLeavesNoProcess(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(oneSandbox + execBlock("test", command("bash", "-c", "trap '' INT; sleep 300 & sleep 301; sleep 302")))

	apply, output := c.command("apply", "-auto-approve")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	await.That(b.t, "the command starts", func() bool { return b.runs("sleep 301") })

	if err := apply.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := apply.Wait(); err == nil {
		t.Errorf("apply succeeded:\n%s", output)
	}
	await.That(b.t, "the command ends", func() bool { return !b.runs("sleep") })

	c.write("main.tf", strings.Split(readFile(t, filepath.Join(c.dir, "main.tf")), "data ")[0])
}

// runs reports whether any sandbox has a process with this in its command line.
func (b *testBridge) runs(part string) bool {
	for _, id := range b.local.Running() {
		processes, err := b.local.Processes(id)
		if err == nil && strings.Contains(strings.Join(processes, "\n"), part) {
			return true
		}
	}

	return false
}

func readFile(t *testing.T, path string) string {
	t.Helper()

	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(content)
}

// fleet is ten sandboxes with five files each.
func fleet() (config string, contents map[string]map[string][]byte) {
	var text strings.Builder
	contents = map[string]map[string][]byte{}

	for s := range 10 {
		name := fmt.Sprintf("s%d", s)
		contents[name] = map[string][]byte{}
		fmt.Fprintf(&text, "resource \"cloudflaresandbox_sandbox\" %q {}\noutput %q {\n  value = cloudflaresandbox_sandbox.%s.id\n}\n", name, name, name)
		for f := range 5 {
			path, content := fmt.Sprintf("dir/file%d", f), fmt.Sprintf("file %d of sandbox %d", f, s)
			contents[name][path] = []byte(content)
			fmt.Fprintf(&text, "resource \"cloudflaresandbox_file\" \"%sf%d\" {\n"+
				"  sandbox_id = cloudflaresandbox_sandbox.%s.id\n  path = %q\n  content = %q\n}\n", name, f, name, path, content)
		}
	}

	return text.String(), contents
}

func TestManySandboxesAndFilesAtOnceLoseNothing(t *testing.T) {
	b := anyBridge(t)
	config, contents := fleet()
	c := b.cli(config)

	c.must("apply", "-auto-approve", "-parallelism=20")
	ids := c.outputs()
	b.expectFleet(ids, contents)
	c.must("plan", "-detailed-exitcode")
	if b.local != nil {
		b.loseFleetAndBringItBack(c, ids, contents)
	}

	c.must("destroy", "-auto-approve", "-parallelism=20")
}

// loseFleetAndBringItBack puts every container to sleep, twice: what is gone is
// seen, and brought back under the same ids.
func (b *testBridge) loseFleetAndBringItBack(c *cli, ids map[string]string, contents map[string]map[string][]byte) {
	b.t.Helper()

	if started := b.local.ContainersStarted(); started != len(ids) {
		b.t.Errorf("%d containers were started for %d sandboxes", started, len(ids))
	}

	b.local.SleepAll()
	actions := c.plan()
	if actions["[create] cloudflaresandbox_file"] != 50 || actions["[no-op] cloudflaresandbox_sandbox"] != 10 {
		b.t.Errorf("planned %v", actions)
	}

	b.local.SleepAll()
	c.must("apply", "-parallelism=20", "plan")
	if again := c.outputs(); fmt.Sprint(again) != fmt.Sprint(ids) {
		b.t.Errorf("the ids were %v and are %v", ids, again)
	}
	b.expectFleet(ids, contents)
	if err := b.expectRunning(len(ids)); err != nil {
		b.t.Error(err)
	}
	c.must("plan", "-detailed-exitcode")
}

func (c *cli) outputs() map[string]string {
	c.t.Helper()

	cmd, output := c.command("output", "-json")
	cmd.Stderr = nil
	if err := cmd.Run(); err != nil {
		c.t.Fatal(err)
	}
	var decoded map[string]struct{ Value string }
	if err := json.Unmarshal(output.Bytes(), &decoded); err != nil {
		c.t.Fatal(err)
	}

	values := map[string]string{}
	for name, output := range decoded {
		values[name] = output.Value
	}

	return values
}

func (b *testBridge) expectFleet(ids map[string]string, contents map[string]map[string][]byte) {
	b.t.Helper()

	var failures []error
	for name, files := range contents {
		id := ids[name]
		failures = append(failures, b.expectFiles(&id, files)(nil))
	}
	if err := errors.Join(failures...); err != nil {
		b.t.Fatal(err)
	}
}
