package provider_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
	"terraform-provider-cloudflaresandbox/internal/provider"
)

const (
	apiURLVariable = "CLOUDFLARE_SANDBOX_API_URL"
	apiKeyVariable = "CLOUDFLARE_SANDBOX_API_KEY"
)

// testBridge is the bridge of one test, seen through a proxy that records what
// the provider sends.
type testBridge struct {
	t *testing.T

	*recorder

	url    string // of the recorder, for provider blocks
	key    string
	target string              // the bridge itself
	local  *localbridge.Bridge // nil for a bridge that was given
}

// acceptance skips a test that was not asked for, and lets the others run side
// by side.
func acceptance(t *testing.T) {
	t.Helper()

	if os.Getenv(resource.EnvTfAcc) == "" {
		t.Skipf("acceptance tests run when %s is set", resource.EnvTfAcc)
	}
	t.Parallel()
}

// anyBridge is the bridge that CLOUDFLARE_SANDBOX_API_URL names, or one on this
// machine if that is not set.
func anyBridge(t *testing.T) *testBridge {
	t.Helper()
	acceptance(t)

	if url := os.Getenv(apiURLVariable); url != "" {
		return newTestBridge(t, url, os.Getenv(apiKeyVariable), nil)
	}

	return startLocal(t, localbridge.Config{})
}

// localBridge is a bridge on this machine, for tests that need powers which no
// other has: to kill containers, put them to sleep, limit their number, or to
// say what runs in them.
func localBridge(t *testing.T, config localbridge.Config) *testBridge {
	t.Helper()
	localOnly(t)

	return startLocal(t, config)
}

// localOnly skips a test where another bridge was given.
func localOnly(t *testing.T) {
	t.Helper()
	acceptance(t)

	if os.Getenv(apiURLVariable) != "" {
		t.Skipf("needs a bridge of its own on this machine, and %s names another one", apiURLVariable)
	}
}

func startLocal(t *testing.T, config localbridge.Config) *testBridge {
	t.Helper()

	local, err := localbridge.Start(t.Context(), config)
	if err != nil {
		t.Fatalf("start the local bridge: %v", err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the local bridge: %v", err)
		}
	})

	return newTestBridge(t, local.URL(), local.Key(), local)
}

func newTestBridge(t *testing.T, url, key string, local *localbridge.Bridge) *testBridge {
	t.Helper()

	recorder := newRecorder(t, url)

	return &testBridge{t: t, recorder: recorder, url: recorder.proxy.URL, key: key, target: url, local: local}
}

// run is a test of the provider against this bridge, at whose end nothing may
// be left in it.
func (b *testBridge) run(steps ...resource.TestStep) {
	b.t.Helper()

	resource.Test(b.t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps:                    steps,
	})

	b.expectNothingLeft()
}

// expectNothingLeft checks a bridge that no other test uses.
func (b *testBridge) expectNothingLeft() {
	b.t.Helper()

	if b.local != nil && !b.t.Failed() && b.local.Assigned() != 0 {
		b.t.Errorf("%d containers are left after destroy: %v", b.local.Assigned(), b.local.Running())
	}
}

// factories serve the provider in this process.
func factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"cloudflaresandbox": providerserver.NewProtocol6WithError(provider.New("test")()),
	}
}

// config is a configuration with a provider block for this bridge.
func (b *testBridge) config(body string, settings ...string) string {
	return fmt.Sprintf("provider \"cloudflaresandbox\" {\n  api_url = %s\n  api_key = %s\n%s\n}\n%s",
		hcl(b.url), hcl(b.key), strings.Join(settings, "\n"), body)
}

// oneSandbox is the sandbox that most configurations start with.
const oneSandbox = `
resource "cloudflaresandbox_sandbox" "test" {}
`

// onlySandbox is the step that makes the sandbox and nothing else, and notes its
// id.
func (b *testBridge) onlySandbox(id *string) resource.TestStep {
	return resource.TestStep{
		Config:            b.config(oneSandbox),
		ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", id)},
	}
}

// expectInside checks what a script prints in the sandbox.
func (b *testBridge) expectInside(sandboxID *string, script, want string) onState {
	return func(*tfjson.State) error {
		got, err := b.tryInside(*sandboxID, script)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%q prints %q inside, want %q", script, got, want)
		}

		return nil
	}
}

// onPlan and onState run a function at their moment of a step.
type onPlan func(*tfjson.Plan) error

func (f onPlan) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	resp.Error = f(req.Plan)
}

type onState func(*tfjson.State) error

func (f onState) CheckState(_ context.Context, req statecheck.CheckStateRequest, resp *statecheck.CheckStateResponse) {
	resp.Error = f(req.State)
}

// capture keeps a string attribute for later.
func capture(address, attribute string, to *string) onState {
	return func(state *tfjson.State) error {
		for _, found := range state.Values.RootModule.Resources {
			if found.Address != address {
				continue
			}
			value, ok := found.AttributeValues[attribute].(string)
			if !ok {
				return fmt.Errorf("%s.%s is %v", address, attribute, found.AttributeValues[attribute])
			}
			*to = value

			return nil
		}

		return fmt.Errorf("%s is not in the state", address)
	}
}

// same expects a value that was captured before.
func same(want *string) func(string) error {
	return func(got string) error {
		if got != *want {
			return fmt.Errorf("got %q, want %q", got, *want)
		}

		return nil
	}
}

// before makes the checks of the plan that a step starts with.
func before(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

// action expects what a plan does with a resource.
func action(address string, what plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, what)
}

// changes expects that a plan changes just these attributes of a resource.
func changes(address string, attributes ...string) onPlan {
	return func(plan *tfjson.Plan) error {
		for _, change := range plan.ResourceChanges {
			if change.Address != address {
				continue
			}

			got := changedAttributes(change.Change)
			want := strings.Join(attributes, " ")
			if got != want {
				return fmt.Errorf("the plan changes %q of %s, want %q", got, address, want)
			}

			return nil
		}

		return fmt.Errorf("%s is not in the plan", address)
	}
}

// hcl writes a string as Terraform reads it.
func hcl(text string) string {
	var b strings.Builder

	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '$', r == '%':
			// Only before a brace is it more than itself; an escape is right anywhere.
			fmt.Fprintf(&b, "\\u%04x", r)
		case r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')

	return b.String()
}

// named says in the error of a check which case it belongs to.
func named(name string, check statecheck.StateCheck) statecheck.StateCheck {
	return namedCheck{name: name, check: check}
}

type namedCheck struct {
	name  string
	check statecheck.StateCheck
}

func (c namedCheck) CheckState(ctx context.Context, req statecheck.CheckStateRequest, resp *statecheck.CheckStateResponse) {
	c.check.CheckState(ctx, req, resp)
	if resp.Error != nil {
		resp.Error = fmt.Errorf("%s: %w", c.name, resp.Error)
	}
}
