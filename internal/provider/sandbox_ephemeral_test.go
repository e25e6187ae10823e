package provider_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const ephemeralSandbox = "cloudflaresandbox_sandbox"

// opened is what Terraform holds while an ephemeral sandbox is open.
type opened struct {
	id, instance string
	private      []byte
	renewAt      time.Time
}

func (s served) open(arguments map[string]tftypes.Value) (opened, []*tfprotov6.Diagnostic) {
	s.t.Helper()

	of := s.schema.EphemeralResourceSchemas[ephemeralSandbox].ValueType()
	resp, err := s.OpenEphemeralResource(s.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{
		TypeName: ephemeralSandbox, Config: dynamic(s.t, of, arguments),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(resp.Diagnostics) > 0 {
		return opened{}, resp.Diagnostics
	}
	result := s.strings(resp.Result, of)

	return opened{id: result["id"], instance: result["instance_id"], private: resp.Private, renewAt: resp.RenewAt}, nil
}

func (s served) mustOpen() opened {
	s.t.Helper()

	sandbox, diags := s.open(nil)
	if len(diags) > 0 {
		s.t.Fatalf("open: %s: %s", diags[0].Summary, diags[0].Detail)
	}

	return sandbox
}

func (s served) renew(o opened) *tfprotov6.RenewEphemeralResourceResponse {
	s.t.Helper()

	resp, err := s.RenewEphemeralResource(s.t.Context(), &tfprotov6.RenewEphemeralResourceRequest{TypeName: ephemeralSandbox, Private: o.private})
	if err != nil {
		s.t.Fatal(err)
	}

	return resp
}

func (s served) close(o opened) []*tfprotov6.Diagnostic {
	s.t.Helper()

	resp, err := s.CloseEphemeralResource(s.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: ephemeralSandbox, Private: o.private})
	if err != nil {
		s.t.Fatal(err)
	}

	return resp.Diagnostics
}

// expectRenewal checks that a renewal comes well before the ten minutes after
// which a container sleeps.
func expectRenewal(t *testing.T, at time.Time) {
	t.Helper()

	if in := time.Until(at); in < 3*time.Minute || in > 5*time.Minute {
		t.Errorf("it is renewed in %s", in)
	}
}

func TestEphemeralSandboxIsOpenedRenewedAndClosed(t *testing.T) {
	b := anyBridge(t)
	s := b.serve()

	sandbox := s.mustOpen()
	expectRenewal(t, sandbox.renewAt)
	if err := b.expectSent("1 POST sandbox, 1 POST sandbox/:id/exec"); err != nil {
		t.Error(err)
	}
	b.inside(sandbox.id, "echo kept >file")

	for range 2 {
		renewed := s.renew(sandbox)
		if len(renewed.Diagnostics) > 0 {
			t.Fatalf("renew: %v", renewed.Diagnostics[0].Detail)
		}
		expectRenewal(t, renewed.RenewAt)
		sandbox.private = renewed.Private
	}
	if err := b.expectSent("2 POST sandbox/:id/exec"); err != nil {
		t.Error(err)
	}
	if got := b.inside(sandbox.id, "cat file"); got != "kept\n" {
		t.Errorf("the file holds %q", got)
	}

	if diags := s.close(sandbox); len(diags) > 0 {
		t.Errorf("close: %v", diags[0].Detail)
	}
	if err := b.expectSent("1 DELETE sandbox/:id"); err != nil {
		t.Error(err)
	}
	b.expectNothingLeft()
}

// An empty container in the place of the one that the run has worked in is not
// passed off as the same.
func TestEphemeralSandboxWhoseContainerIsLostIsNotRenewed(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	s := b.serve()

	sandbox := s.mustOpen()
	b.local.Kill(sandbox.id)
	diags := s.renew(sandbox).Diagnostics
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "replaced by a fresh, empty one") {
		t.Errorf("renew: %v", diags)
	}

	if diags := s.close(sandbox); len(diags) > 0 {
		t.Errorf("close: %v", diags[0].Detail)
	}
	b.expectNothingLeft()
}

