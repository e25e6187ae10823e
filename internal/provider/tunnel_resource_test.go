package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const tunnel = "cloudflaresandbox_tunnel.test"

// oneTunnel is a sandbox with a tunnel.
func oneTunnel(attributes ...string) string {
	return oneSandbox + fmt.Sprintf("resource \"cloudflaresandbox_tunnel\" \"test\" {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		strings.Join(attributes, "\n  "))
}

func tunnelValue(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(tunnel, tfjsonpath.New(attribute), check)
}

// bridgeWithTunnels is any bridge that makes tunnels. One that speaks to its
// containers over http makes none.
func bridgeWithTunnels(t *testing.T) *testBridge {
	t.Helper()
	b := anyBridge(t)
	if b.local != nil {
		return b
	}

	var failed *bridge.TunnelError
	if _, err := b.handle(b.sandbox()).OpenTunnel(t.Context(), 8080, ""); errors.As(err, &failed) {
		t.Skip("this bridge makes no tunnels: ", err)
	}

	return b
}

func TestTunnelIsOpenedMovedAndClosed(t *testing.T) {
	b := bridgeWithTunnels(t)
	var instance, url string

	b.run(
		resource.TestStep{
			Config: b.config(oneTunnel(`port = 8080`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					action(tunnel, plancheck.ResourceActionCreate),
					changes(tunnel, "created_at hostname instance_id port sandbox_id tunnel_id url"),
					b.sentAtPlan(""),
				},
				PostApplyPreRefresh: []plancheck.PlanCheck{b.sentAtPlan("")},
				// A refresh opens no tunnel: one for the sandbox, one for the tunnel.
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan(), b.sentAtPlan("2 POST sandbox/:id/exec")},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec, 1 POST sandbox/:id/tunnel/8080"),
				capture(sandbox, "instance_id", &instance),
				capture(tunnel, "url", &url),
				tunnelValue("instance_id", knownvalue.StringFunc(same(&instance))),
				tunnelValue("url", knownvalue.StringRegexp(regexp.MustCompile(`^https?://`))),
				tunnelValue("hostname", knownvalue.StringFunc(func(host string) error {
					if !strings.Contains(url, host) {
						return fmt.Errorf("%q is not in %q", host, url)
					}
					return nil
				})),
				tunnelValue("tunnel_id", knownvalue.StringRegexp(regexp.MustCompile(`^quick-`))),
				tunnelValue("created_at", knownvalue.StringRegexp(regexp.MustCompile(`^20\d\d-.*Z$`))),
				tunnelValue("name", knownvalue.Null()),
			},
		},
		resource.TestStep{
			Config: b.config(oneTunnel(`port = 8081`)),
			ConfigPlanChecks: before(
				action(tunnel, plancheck.ResourceActionReplace),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState("1 DELETE sandbox/:id/tunnel/8080, 1 GET pool/stats, 2 POST sandbox/:id/exec, 1 POST sandbox/:id/tunnel/8081"),
				tunnelValue("url", knownvalue.StringFunc(different(&url))),
			},
		},
		resource.TestStep{
			// Other timeouts are no reason to lose the address.
			Config: b.config(oneTunnel(`port = 8081`, `timeouts = { create = "2m" }`)),
			ConfigPlanChecks: before(
				action(tunnel, plancheck.ResourceActionUpdate),
				changes(tunnel, "timeouts"),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("")},
		},
	)
}

func TestTunnelLeadsToAServerInTheSandbox(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	port := localbridge.FreePort()
	var url string

	b.run(
		resource.TestStep{
			Config: b.config(oneSandbox + runBlock(set("script", fmt.Sprintf(`
				type -P python3 > /dev/null || exit 3
				mkdir www && echo "hello from the sandbox" > www/greeting
				python3 -m http.server --bind 127.0.0.1 --directory www %[1]d > /dev/null 2>&1 &
				until (exec 3<> /dev/tcp/127.0.0.1/%[1]d) 2> /dev/null; do sleep 0.05; done`, port))) +
				strings.TrimPrefix(oneTunnel(fmt.Sprintf("port = %d", port), `depends_on = [cloudflaresandbox_exec.test]`), oneSandbox)),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(tunnel, "url", &url),
				onState(func(*tfjson.State) error {
					response, err := http.Get(url + "/greeting")
					if err != nil {
						return err
					}
					defer response.Body.Close()
					if body, err := io.ReadAll(response.Body); err != nil || string(body) != "hello from the sandbox\n" {
						return fmt.Errorf("%s answers %q, %w", url, body, err)
					}
					return nil
				}),
			},
		},
	)
}

