package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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

const (
	bridgeData = "data.cloudflaresandbox_bridge.test"
	oneBridge  = `data "cloudflaresandbox_bridge" "test" {}`
)

func TestBridgeFiguresStartNothing(t *testing.T) {
	b := localBridge(t, localbridge.Config{})

	b.run(resource.TestStep{
		Config:           b.config(oneBridge),
		ConfigPlanChecks: before(plancheck.ExpectEmptyPlan(), b.sentAtPlan("1 GET /health, 1 GET pool/stats")),
		ConfigStateChecks: append(
			expectAttributes("idle", bridgeData, map[string]knownvalue.Check{
				"healthy":       knownvalue.Bool(true),
				"errors":        knownvalue.ListExact(nil),
				"warm":          knownvalue.Int64Exact(0),
				"assigned":      knownvalue.Int64Exact(0),
				"total":         knownvalue.Int64Exact(0),
				"max_instances": knownvalue.Null(),
			}),
			statecheck.ExpectKnownValue(bridgeData, tfjsonpath.New("pool_config").AtMapKey("max_instances"), knownvalue.Null()),
			statecheck.ExpectKnownValue(bridgeData, tfjsonpath.New("pool_config").AtMapKey("warm_target"), knownvalue.Int64Exact(0)),
			onState(func(*tfjson.State) error {
				if b.local.ContainersStarted() != 0 {
					return errors.New("a container was started")
				}
				return nil
			}),
		),
	})
}

func TestBridgeFiguresCountContainers(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 3})

	b.run(resource.TestStep{
		Config: b.config(oneSandbox + `
			data "cloudflaresandbox_bridge" "test" {
			  depends_on = [cloudflaresandbox_sandbox.test]
			}`),
		ConfigPlanChecks: before(plancheck.ExpectUnknownValue(bridgeData, tfjsonpath.New("assigned"))),
		ConfigStateChecks: append(
			expectAttributes("in use", bridgeData, map[string]knownvalue.Check{
				"assigned":      knownvalue.Int64Exact(1),
				"total":         knownvalue.Int64Exact(1),
				"max_instances": knownvalue.Int64Exact(3),
			}),
			statecheck.ExpectKnownValue(bridgeData, tfjsonpath.New("pool_config").AtMapKey("max_instances"), knownvalue.Int64Exact(3)),
		),
	})
}

func TestBridgeFiguresOfAnyBridge(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config: b.config(oneBridge),
		ConfigStateChecks: expectAttributes("any", bridgeData, map[string]knownvalue.Check{
			"healthy":     knownvalue.Bool(true),
			"errors":      knownvalue.ListExact(nil),
			"total":       knownvalue.NotNull(),
			"pool_config": knownvalue.NotNull(),
		}),
	})
}

// unwell is a bridge that finds fault with its own configuration. It answers
// what is asked about its containers with an error.
func unwell(t *testing.T, status int, code string) string {
	t.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if request.URL.Path == "/health" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"ok":false,"errors":["Sandbox binding is missing","WarmPool binding is missing"]}`))
			return
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":"no","code":%q}`, code)
	}))
	t.Cleanup(server.Close)

	return server.URL
}

func TestBridgeThatIsNotWellIsAResult(t *testing.T) {
	localOnly(t)

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config: providerBlock(set("api_url", unwell(t, http.StatusNotImplemented, "pool_error"))) + oneBridge,
			ConfigStateChecks: expectAttributes("unwell", bridgeData, map[string]knownvalue.Check{
				"healthy": knownvalue.Bool(false),
				"errors": knownvalue.ListExact([]knownvalue.Check{
					knownvalue.StringExact("Sandbox binding is missing"), knownvalue.StringExact("WarmPool binding is missing"),
				}),
				"warm":        knownvalue.Null(),
				"assigned":    knownvalue.Null(),
				"total":       knownvalue.Null(),
				"pool_config": knownvalue.Null(),
			}),
		}},
	})
}

func TestBridgeThatRefusesTheKeyOrIsNoneIsAnError(t *testing.T) {
	localOnly(t)

	cases := map[string]struct{ url, want string }{
		"key":   {unwell(t, http.StatusUnauthorized, "unauthorized"), `(?s)did not accept the API key`},
		"other": {answers(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, `{"status":"up"}`), `(?s)is not a sandbox bridge.*ask the bridge how it is`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{{
					Config:      providerBlock(set("api_url", c.url)) + oneBridge,
					ExpectError: regexp.MustCompile(c.want),
				}},
			})
		})
	}
}