func TestEphemeralSandboxWaitsForRoom(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	other := b.occupy()

	b.makeRoom(other)
	s := b.serve()
	sandbox := s.mustOpen()

	if diags := s.close(sandbox); len(diags) > 0 {
		t.Errorf("close: %v", diags[0].Detail)
	}
	b.expectNothingLeft()
}

// Terraform closes only what was opened.
func TestEphemeralSandboxThatDoesNotStartIsRemoved(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	other := b.occupy()
	s := b.serve()

	timeouts := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"open": tftypes.String}}
	_, diags := s.open(map[string]tftypes.Value{
		"timeouts": tftypes.NewValue(timeouts, map[string]tftypes.Value{"open": tftypes.NewValue(tftypes.String, "5s")}),
	})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "start the container of sandbox") || !strings.Contains(diags[0].Summary, "instance limit") {
		t.Errorf("open: %v", diags)
	}
	if sent := b.sent(); !strings.Contains(sent, "1 DELETE sandbox/:id") {
		t.Errorf("requests: %s", sent)
	}

	b.local.Kill(other)
	b.expectNothingLeft()
}

// What could be neither started nor removed is named, so that somebody can.
func TestEphemeralSandboxThatCannotBeRemovedIsNamed(t *testing.T) {
	localOnly(t)

	const id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if request.URL.Path == "/v1/sandbox" {
			_, _ = w.Write([]byte(`{"id":"` + id + `"}`))
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"Unauthorized","code":"unauthorized"}`))
	}))
	t.Cleanup(server.Close)

	_, diags := serve(t, server.URL, "").open(nil)
	if len(diags) != 2 || !strings.Contains(diags[0].Detail, "start the container") || !strings.Contains(diags[1].Detail, "destroy sandbox "+id) {
		t.Errorf("open: %v", diags)
	}
}

// A run that is broken off while the sandbox starts leaves nothing either.
func TestEphemeralSandboxThatIsCancelledIsRemoved(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	other := b.occupy()
	s := b.serve()

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await.That(b.t, "the sandbox is told to wait", func() bool { return strings.Contains(b.sent(), "POST sandbox/:id/exec") })
		cancel()
	}()
	of := s.schema.EphemeralResourceSchemas[ephemeralSandbox].ValueType()
	resp, err := s.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: ephemeralSandbox, Config: dynamic(t, of, nil)})
	if err != nil || len(resp.Diagnostics) == 0 {
		t.Errorf("open: %v", err)
	}
	if sent := b.sent(); !strings.Contains(sent, "1 DELETE sandbox/:id") {
		t.Errorf("requests: %s", sent)
	}

	b.local.Kill(other)
	b.expectNothingLeft()
}

// echoedSandbox keeps what is known of an ephemeral sandbox where a test can
// see it.
const echoedSandbox = `
ephemeral "cloudflaresandbox_sandbox" "test" {}
provider "echo" {
  data = ephemeral.cloudflaresandbox_sandbox.test
}
`

// expectClosed checks that nothing runs any more once Terraform has ended.
func (b *testBridge) expectClosed() onState {
	return func(*tfjson.State) error {
		if b.local != nil && b.local.Assigned() != 0 {
			return errors.New("the sandbox runs on")
		}
		return nil
	}
}

func TestEphemeralSandboxLastsForOneRun(t *testing.T) {
	b := anyBridge(t)

	b.runEphemeral(resource.TestStep{
		Config: b.config(echoedSandbox + `resource "echo" "test" {}`),
		// A plan is a run of its own.
		ConfigPlanChecks: before(b.sentAtPlan("1 DELETE sandbox/:id, 1 POST sandbox, 1 POST sandbox/:id/exec")),
		ConfigStateChecks: []statecheck.StateCheck{
			b.sentAtState("1 DELETE sandbox/:id, 1 POST sandbox, 1 POST sandbox/:id/exec"),
			b.expectClosed(),
			statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey("id"), knownvalue.StringRegexp(regexp.MustCompile(`^[a-z2-7]+$`))),
			statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey("instance_id"), knownvalue.NotNull()),
		},
	})
}

// Terraform closes nothing of a run that fails; it only ends the provider.
func TestEphemeralSandboxIsDestroyedWhenTheRunFails(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(`
		ephemeral "cloudflaresandbox_sandbox" "test" {}
		resource "terraform_data" "work" {
		  provisioner "local-exec" {
		    command     = "touch started; exit 1"
		    environment = { ID = ephemeral.cloudflaresandbox_sandbox.test.id }
		  }
		}`)

	output, err := c.try("apply", "-auto-approve")
	if err == nil || !strings.Contains(output, "local-exec provisioner error") {
		t.Fatalf("apply: %v\n%s", err, output)
	}
	if started := b.local.ContainersStarted(); started != 2 { // one for the plan
		t.Errorf("%d containers were started", started)
	}
	// The bridge may still be at it when the provider has to leave.
	await.That(b.t, "no sandbox runs", func() bool { return b.expectRunning(0) == nil })
}

// Two commands of a run work in the same sandbox.
func TestEphemeralSandboxServesTheCommandsOfItsRun(t *testing.T) {
	b := anyBridge(t)

	b.runEphemeral(resource.TestStep{
		Config: b.config(`
			ephemeral "cloudflaresandbox_sandbox" "test" {}
			ephemeral "cloudflaresandbox_exec" "first" {
			  sandbox_id = ephemeral.cloudflaresandbox_sandbox.test.id
			  script     = "echo from the first >file"
			}
			ephemeral "cloudflaresandbox_exec" "second" {
			  sandbox_id = ephemeral.cloudflaresandbox_sandbox.test.id
			  command    = ["cat", "file"]
			  depends_on = [ephemeral.cloudflaresandbox_exec.first]
			}
			provider "echo" {
			  data = ephemeral.cloudflaresandbox_exec.second.stdout
			}
			resource "echo" "test" {}`),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data"), knownvalue.StringExact("from the first\n")),
			b.expectClosed(),
		},
	})
}

// Interrupting Terraform ends the sandbox, too.
func TestEphemeralSandboxIsDestroyedWhenTheRunIsInterrupted(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(`
		ephemeral "cloudflaresandbox_sandbox" "test" {}
		resource "terraform_data" "work" {
		  provisioner "local-exec" {
		    command     = "touch started; exec sleep 300"
		    environment = { ID = ephemeral.cloudflaresandbox_sandbox.test.id }
		  }
		}`)

	apply, output := c.command("apply", "-auto-approve")
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	await.That(b.t, "the run works in the sandbox", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "started"))
		return err == nil
	})
	if err := b.expectRunning(1); err != nil {
		t.Error(err)
	}

	if err := apply.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := apply.Wait(); err == nil {
		t.Errorf("apply succeeded:\n%s", output)
	}
	// The bridge may still be at it when the provider has to leave.
	await.That(b.t, "no sandbox runs", func() bool { return b.expectRunning(0) == nil })
}

func TestEphemeralSandboxRefusesWhatCannotBeApplied(t *testing.T) {
	values := map[string]struct{ attribute, value, reason string }{
		"policy":      {"network_policy", `"deny-all"`, `keep\s+full\s+access\s+to\s+the\s+internet`},
		"hosts":       {"allowed_hosts", `[]`, `allowedHosts`},
		"gpu":         {"gpu", `false`, `Workers\s+AI`},
		"known later": {"gpu", `terraform_data.later.id`, `Workers\s+AI`},
	}

	for name, c := range values {
		t.Run(name, func(t *testing.T) {
			b := localBridge(t, localbridge.Config{})
			b.runEphemeral(resource.TestStep{
				Config: b.config(`
					resource "terraform_data" "later" {}
					ephemeral "cloudflaresandbox_sandbox" "test" {
					  ` + c.attribute + ` = ` + c.value + `
					}
					provider "echo" {
					  data = ephemeral.cloudflaresandbox_sandbox.test.id
					}
					resource "echo" "test" {}`),
				ExpectError: regexp.MustCompile(`(?s)` + c.attribute + ` cannot be applied.*` + c.reason),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

func TestEphemeralSandboxDurationsAreChecked(t *testing.T) {
	b := localBridge(t, localbridge.Config{})

	b.runEphemeral(resource.TestStep{
		Config:      b.config("ephemeral \"cloudflaresandbox_sandbox\" \"test\" {\n  timeouts = { open = \"-1s\" }\n}\n"),
		ExpectError: regexp.MustCompile(`(?s)Invalid duration.*out of range`),
	})
}
