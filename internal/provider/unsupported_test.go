package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

// What would be believed to protect a sandbox, and does not, is refused
// whatever its value.
func TestSandboxRefusesWhatCannotBeApplied(t *testing.T) {
	values := map[string]struct {
		attribute, value, reason string
	}{
		"policy by name":    {"network_policy", `"deny-all"`, `keep\s+full\s+access\s+to\s+the\s+internet`},
		"policy as object":  {"network_policy", `{ allow = ["example.com"], deny = null }`, `enableInternet`},
		"empty policy":      {"network_policy", `{}`, `enableInternet`},
		"hosts":             {"allowed_hosts", `["example.com"]`, `allowedHosts`},
		"no hosts":          {"allowed_hosts", `[]`, `allowedHosts`},
		"gpu by name":       {"gpu", `"A100"`, `Workers\s+AI`},
		"gpu off":           {"gpu", `false`, `Workers\s+AI`},
		"gpu as number":     {"gpu", `1`, `Workers\s+AI`},
		"sensitive policy":  {"network_policy", `sensitive("deny-all")`, `enableInternet`},
		"partly known list": {"allowed_hosts", `["example.com", cloudflaresandbox_sandbox.other.id]`, `allowedHosts`},
	}

	for name, c := range values {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config: b.config(`
					resource "cloudflaresandbox_sandbox" "other" {}
					resource "cloudflaresandbox_sandbox" "test" {
					  ` + c.attribute + ` = ` + c.value + `
					}`),
				PlanOnly: true,
				ExpectError: regexp.MustCompile(`(?s)Error: ` + c.attribute + ` cannot be applied.*` + c.attribute + ` = ` +
					regexp.QuoteMeta(c.value) + `.*` + c.reason),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

func TestSandboxRefusesWhatCannotBeAppliedFromAVariable(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config: b.config(`
			variable "policy" {
			  type = any
			}
			resource "cloudflaresandbox_sandbox" "test" {
			  network_policy = var.policy
			}`),
		ConfigVariables: config.Variables{"policy": config.StringVariable("deny-all")},
		PlanOnly:        true,
		ExpectError:     regexp.MustCompile(`(?s)network_policy cannot be applied.*network_policy = var.policy`),
	})
	if sent := b.sent(); sent != "" {
		t.Errorf("requests: %s", sent)
	}
}

// A value that is known only at apply is refused then, before anything is asked
// of the bridge for that sandbox.
func TestSandboxRefusesWhatCannotBeAppliedOnceItIsKnown(t *testing.T) {
	b := anyBridge(t)

	b.run(
		resource.TestStep{
			Config: b.config(`
				resource "cloudflaresandbox_sandbox" "other" {}
				resource "cloudflaresandbox_sandbox" "test" {
				  network_policy = { only = cloudflaresandbox_sandbox.other.id }.only
				}`),
			ConfigPlanChecks: before(action(sandbox, plancheck.ResourceActionCreate)),
			ExpectError:      regexp.MustCompile(`(?s)network_policy cannot be applied.*network_policy = `),
		},
		resource.TestStep{
			PreConfig: func() {
				// One for the other sandbox, none for this one.
				if err := b.expectSent("1 POST sandbox, 1 POST sandbox/:id/exec"); err != nil {
					t.Error(err)
				}
			},
			Config: b.config(`resource "cloudflaresandbox_sandbox" "other" {}`),
		},
	)
}

// On a sandbox that exists already, too.
func TestSandboxRefusesWhatCannotBeAppliedLater(t *testing.T) {
	b := anyBridge(t)

	b.run(
		resource.TestStep{Config: b.config(oneSandbox)},
		resource.TestStep{
			Config: b.config(`
				resource "cloudflaresandbox_sandbox" "other" {}
				resource "cloudflaresandbox_sandbox" "test" {
				  gpu = cloudflaresandbox_sandbox.other.id
				}`),
			ConfigPlanChecks: before(action(sandbox, plancheck.ResourceActionUpdate)),
			ExpectError:      regexp.MustCompile(`(?s)gpu cannot be applied.*gpu = `),
		},
		resource.TestStep{Config: b.config(oneSandbox)},
	)
}

func TestSandboxTakesNullForWhatCannotBeApplied(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config: b.config(`
			resource "cloudflaresandbox_sandbox" "test" {
			  network_policy = null
			  allowed_hosts  = null
			  gpu            = var.none
			}
			variable "none" {
			  type    = string
			  default = null
			}`),
	})
}
