package provider_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// answers serves the same answer to every request.
func answers(t *testing.T, status int, header http.Header, body string) string {
	t.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)

	return server.URL
}

func providerBlock(settings ...string) string {
	return "provider \"cloudflaresandbox\" {\n  " + strings.Join(settings, "\n  ") + "\n}\n"
}

// Whatever is wrong between Terraform and the bridge has an error of its own,
// that says what to do.
func TestConnectionFailuresAreTold(t *testing.T) {
	localOnly(t)

	const key = "very-secret-key"
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	login := http.Header{"Location": {"https://team.cloudflareaccess.com/cdn-cgi/access/login?token=tok-secret"}}

	bridge := localBridgeURL(t, localbridge.Config{Key: key})
	cases := map[string]struct {
		url, key, want string
	}{
		"wrong key": {
			bridge, "another-secret-key",
			`(?s)The bridge did not accept the API key.*CLOUDFLARE_SANDBOX_API_KEY`,
		},
		"no key": {
			bridge, "",
			`(?s)The bridge did not accept the API key.*CLOUDFLARE_SANDBOX_API_KEY`,
		},
		"nothing there": {
			"http://127.0.0.1:1", key,
			`(?s)Nothing listens at the bridge's address.*CLOUDFLARE_SANDBOX_API_URL`,
		},
		"no such host": {
			"https://bridge.invalid", key,
			`(?s)The bridge's host does not exist.*CLOUDFLARE_SANDBOX_API_URL|(?s)The bridge does not answer`,
		},
		"another service": {
			answers(t, http.StatusNotFound, nil, "404 page not found"), key,
			`(?s)There is no sandbox bridge at this address.*CLOUDFLARE_SANDBOX_API_URL`,
		},
		"a page": {
			answers(t, http.StatusOK, html, "<!DOCTYPE html><title>Welcome</title>"), key,
			`(?s)What answers is not a sandbox bridge.*Welcome.*CLOUDFLARE_SANDBOX_API_URL`,
		},
		"other JSON": {
			answers(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, `{"status":"up"}`), key,
			`(?s)What answers is not a sandbox bridge`,
		},
		"the edge's refusal": {
			answers(t, http.StatusForbidden, html, "<!DOCTYPE html><title>Access denied</title>error code: 1010"), key,
			`(?s)Access to the bridge was denied on the way.*Access denied.*headers`,
		},
		"a login page": {
			answers(t, http.StatusFound, login, ""), key,
			`(?s)The bridge's address redirects elsewhere.*team.cloudflareaccess.com.*headers`,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				ErrorCheck: func(err error) error {
					if err != nil && strings.Contains(err.Error(), "secret") {
						t.Errorf("a secret is in the error: %v", err)
					}
					return err
				},
				Steps: []resource.TestStep{{
					Config:      providerBlock(set("api_url", c.url), set("api_key", c.key)) + oneSandbox,
					ExpectError: regexp.MustCompile(c.want),
				}},
			})
		})
	}
}

func localBridgeURL(t *testing.T, config localbridge.Config) string {
	t.Helper()

	local, err := localbridge.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })

	return local.URL()
}

