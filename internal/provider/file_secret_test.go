package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
)

const secret = "hunter2-and-more"

func secretFile(version int, content string) string {
	return oneSandbox + `
		variable "secret" {
		  type      = string
		  ephemeral = true
		  default   = ` + hcl(content) + `
		}` + "\n" + fileBlock("test", `path = "token"`, `content_wo = var.secret`,
		fmt.Sprintf("content_wo_version = %d", version), `mode = "0600"`)
}

func TestWriteOnlyContentIsInNeitherPlanNorState(t *testing.T) {
	b := anyBridge(t)
	var sandboxID, revision string

	b.runWriteOnly(
		resource.TestStep{
			Config: b.config(secretFile(1, secret)),
			ConfigPlanChecks: before(
				onPlan(func(plan *tfjson.Plan) error {
					// The configuration in a plan has the variable's default; what the
					// provider planned must not have it.
					return lacksSecret(plan.PlannedValues, plan.ResourceChanges)
				}),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID), capture(file, "revision", &revision),
				onState(func(state *tfjson.State) error { return lacksSecret(state) }),
				statecheck.ExpectKnownValue(file, tfjsonpath.New("sha256"), knownvalue.Null()),
				statecheck.ExpectKnownValue(file, tfjsonpath.New("size"), knownvalue.Null()),
				b.expectInside(&sandboxID, "cat token; stat -c %a token", secret+"600\n"),
			},
		},
		resource.TestStep{
			// Another value under the same version is not written.
			Config:           b.config(secretFile(1, "another value")),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cat token", secret),
			},
		},
		resource.TestStep{
			Config: b.config(secretFile(2, "another value")),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "content_wo_version", "revision"),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cat token", "another value"),
				statecheck.ExpectKnownValue(file, tfjsonpath.New("revision"), knownvalue.StringFunc(different(&revision))),
			},
		},
		resource.TestStep{
			// Changed from inside: seen, although nothing of it is kept.
			PreConfig: func() { b.inside(sandboxID, "echo -n 'altered value' > token") },
			Config:    b.config(secretFile(2, "another value")),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "revision"),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat token", "another value")},
		},
		resource.TestStep{
			// And to content that may be seen.
			Config: b.config(oneFile(`path = "token"`, `content = "public"`)),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(file, tfjsonpath.New("sha256"), knownvalue.StringExact(sum([]byte("public")))),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat token", "public")},
		},
		resource.TestStep{
			Config: b.config(secretFile(2, secret)),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(file, tfjsonpath.New("sha256"), knownvalue.Null()),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat token", secret)},
		},
	)
}

// runWriteOnly is run for Terraform and OpenTofu that know write-only arguments.
func (b *testBridge) runWriteOnly(steps ...resource.TestStep) {
	b.t.Helper()

	resource.Test(b.t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
	})
}

// lacksSecret looks for the secret, and for its plain hash, which a short one
// could be found from.
func lacksSecret(values ...any) error {
	encoded, err := json.Marshal(values)
	if err != nil {
		return err
	}
	for _, trace := range []string{secret, sum([]byte(secret))} {
		if strings.Contains(string(encoded), trace) {
			return errors.New("the secret or its SHA-256 is in " + string(encoded))
		}
	}

	return nil
}
