package provider_test

import (
	"errors"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const sandbox = "cloudflaresandbox_sandbox.test"

func TestSandboxIsCreatedImportedAndDestroyed(t *testing.T) {
	b := anyBridge(t)

	b.run(
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionCreate),
				plancheck.ExpectUnknownValue(sandbox, tfjsonpath.New("id")),
				plancheck.ExpectUnknownValue(sandbox, tfjsonpath.New("instance_id")),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("instance_id"), knownvalue.NotNull()),
			},
		},
		resource.TestStep{
			ResourceName:      sandbox,
			ImportState:       true,
			ImportStateVerify: true,
		},
	)
}

func TestSandboxWithAnotherContainerKeepsItsIDAndChangesItsInstance(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var id, first, second string

	b.run(
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &id), capture(sandbox, "instance_id", &first),
			},
		},
		resource.TestStep{
			PreConfig: func() { b.local.Kill(id) },
			Config:    b.config(oneSandbox),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionNoop),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.StringFunc(same(&id))),
				capture(sandbox, "instance_id", &second),
				onState(func(*tfjson.State) error {
					if second == first {
						return errors.New("the instance is the same")
					}
					return nil
				}),
			},
		},
	)
}

func TestSandboxAsleepAtTheInstanceLimitIsWokenInPlace(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	var id, other string

	b.run(
		resource.TestStep{
			Config:            b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		resource.TestStep{
			// Another id takes the only place, so that this one is seen to be asleep.
			PreConfig: func() {
				b.local.Sleep(id)
				other = b.occupy()
			},
			Config: b.config(oneSandbox),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionUpdate),
				plancheck.ExpectUnknownValue(sandbox, tfjsonpath.New("instance_id")),
				changes(sandbox, "instance_id"),
				onPlan(func(*tfjson.Plan) error {
					b.local.Kill(other)
					return nil
				}),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.StringFunc(same(&id))),
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("instance_id"), knownvalue.NotNull()),
			},
		},
	)
}
