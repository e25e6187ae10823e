package provider_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// state is what the state says of the exec resource.
func (c *cli) state() *tfjson.StateResource {
	c.t.Helper()

	cmd, output := c.command("show", "-json")
	cmd.Stderr = nil
	if err := cmd.Run(); err != nil {
		c.t.Fatal(err)
	}
	var state tfjson.State
	if err := json.Unmarshal(output.Bytes(), &state); err != nil {
		c.t.Fatal(err)
	}
	if state.Values == nil {
		return nil
	}
	for _, found := range state.Values.RootModule.Resources {
		if found.Address == ran {
			return found
		}
	}

	return nil
}

// failingWith expects an apply to fail with this in its output.
func (c *cli) failingWith(want string, args ...string) {
	c.t.Helper()

	output, err := c.try(args...)
	if err == nil || !regexp.MustCompile(want).MatchString(output) {
		c.t.Errorf("%s: %v\n%s", args[0], err, output)
	}
}

// The result of a failure is in the state, from where the next apply replaces it.
func TestExecResourceThatFailsIsTaintedWithItsResult(t *testing.T) {
	b := anyBridge(t)
	config := oneSandbox + runBlock(set("script", count+`; echo broken >&2; exit 3`),
		`on_destroy = { script = "echo cleared >> /workspace/runs" }`)
	c := b.cli(config)

	c.failingWith(`(?s)exit code 3.*script\s+=.*stderr:.*broken`, "apply", "-auto-approve")
	found := c.state()
	if found == nil || !found.Tainted {
		t.Fatalf("in the state: %+v", found)
	}
	for attribute, want := range map[string]string{"exit_code": "3", "stdout": "1\n", "stderr": "broken\n"} {
		if got := fmt.Sprint(found.AttributeValues[attribute]); got != want {
			t.Errorf("%s is %v in the state, want %v", attribute, got, want)
		}
	}

	c.replace("exit 3", "exit 0")
	if actions := c.plan(); actions["[delete create] cloudflaresandbox_exec"] != 1 {
		t.Errorf("planned %v", actions)
	}
	// It is cleared up in between: two lines of the first, two of the second.
	c.must("apply", "plan")
	if got := c.state().AttributeValues["stdout"]; got != "3\n" {
		t.Errorf("the second run printed %q", got)
	}
	c.must("plan", "-detailed-exitcode")
}

// replace changes the configuration.
func (c *cli) replace(old, replacement string) {
	c.t.Helper()

	c.write("main.tf", strings.ReplaceAll(readFile(c.t, filepath.Join(c.dir, "main.tf")), old, replacement))
}

// A command without a complete result has run all the same.
func TestExecResourceWithoutResultIsTaintedToo(t *testing.T) {
	cases := map[string]struct{ attributes, want string }{
		"timeout":         {command("sleep", "300") + "\n" + `timeout = "700ms"`, `ran longer than 700ms`},
		"too much output": {command("seq", "1", "10000") + "\n" + `max_output_bytes = 10`, `printed too much`},
	}

	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			c := b.cli(oneSandbox + runBlock(test.attributes))

			c.failingWith(test.want, "apply", "-auto-approve")
			found := c.state()
			if found == nil || !found.Tainted || found.AttributeValues["stdout"] != nil || found.AttributeValues["instance_id"] == nil {
				t.Errorf("in the state: %+v", found)
			}
		})
	}
}

// What was not started leaves nothing behind.
func TestExecResourceThatWasNotStartedIsNotInTheState(t *testing.T) {
	b := anyBridge(t)
	c := b.cli(oneSandbox + runBlock(command("true"), `working_dir = "/no/such"`))

	c.failingWith(`(?s)could not be started.*/no/such`, "apply", "-auto-approve")
	if found := c.state(); found != nil {
		t.Errorf("in the state: %+v", found)
	}
}

func TestExecResourceWhoseContainerDiesMayHaveRun(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(oneSandbox + runBlock(command("sleep", "304")))

	apply, output := c.command("apply", "-auto-approve")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	await.That(b.t, "the command starts", func() bool { return b.runs("sleep 304") })
	for _, id := range b.local.Running() {
		b.local.Kill(id)
	}
	if err := apply.Wait(); err == nil || !strings.Contains(output.String(), "may have run") {
		t.Errorf("apply: %v\n%s", err, output)
	}
	if b.runs("sleep 304") {
		t.Error("it was started again")
	}
	if found := c.state(); found == nil || !found.Tainted {
		t.Errorf("in the state: %+v", found)
	}
	if actions := c.plan(); actions["[create] cloudflaresandbox_exec"] != 1 {
		t.Errorf("planned %v", actions)
	}
}

func TestOnDestroyRunsInTheSameContainer(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string
	config := func(script string) string {
		return b.config(oneSandbox + runBlock(set("script", script), `on_destroy = {
			interpreter = ["bash", "-e"]
			script      = "echo \"$0 $(cat) $A\" | cut -d' ' -f 2- >> /workspace/runs; pwd >> /workspace/runs"
			stdin       = "ended"
			environment = { A = "b" }
			working_dir = "/tmp"
		}`))
	}

	b.run(
		resource.TestStep{
			Config:            config(count),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
		},
		resource.TestStep{
			Config:            config(count + " # again"),
			ConfigPlanChecks:  before(action(ran, plancheck.ResourceActionDestroyBeforeCreate)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat runs", "run\nended b\n/tmp\nrun\n")},
		},
		resource.TestStep{
			Config:            b.config(oneSandbox),
			ConfigPlanChecks:  before(action(ran, plancheck.ResourceActionDestroy)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat runs", "run\nended b\n/tmp\nrun\nended b\n/tmp\n")},
		},
	)
}

func TestOnDestroyThatFailsKeepsTheResource(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	b.run(
		resource.TestStep{
			Config: b.config(oneSandbox + runBlock(set("script", count), `on_destroy = { script = "echo cannot >&2; exit 5" }`)),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
			},
		},
		resource.TestStep{
			Config:      b.config(oneSandbox),
			ExpectError: regexp.MustCompile(`(?s)exit code 5.*cannot.*This was on_destroy`),
		},
		resource.TestStep{
			Config:            b.config(oneSandbox + runBlock(set("script", count), `on_destroy = { command = ["true"] }`)),
			ConfigPlanChecks:  before(action(ran, plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectRuns(&sandboxID, 1)},
		},
	)
}

// Between plan and apply the container is replaced. There is nothing to clear up
// in the new one.
func TestOnDestroyIsSkippedWhenItsContainerIsGone(t *testing.T) {
	for name, lose := range map[string]func(b *testBridge, id string){
		"replaced": func(b *testBridge, id string) {
			b.lose(id)
			b.inside(id, "true")
		},
		"gone": func(b *testBridge, id string) { b.lose(id) },
	} {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			c := b.cli(oneSandbox + runBlock(set("script", count), `on_destroy = { script = "echo ended > /workspace/runs" }`) +
				"output \"id\" {\n  value = cloudflaresandbox_sandbox.test.id\n}\n")
			c.must("apply", "-auto-approve")
			id := c.outputs()["id"]

			c.must("plan", "-destroy", "-target="+ran, "-out=plan")
			lose(b, id)
			if output := c.must("apply", "plan"); !strings.Contains(output, "on_destroy was not run") {
				t.Errorf("no warning in:\n%s", output)
			}
			if name == "gone" && b.local != nil {
				if err := b.expectRunning(0); err != nil {
					t.Error(err)
				}
			}
			if err := b.expectRuns(&id, 0)(nil); err != nil {
				t.Error(err)
			}
		})
	}
}
