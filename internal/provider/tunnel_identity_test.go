package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
)

// The address of a tunnel that is adopted is the one that it had.
func TestTunnelIsImportedByItsIdentity(t *testing.T) {
	b := bridgeWithTunnels(t)
	var id, url string

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{
			{
				Config:            b.config(oneSandbox),
				ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
			},
			{
				PreConfig: func() {
					url = b.openTunnel(id, 8080)
					b.forget()
				},
				Config: b.config(oneTunnel(`port = 8080`) + `
					import {
					  to = cloudflaresandbox_tunnel.test
					  identity = {
					    sandbox_id = cloudflaresandbox_sandbox.test.id
					    port       = 8080
					  }
					}`),
				ConfigPlanChecks: before(
					action(tunnel, plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(tunnel, tfjsonpath.New("url")),
					b.sentAtPlan("1 POST sandbox/:id/exec"),
				),
				ConfigStateChecks: []statecheck.StateCheck{tunnelValue("url", knownvalue.StringFunc(same(&url)))},
			},
			{
				Config:           b.config(oneTunnel(`port = 8080`, `timeouts = { read = "1m" }`)),
				ConfigPlanChecks: before(action(tunnel, plancheck.ResourceActionUpdate)),
			},
		},
	})
}
