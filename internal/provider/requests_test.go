package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
)

// What a step sends is counted in parts: the first plan, the apply, a plan
// without refresh, and one with.

func TestRequestsOfASandbox(t *testing.T) {
	b := anyBridge(t)

	b.run(
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{b.sentAtPlan("")},
				PostApplyPreRefresh:  []plancheck.PlanCheck{b.sentAtPlan("")},
				PostApplyPostRefresh: []plancheck.PlanCheck{b.sentAtPlan("1 POST sandbox/:id/exec")},
			},
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("1 POST sandbox, 1 POST sandbox/:id/exec")},
		},
		resource.TestStep{
			Config: b.config(`resource "cloudflaresandbox_sandbox" "other" {}`),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionDestroy),
				b.sentAtPlan("1 POST sandbox/:id/exec"),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState("1 DELETE sandbox/:id, 1 POST sandbox, 1 POST sandbox/:id/exec"),
			},
		},
	)
}

func TestRequestsOfASmallFile(t *testing.T) {
	b := anyBridge(t)
	const perRefresh = "2 POST sandbox/:id/exec" // one for the sandbox, one for the file

	b.run(
		resource.TestStep{Config: b.config(oneSandbox)},
		resource.TestStep{
			PreConfig: b.forget,
			Config:    b.config(oneFile(`path = "file"`, `content = "small"`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{b.sentAtPlan("1 POST sandbox/:id/exec")},
				PostApplyPreRefresh:  []plancheck.PlanCheck{b.sentAtPlan("")},
				PostApplyPostRefresh: []plancheck.PlanCheck{b.sentAtPlan(perRefresh)},
			},
			// The apply is a process of its own; the write itself is its first contact.
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("1 POST sandbox/:id/exec, 1 PUT sandbox/:id/file")},
		},
		resource.TestStep{
			Config: b.config(oneFile(`path = "file"`, `content = "other"`)),
			ConfigPlanChecks: before(
				b.sentAtPlan(perRefresh),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("1 POST sandbox/:id/exec, 1 PUT sandbox/:id/file")},
		},
	)
}

// In an apply that makes the sandbox too, the file costs its two requests.
func TestRequestsOfASandboxWithItsFile(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config:            b.config(oneFile(`path = "file"`, `content = "small"`)),
		ConfigPlanChecks:  before(b.sentAtPlan("")),
		ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec, 1 PUT sandbox/:id/file")},
	})
}

func TestRequestsOfACommand(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config:           b.config(oneSandbox + execBlock("test", command("true"))),
		ConfigPlanChecks: before(b.sentAtPlan("")),
		ConfigStateChecks: []statecheck.StateCheck{
			b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec"),
		},
	})
}

// A plan that finds everything as it should be looks at hashes, and moves no
// content in either direction.
func TestUnchangedFilesTransferNoContent(t *testing.T) {
	b := anyBridge(t)
	config := b.config(oneFile(`path = "file"`, set("source", localFile(t, randomBytes(7, 1<<20)))))

	b.run(
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig:        b.forget,
			Config:           config,
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
	)

	if uploaded, downloaded := b.transferred(); uploaded > 100<<10 || downloaded > 100<<10 {
		t.Errorf("%d bytes went to the bridge and %d came from it", uploaded, downloaded)
	}
}