func TestTunnelOfAnotherContainerIsPlannedAgain(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneTunnel(`port = 8080`))
	var id, url string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id), capture(tunnel, "url", &url)},
		},
		resource.TestStep{
			PreConfig:         func() { b.local.Kill(id) },
			Config:            config,
			ConfigPlanChecks:  before(action(tunnel, plancheck.ResourceActionCreate)),
			ConfigStateChecks: []statecheck.StateCheck{tunnelValue("url", knownvalue.StringFunc(different(&url)))},
		},
		resource.TestStep{
			// Lost between plan and apply: nothing is closed in the fresh container.
			Config:  config,
			Destroy: true,
			ConfigPlanChecks: before(onPlan(func(*tfjson.Plan) error {
				b.local.Kill(id)
				return nil
			})),
		},
	)
}

func TestTunnelOfASleepingSandbox(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneTunnel(`port = 8080`), noWake)
	var id string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		b.asleepUnproven(config, &id),
		b.asleepProven(config, tunnel),
		b.destroyedAsleep(config),
	)
}

func TestNamedTunnelNeedsATokenAtTheBridge(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config: b.config(oneTunnel(`port = 8080`, `name = "app"`)),
		ExpectError: regexp.MustCompile(
			`(?s)No tunnel.*on terraform_plugin_test.tf line \d+.*name = "app".*CLOUDFLARE_API_TOKEN.*wrangler\s+secret\s+put`),
	})
}

func TestNamedTunnelLeavesItsNameWhenItsContainerIsLost(t *testing.T) {
	b := localBridge(t, localbridge.Config{TunnelZone: "example.com"})
	named := func(name string) string { return b.config(oneTunnel(`port = 8080`, set("name", name))) }
	var id string

	b.run(
		resource.TestStep{
			Config: named("app"),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &id),
				tunnelValue("name", knownvalue.StringExact("app")),
			},
		},
		resource.TestStep{
			Config:           named("other"),
			ConfigPlanChecks: before(action(tunnel, plancheck.ResourceActionReplace)),
		},
		resource.TestStep{
			// Closed in time, the first name is free again.
			Config:           named("app"),
			ConfigPlanChecks: before(action(tunnel, plancheck.ResourceActionReplace)),
		},
		resource.TestStep{
			PreConfig:   func() { b.local.Kill(id) },
			Config:      named("app"),
			ExpectError: regexp.MustCompile(`(?s)No tunnel.*name = "app".*delete\s+that\s+DNS\s+record`),
		},
		resource.TestStep{Config: named("third")},
	)
}

func TestTunnelOnAPortThatHasAnother(t *testing.T) {
	b := localBridge(t, localbridge.Config{TunnelZone: "example.com"})
	var id string

	b.run(
		b.onlySandbox(&id),
		resource.TestStep{
			PreConfig:   func() { b.openTunnel(id, 8080) },
			Config:      b.config(oneTunnel(`port = 8080`, `name = "app"`)),
			ExpectError: regexp.MustCompile(`(?s)No tunnel.*port = 8080.*another name or none.*Choose another port`),
		},
		resource.TestStep{Config: b.config(oneSandbox)},
	)
}

func TestTunnelThatIsThereIsAdopted(t *testing.T) {
	imports := map[string]string{
		"by declaring it": ``,
		"by import":       `id = "${cloudflaresandbox_sandbox.test.id}/8080"`,
	}

	for name, how := range imports {
		t.Run(name, func(t *testing.T) {
			b := bridgeWithTunnels(t)
			b.adoptTunnel(how)
		})
	}
}

