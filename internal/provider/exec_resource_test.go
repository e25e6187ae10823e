package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const ran = "cloudflaresandbox_exec.test"

// runBlock is a resource that runs a command in the sandbox of oneSandbox.
func runBlock(attributes ...string) string {
	return fmt.Sprintf("resource \"cloudflaresandbox_exec\" \"test\" {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		strings.Join(attributes, "\n  "))
}

// count is a script that leaves a line for every time it runs.
const count = `echo run >> /workspace/runs; wc -l < /workspace/runs`

// expectRuns checks how often count has run in a container.
func (b *testBridge) expectRuns(sandboxID *string, want int) onState {
	return b.expectInside(sandboxID, `[ ! -e /workspace/runs ] || cat /workspace/runs`, strings.Repeat("run\n", want))
}

func stdout(want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(ran, tfjsonpath.New("stdout"), knownvalue.StringExact(want))
}

func TestExecResourceRunsOnceAndKeepsTheResult(t *testing.T) {
	b := anyBridge(t)
	config := b.config(oneSandbox + runBlock(set("script", count+`; echo problem >&2; printf '\xff' >> /workspace/x; exit 3`), allowed))
	var sandboxID, instance string

	b.run(
		resource.TestStep{
			Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					action(ran, plancheck.ResourceActionCreate),
					changes(ran, "allow_non_zero_exit_code exit_code instance_id revision sandbox_id script stderr stderr_base64 stdout stdout_base64"),
					b.sentAtPlan(""),
				},
				PostApplyPreRefresh: []plancheck.PlanCheck{b.sentAtPlan("")},
				// One for the sandbox, one for the command.
				PostApplyPostRefresh: []plancheck.PlanCheck{b.sentAtPlan("2 POST sandbox/:id/exec")},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec, 1 PUT sandbox/:id/file"),
				capture(sandbox, "id", &sandboxID), capture(sandbox, "instance_id", &instance),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("instance_id"), knownvalue.StringFunc(same(&instance))),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("revision"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("exit_code"), knownvalue.Int64Exact(3)),
				stdout("1\n"),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("stdout_base64"), knownvalue.StringExact(base64Of([]byte("1\n")))),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("stderr"), knownvalue.StringExact("problem\n")),
			},
		},
		resource.TestStep{
			PreConfig:         b.forget,
			Config:            config,
			ConfigPlanChecks:  before(plancheck.ExpectEmptyPlan(), b.sentAtPlan("2 POST sandbox/:id/exec")),
			ConfigStateChecks: []statecheck.StateCheck{b.expectRuns(&sandboxID, 1)},
		},
	)
}

// Every step changes one attribute, and keeps those of the steps before.
func TestExecResourceRunsAgainForWhatChangesTheRunAndOnlyThen(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	const (
		again   = plancheck.ResourceActionDestroyBeforeCreate
		inPlace = plancheck.ResourceActionUpdate
		nothing = plancheck.ResourceActionNoop
	)
	steps := []struct {
		attribute, value string
		planned          plancheck.ResourceActionType
	}{
		{"timeout", `"1m"`, inPlace},
		{"triggers", `{ a = "1" }`, again},
		{"max_output_bytes", "4096", inPlace},
		{"triggers", `{ a = 2 }`, again},
		{"allow_non_zero_exit_code", "true", inPlace},
		{"environment", `{ A = "b" }`, again},
		{"timeouts", `{ create = "2m" }`, inPlace},
		{"stdin", `"input"`, again},
		{"on_destroy", `{ command = ["true"] }`, inPlace},
		{"working_dir", `"."`, again},
		{"working_dir", `"/workspace/"`, nothing},
		{"script", hcl(count + " # changed"), again},
		{"on_destroy", `{ command = ["false"], allow_non_zero_exit_code = true }`, inPlace},
		{"interpreter", `["sh"]`, again},
	}

	attributes := map[string]string{"script": hcl(count)}
	config := func() string {
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			lines = append(lines, name+" = "+attributes[name])
		}

		return b.config(oneSandbox + runBlock(lines...))
	}
	runs := 1
	all := []resource.TestStep{{
		Config:            config(),
		ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID), b.expectRuns(&sandboxID, runs)},
	}}
	for _, step := range steps {
		attributes[step.attribute] = step.value
		if step.planned == again {
			runs++
		}
		all = append(all, resource.TestStep{
			Config:           config(),
			ConfigPlanChecks: before(action(ran, step.planned)),
			ConfigStateChecks: []statecheck.StateCheck{
				named(step.attribute, b.expectRuns(&sandboxID, runs)), named(step.attribute, stdout(fmt.Sprintln(runs))),
			},
		})
	}

	// What the provider gives to every command is for what runs from now on.
	last := config()
	all = append(all, resource.TestStep{
		Config:            strings.Replace(last, "\n}\n", "\n  environment = { SHARED = \"x\" }\n  timeout = \"1m\"\n}\n", 1),
		ConfigPlanChecks:  before(plancheck.ExpectEmptyPlan()),
		ConfigStateChecks: []statecheck.StateCheck{b.expectRuns(&sandboxID, runs)},
	})
	b.run(all...)
}

