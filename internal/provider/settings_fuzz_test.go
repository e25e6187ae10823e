package provider

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// FuzzSettings takes any provider block: it is a configuration or a set of
// diagnostics, and neither the key nor a header's value is ever in one.
func FuzzSettings(f *testing.F) {
	f.Add("https://bridge.example.workers.dev", "key-4711-4711", "X-Secret", "value-4712-4712", "NAME", "/workspace", "5m")
	f.Add("http://127.0.0.1:8787/", "key with a newline\n", "Host", "b\u00fccher-b\u00fccher", "1A", "../..", "-1s")
	f.Add("https://user:pass@host/?q#f", "", "Authorization", "x", "", "", "")
	f.Add("ftp://x", "\x00\xff", "a b", "\r\nInjected: 1", "A=B", "a\x00b", "9999999999h")
	f.Add(" http://bridge.example.com\n", "key-4711-4711", "accept", "x", "A", "", "")
	f.Add("://", "schl\u00fcssel-schl\u00fcssel", "", "", "PATH", ".", "1e9s")
	f.Fuzz(func(t *testing.T, apiURL, apiKey, header, value, name, directory, timeout string) {
		model := providerModel{
			APIURL: types.StringValue(apiURL), APIKey: types.StringValue(apiKey),
			Headers:     types.MapValueMust(types.StringType, map[string]attr.Value{header: types.StringValue(value), "X-Unknown": types.StringNull()}),
			Environment: types.MapValueMust(types.StringType, map[string]attr.Value{name: types.StringValue(value)}),
			WorkingDir:  types.StringValue(directory), Timeout: types.StringValue(timeout), PythonExecutable: types.StringValue(name),
		}
		s, diags := resolveSettings(context.Background(), model, func(string) string { return "" })
		if !diags.HasError() {
			conn, more := connect(s, "test")
			diags.Append(more...)
			if !more.HasError() && !conn.reachable() {
				t.Errorf("neither a client nor an error")
			}
			parsed, err := url.Parse(conn.apiURL)
			if !more.HasError() && (err != nil || apiKey != "" && parsed.Scheme != "https" && !bridge.IsLocalURL(conn.apiURL)) {
				t.Errorf("the key would go to %q: %v", conn.apiURL, err)
			}
		}
		for _, d := range diags {
			for _, secret := range []string{apiKey, value} {
				// What is shown may hold by chance what is short, and what stands at another place as well.
				others := apiURL + "\x00" + header + "\x00" + name + "\x00" + directory + "\x00" + timeout
				if len(secret) >= 8 && !strings.Contains(others, secret) && strings.Contains(d.Summary()+d.Detail(), secret) {
					t.Errorf("%q is in %q", secret, d.Summary()+": "+d.Detail())
				}
			}
		}
	})
}