// adoptTunnel takes over a tunnel that is there, with an import block if one is
// given.
func (b *testBridge) adoptTunnel(how string) {
	b.t.Helper()

	var id, url string
	block, planned := "", plancheck.ResourceActionCreate
	if how != "" {
		block = "import {\n  to = cloudflaresandbox_tunnel.test\n  " + how + "\n}\n"
		planned = plancheck.ResourceActionUpdate
	}

	b.run(
		b.onlySandbox(&id),
		resource.TestStep{
			PreConfig: func() {
				url = b.openTunnel(id, 8080)
				b.forget()
			},
			Config: b.config(oneTunnel(`port = 8080`) + block),
			ConfigPlanChecks: before(
				action(tunnel, planned),
				plancheck.ExpectUnknownValue(tunnel, tfjsonpath.New("url")),
				// A plan opens no tunnel, an import neither.
				b.sentAtPlan("1 POST sandbox/:id/exec"),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				tunnelValue("url", knownvalue.StringFunc(same(&url))),
				tunnelValue("instance_id", knownvalue.NotNull()),
			},
		},
		resource.TestStep{
			Config:           b.config(oneTunnel(`port = 8080`)),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
	)
}

func TestTunnelImportRefusesWhatIsNoTunnelID(t *testing.T) {
	ids := map[string]string{
		"no port":        someID,
		"no number":      someID + "/http",
		"reserved port":  someID + "/3000",
		"low port":       someID + "/80",
		"bad sandbox id": "KJS5/8080",
	}

	for name, id := range ids {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config:        b.config(oneTunnel(`port = 8080`)),
				ResourceName:  tunnel,
				ImportState:   true,
				ImportStateId: id,
				ExpectError:   regexp.MustCompile(`(?s)Invalid import id.*SANDBOX_ID/PORT`),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

func TestTunnelRefusedByAPlan(t *testing.T) {
	for name, c := range map[string]struct{ attribute, summary string }{
		"privileged port": {`port = 80`, "Invalid port"},
		"reserved port":   {`port = 3000`, "Invalid port"},
		"too high port":   {`port = 65536`, "Invalid port"},
		"upper case":      {`name = "App"`, "Invalid name"},
		"two labels":      {`name = "app.example"`, "Invalid name"},
		"hyphen first":    {`name = "-app"`, "Invalid name"},
		"too long":        {set("name", strings.Repeat("a", 64)), "Invalid name"},
		"empty name":      {`name = ""`, "Invalid name"},
	} {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			attributes := []string{c.attribute}
			if !strings.HasPrefix(c.attribute, "port") {
				attributes = append(attributes, `port = 8080`)
			}
			b.run(resource.TestStep{
				Config:      b.config(oneTunnel(attributes...)),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?s)Error: ` + c.summary + `.*` + regexp.QuoteMeta(c.attribute)),
			})
		})
	}
}

func TestTunnelWhoseContainerIsLostMeanwhileFails(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var id string

	b.run(
		b.onlySandbox(&id),
		resource.TestStep{
			PreConfig: func() {
				b.beforeNext("/tunnel/8080", func() { b.local.Kill(id) })
			},
			Config:      b.config(oneTunnel(`port = 8080`)),
			ExpectError: regexp.MustCompile(`Container was replaced meanwhile`),
		},
		resource.TestStep{
			Config: b.config(oneTunnel(`port = 8080`)),
			ConfigStateChecks: []statecheck.StateCheck{onState(func(*tfjson.State) error {
				if b.local.Assigned() != 1 {
					return errors.New("more than one container is left")
				}
				return nil
			})},
		},
	)
}

// A tunnel that was made, with its answer lost, is in the state: whoever gives
// up after that has it closed, and whoever goes on has it made anew.
func TestTunnelInDoubtIsKeptInTheState(t *testing.T) {
	for name, then := range map[string]struct {
		config string
		action plancheck.ResourceActionType
		open   int
	}{
		"given up": {"", plancheck.ResourceActionDestroy, 0},
		"made":     {`port = 8080`, plancheck.ResourceActionDestroyBeforeCreate, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := localBridge(t, localbridge.Config{})
			proxy, err := faultproxy.Start(b.url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			proxy.Set(faultproxy.Rule{Route: "/tunnel/8080", Fault: faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.AfterRequest}}})
			b.url = proxy.URL
			config := oneSandbox
			if then.config != "" {
				config = oneTunnel(then.config)
			}
			b.run(
				resource.TestStep{
					Config:      b.config(oneTunnel(`port = 8080`)),
					ExpectError: regexp.MustCompile(`(?s)The bridge does not answer.*may have been done all the same`),
				},
				resource.TestStep{
					PreConfig: func() { proxy.Set() },
					Config:    b.config(config),
					ConfigPlanChecks: resource.ConfigPlanChecks{
						PreApply:             []plancheck.PlanCheck{action(tunnel, then.action)},
						PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
					},
					Check: func(*terraform.State) error {
						if open := b.local.Tunnels(b.local.Running()[0]); len(open) != then.open {
							return fmt.Errorf("tunnels to ports %d", open)
						}
						return nil
					},
				},
			)
		})
	}
}
