package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
		b.onlySandbox(&id),
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

func TestSandboxWaitsForRoom(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	other := b.occupy()

	b.run(resource.TestStep{
		Config: b.config(oneSandbox),
		ConfigPlanChecks: before(onPlan(func(*tfjson.Plan) error {
			b.makeRoom(other)
			return nil
		})),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("instance_id"), knownvalue.NotNull()),
		},
	})
}

// The id is in the state although the container did not start, so that what did
// start, if anything, can be destroyed.
func TestSandboxThatFindsNoRoomIsKeptAndReplaced(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	other := b.occupy()

	b.run(
		resource.TestStep{
			Config: b.config(`
				resource "cloudflaresandbox_sandbox" "test" {
				  timeouts = { create = "5s" }
				}`),
			ExpectError: regexp.MustCompile(`(?s)The bridge has reached its instance limit.*start the container of\s+sandbox.*max_instances`),
		},
		resource.TestStep{
			PreConfig: func() { b.local.Kill(other) },
			Config:    b.config(oneSandbox),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionDestroyBeforeCreate),
			),
		},
	)
}

// An answer that proves nothing about the sandbox leaves the state as it is.
func TestSandboxStateSurvivesWhatFails(t *testing.T) {
	b := anyBridge(t)
	var id string

	b.run(
		resource.TestStep{
			Config:            b.config(oneFile(`path = "file"`, `content = "x"`)),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		resource.TestStep{
			PreConfig:   func() { b.answerWith(http.StatusUnauthorized) },
			Config:      b.config(oneFile(`path = "file"`, `content = "x"`)),
			ExpectError: regexp.MustCompile(`(?s)denied on the way.*look at sandbox`),
		},
		resource.TestStep{
			// Planned well, and refused when it comes to it.
			PreConfig: func() { b.answerWith(0) },
			Config:    b.config(""),
			ConfigPlanChecks: before(onPlan(func(*tfjson.Plan) error {
				b.answerWith(http.StatusUnauthorized)
				return nil
			})),
			ExpectError: regexp.MustCompile(`(?s)denied on the way.*remove "file" in sandbox`),
		},
		resource.TestStep{
			PreConfig:        func() { b.answerWith(0) },
			Config:           b.config(oneFile(`path = "file"`, `content = "x"`)),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.StringFunc(same(&id))),
			},
		},
	)
}

func TestSandboxImportRefusesWhatIsNoID(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config:        b.config(oneSandbox),
		ResourceName:  sandbox,
		ImportState:   true,
		ImportStateId: "not/an/id",
		ExpectError:   regexp.MustCompile(`(?s)Invalid import id.*A\s+sandbox\s+is\s+imported\s+by\s+its\s+id`),
	})
	if sent := b.sent(); sent != "" {
		t.Errorf("requests: %s", sent)
	}
}

func TestRequestsCarryTheConfiguredHeadersAndSayWhoAsks(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config: b.config(oneSandbox, `headers = { "CF-Access-Client-Id" = "someone.access" }`),
		ConfigStateChecks: []statecheck.StateCheck{onState(func(*tfjson.State) error {
			header := b.lastHeader()
			if got := header.Get("CF-Access-Client-Id"); got != "someone.access" {
				return fmt.Errorf("the header is %q", got)
			}
			if got := header.Get("User-Agent"); !regexp.MustCompile(`^Terraform/\S+ terraform-provider-cloudflaresandbox/test$`).MatchString(got) {
				return fmt.Errorf("the user agent is %q", got)
			}

			return nil
		})},
	})
}