func TestProviderBlockIsRefusedAtItsAttribute(t *testing.T) {
	localOnly(t)

	cases := map[string]struct {
		settings []string
		want     string
	}{
		"no URL":                    {[]string{`api_key = "k"`}, `(?s)No URL of a bridge.*CLOUDFLARE_SANDBOX_API_URL`},
		"empty URL":                 {[]string{`api_url = ""`}, `(?s)No URL of a bridge.*api_url = ""`},
		"URL without scheme":        {[]string{`api_url = "bridge.example.com"`}, `(?s)Invalid api_url.*api_url = "bridge.example.com"`},
		"URL of another kind":       {[]string{`api_url = "ftp://bridge.example.com"`}, `(?s)Invalid api_url.*api_url = `},
		"URL with password":         {[]string{`api_url = "https://u:p@bridge.example.com"`}, `(?s)Invalid api_url.*api_url = `},
		"URL with query":            {[]string{`api_url = "https://bridge.example.com/?a=b"`}, `(?s)Invalid api_url.*api_url = `},
		"no key for a public host":  {[]string{`api_url = "https://bridge.example.com"`}, `(?s)No key for the bridge.*CLOUDFLARE_SANDBOX_API_KEY`},
		"key over http":             {[]string{`api_url = "http://bridge.example.com"`, `api_key = "k"`}, `(?s)Key over plain http.*api_url = `},
		"key with a newline":        {[]string{`api_url = "https://bridge.example.com"`, `api_key = "se\ncret"`}, `(?s)Invalid api_key.*api_key = `},
		"key that is not ASCII":     {[]string{`api_url = "https://bridge.example.com"`, `api_key = "schlüssel"`}, `(?s)Invalid api_key.*api_key = `},
		"header name":               {[]string{`api_url = "http://localhost"`, `headers = { "a b" = "x" }`}, `(?s)Invalid headers.*headers = `},
		"header value":              {[]string{`api_url = "http://localhost"`, `headers = { "a" = "x\ny" }`}, `(?s)Invalid headers.*headers = `},
		"header of its own":         {[]string{`api_url = "http://localhost"`, `headers = { "User-Agent" = "x" }`}, `(?s)Invalid headers.*headers = `},
		"null header":               {[]string{`api_url = "http://localhost"`, `headers = { "a" = null }`}, `(?s)Null Map Value.*headers = `},
		"name of a variable":        {[]string{`api_url = "http://localhost"`, `environment = { "1A" = "x" }`}, `(?s)Invalid name of an environment variable.*environment = `},
		"duration":                  {[]string{`api_url = "http://localhost"`, `timeout = "5"`}, `(?s)Invalid duration.*timeout = "5"`},
		"working directory":         {[]string{`api_url = "http://localhost"`, `working_dir = "a\u0000b"`}, `(?s)Invalid directory.*working_dir = `},
		"private host needs no key": {[]string{`api_url = "http://127.0.0.1:9"`}, `(?s)Nothing listens`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{{
					Config:      providerBlock(c.settings...) + oneSandbox,
					ExpectError: regexp.MustCompile(c.want),
				}},
			})
		})
	}
}

// A provider block that depends on something not applied yet: resources are
// planned without a request, with a warning; a data source says what is missing.
func TestProviderBlockUnknownAtPlan(t *testing.T) {
	b := anyBridge(t)

	later := `
		resource "terraform_data" "bridge" {
		  input = ` + hcl(b.url) + `
		}
		provider "cloudflaresandbox" {
		  api_url = terraform_data.bridge.output
		  api_key = ` + hcl(b.key) + `
		}`

	b.run(
		resource.TestStep{
			Config: later + oneFile(`path = "file"`, `content = "x"`),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionCreate),
				action(file, plancheck.ResourceActionCreate),
				b.sentAtPlan(""),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("instance_id"), knownvalue.NotNull()),
			},
		},
		resource.TestStep{
			// Unknown again, for what is in the state already.
			Config: strings.Replace(later, "input =", `triggers_replace = "again"`+"\n input =", 1) + oneFile(`path = "file"`, `content = "x"`),
			ConfigPlanChecks: before(
				action(sandbox, plancheck.ResourceActionNoop),
				action(file, plancheck.ResourceActionNoop),
				b.forgetAtPlan(),
			),
		},
	)
}

func TestDataSourceSaysWhichProviderAttributeIsUnknown(t *testing.T) {
	attributes := map[string]string{
		"api_url":     `api_url = terraform_data.later.output`,
		"api_key":     `api_key = terraform_data.later.output`,
		"headers":     `headers = { X = terraform_data.later.output }`,
		"environment": `environment = { X = terraform_data.later.output }`,
		"timeout":     `timeout = terraform_data.later.output`,
		"working_dir": `working_dir = terraform_data.later.output`,
	}

	for name, setting := range attributes {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			settings := []string{setting}
			if name != "api_url" {
				settings = append(settings, set("api_url", b.url))
			}
			if name != "api_key" {
				settings = append(settings, set("api_key", b.key))
			}

			b.run(resource.TestStep{
				Config: providerBlock(settings...) + `
					resource "terraform_data" "later" {
					  input = "10s"
					}
					data "cloudflaresandbox_exec" "test" {
					  sandbox_id = "` + someID + `"
					  command    = ["true"]
					}`,
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?s)Provider is not fully configured yet.*The provider's\s+` + name + `\s+is\s+known\s+only\s+after`),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}