// A file that is written again has it run again, and what follows it as well;
// the next plan is empty.
func TestExecResourceFollowsTheRevisionOfWhatItWorksOn(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string
	const next = "cloudflaresandbox_exec.next"
	config := func(content string) string {
		return b.config(oneFile(`path = "file"`, set("content", content)) +
			runBlock(command("cp", "-v", "file", "copy"), "triggers = { file = "+file+".revision }") +
			strings.Replace(runBlock(command("cat", "copy"), "triggers = { copy = "+ran+".revision }"), `"test"`, `"next"`, 1))
	}
	printed := func(want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(next, tfjsonpath.New("stdout"), knownvalue.StringExact(want))
	}

	b.run(
		resource.TestStep{
			Config:            config("first"),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID), printed("first")},
		},
		resource.TestStep{
			Config: config("second"),
			ConfigPlanChecks: before(
				action(ran, plancheck.ResourceActionDestroyBeforeCreate),
				action(next, plancheck.ResourceActionDestroyBeforeCreate),
			),
			ConfigStateChecks: []statecheck.StateCheck{printed("second")},
		},
		resource.TestStep{
			PreConfig: func() { b.lose(sandboxID) },
			Config:    config("second"),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionCreate),
				action(ran, plancheck.ResourceActionCreate),
				action(next, plancheck.ResourceActionCreate),
			),
			ConfigStateChecks: []statecheck.StateCheck{printed("second")},
		},
	)
}

func TestExecResourceRunsAgainInAnotherContainer(t *testing.T) {
	b := anyBridge(t)
	config := b.config(oneSandbox + runBlock(set("script", count), `on_destroy = { script = "echo ended >> /workspace/runs" }`))
	var sandboxID, first, second string

	b.run(
		resource.TestStep{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID), capture(ran, "instance_id", &first), b.expectRuns(&sandboxID, 1),
			},
		},
		resource.TestStep{
			PreConfig: func() { b.lose(sandboxID) },
			Config:    config,
			ConfigPlanChecks: before(
				action(ran, plancheck.ResourceActionCreate),
				// The plan has seen the new container, and run nothing in it.
				onPlan(func(*tfjson.Plan) error { return b.expectRuns(&sandboxID, 0)(nil) }),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "instance_id", &second),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("instance_id"), knownvalue.StringFunc(same(&second))),
				statecheck.ExpectKnownValue(ran, tfjsonpath.New("instance_id"), knownvalue.StringFunc(different(&first))),
				b.expectRuns(&sandboxID, 1),
			},
		},
		resource.TestStep{Config: config, ConfigPlanChecks: before(plancheck.ExpectEmptyPlan())},
	)
}

func TestExecResourceIsLeftAsItIsByARefreshThatMayNotWake(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneSandbox+runBlock(set("script", count)), noWake)
	var sandboxID string

	b.run(
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)}},
		b.asleepUnproven(config, &sandboxID),
		b.asleepProven(config, ran, b.expectRuns(&sandboxID, 1)),
	)
}

func TestExecResourceSecretsOfItsEnvironmentAreKeptNowhere(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string
	config := func(version int, value string) string {
		return b.config(oneSandbox + `
			variable "secret" {
			  type      = string
			  ephemeral = true
			  default   = ` + hcl(value) + `
			}` + "\n" + runBlock(set("script", `echo "$A $B" >> /workspace/runs; printf %s "$TOKEN" | sha256sum >> /workspace/runs`),
			`environment = { A = "own", B = "own" }`, `environment_wo = { B = "secret", TOKEN = var.secret }`,
			fmt.Sprintf("environment_wo_version = %d", version)))
	}
	once := "own secret\n" + sum([]byte(secret)) + "  -\n"

	b.runWriteOnly(
		resource.TestStep{
			Config: config(1, secret),
			ConfigPlanChecks: before(onPlan(func(plan *tfjson.Plan) error {
				return lacksOnly(secret, plan.PlannedValues, plan.ResourceChanges)
			})),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				onState(func(state *tfjson.State) error { return lacksOnly(secret, state) }),
				b.expectInside(&sandboxID, "cat runs", once),
			},
		},
		resource.TestStep{
			Config:           config(1, "another value"),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
		resource.TestStep{
			Config:           config(2, secret),
			ConfigPlanChecks: before(action(ran, plancheck.ResourceActionDestroyBeforeCreate)),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cat runs", once+once),
			},
		},
	)
}

func lacksOnly(secret string, values ...any) error {
	encoded, err := json.Marshal(values)
	if err != nil {
		return err
	}

	return lacksAny(string(encoded), secret)
}

func TestExecResourceCannotBeImported(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config:        b.config(oneSandbox + runBlock(command("true"))),
		ResourceName:  ran,
		ImportState:   true,
		ImportStateId: someID,
		ExpectError:   regexp.MustCompile(`(?s)A command cannot be imported.*Nothing in a sandbox tells`),
	})
}
