package provider_test

import (
	"fmt"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const noWake = "wake_on_refresh = false"

func TestRefreshThatMayNotWakeStartsNothing(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneFile(`path = "file"`, `content = "x"`), noWake)
	var id string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		b.asleepUnproven(config, &id),
		b.asleepProven(config, file,
			statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.StringFunc(same(&id))),
			b.expectInside(&id, "cat file", "x"),
		),
	)
}

// asleepUnproven is a step before which the sandbox has fallen asleep while
// another one runs, so that the pool's figures prove nothing about it. Where a
// refresh may not wake it, everything is left as it is.
func (b *testBridge) asleepUnproven(config string, id *string) resource.TestStep {
	return resource.TestStep{
		PreConfig: func() {
			b.occupy()
			b.local.Sleep(*id)
			b.forget()
		},
		Config: config,
		ConfigPlanChecks: before(
			plancheck.ExpectEmptyPlan(),
			b.sentAtPlan("2 GET pool/stats"),
			onPlan(func(*tfjson.Plan) error { return b.expectRunning(1) }),
		),
	}
}

// asleepProven is a step before which all sandboxes have fallen asleep: nothing
// runs, which proves of an object that it is gone.
func (b *testBridge) asleepProven(config, address string, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{
		PreConfig: func() {
			b.local.SleepAll()
			b.forget()
		},
		Config: config,
		ConfigPlanChecks: before(
			action(sandbox, plancheck.ResourceActionUpdate),
			changes(sandbox, "instance_id"),
			action(address, plancheck.ResourceActionCreate),
			b.sentAtPlan("2 GET pool/stats"),
			onPlan(func(*tfjson.Plan) error { return b.expectRunning(0) }),
		),
		ConfigStateChecks: checks,
	}
}

// destroyedAsleep is a step that destroys one object and its sandbox, which fall
// asleep after the plan. The object is known to be gone. That the sandbox is
// cannot be known of its id alone, and its DELETE is the proof.
func (b *testBridge) destroyedAsleep(config string) resource.TestStep {
	return resource.TestStep{
		Config:  config,
		Destroy: true,
		ConfigPlanChecks: before(onPlan(func(*tfjson.Plan) error {
			b.local.SleepAll()
			b.forget()
			return nil
		})),
		ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("1 DELETE sandbox/:id, 1 GET pool/stats")},
	}
}

func (b *testBridge) expectRunning(want int) error {
	if got := b.local.Assigned(); got != want {
		return fmt.Errorf("%d containers run, want %d", got, want)
	}

	return nil
}

// What cannot have survived is not woken to be removed.
func TestDestroyOfWhatSleepsStartsNothing(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneFile(`path = "file"`, `content = "x"`), noWake)

	b.run(
		resource.TestStep{Config: config},
		b.destroyedAsleep(config),
	)
}

func TestDestroyAtTheInstanceLimitSucceeds(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	var id, other string

	b.run(
		resource.TestStep{
			Config:            b.config(oneFile(`path = "file"`, `content = "x"`)),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		resource.TestStep{
			PreConfig: func() {
				b.local.Sleep(id)
				other = b.occupy()
			},
			Config:  b.config(oneFile(`path = "file"`, `content = "x"`)),
			Destroy: true,
			ConfigStateChecks: []statecheck.StateCheck{onState(func(*tfjson.State) error {
				b.local.Kill(other)
				return nil
			})},
		},
	)
}

// Between a plan and its apply a container can be lost as well. The apply
// carries out what was planned, and the next plan sees the rest.
func TestContainerLostBetweenPlanAndApply(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var id string
	config := func(content string) string {
		return b.config(oneSandbox +
			fileBlock("kept", `path = "kept"`, `content = "kept"`) +
			fileBlock("test", `path = "file"`, set("content", content)))
	}

	b.run(
		resource.TestStep{
			Config:            config("first"),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		resource.TestStep{
			Config: config("second"),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				onPlan(func(*tfjson.Plan) error {
					b.local.Kill(id)
					return nil
				}),
			),
			ConfigStateChecks:  []statecheck.StateCheck{b.expectInside(&id, "ls; cat file", "file\nsecond")},
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			Config:            config("second"),
			ConfigPlanChecks:  before(action("cloudflaresandbox_file.kept", plancheck.ResourceActionCreate)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&id, "cat kept", "kept")},
		},
	)
}
