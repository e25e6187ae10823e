package provider

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func stringMap(values map[string]string) types.Map {
	elements := map[string]attr.Value{}
	for name, value := range values {
		elements[name] = types.StringValue(value)
	}

	return types.MapValueMust(types.StringType, elements)
}

// onlyError is the path of the one error, or what is there instead.
func onlyError(diags diag.Diagnostics) string {
	var at []string
	for _, d := range diags.Errors() {
		where := "(nowhere)"
		if withPath, ok := d.(diag.DiagnosticWithPath); ok {
			where = withPath.Path().String()
		}
		at = append(at, where)
	}

	return strings.Join(at, " ")
}

func TestSettingsPrecedence(t *testing.T) {
	t.Parallel()

	const (
		attributeURL, variableURL = "https://attribute.example.com", "https://variable.example.com"
		attributeKey, variableKey = "attribute-key", "variable-key"
		local                     = "http://127.0.0.1:8787"
	)
	text := types.StringValue

	cases := map[string]struct {
		model       providerModel
		environment map[string]string
		want        settings
		fails       string // attribute of the error
	}{
		"attributes": {
			model: providerModel{APIURL: text(attributeURL), APIKey: text(attributeKey)},
			want:  settings{apiURL: attributeURL, apiKey: attributeKey},
		},
		"environment": {
			environment: map[string]string{apiURLVariable: variableURL, apiKeyVariable: variableKey},
			want:        settings{apiURL: variableURL, apiKey: variableKey},
		},
		"attributes win": {
			model:       providerModel{APIURL: text(attributeURL), APIKey: text(attributeKey)},
			environment: map[string]string{apiURLVariable: variableURL, apiKeyVariable: variableKey},
			want:        settings{apiURL: attributeURL, apiKey: attributeKey},
		},
		"empty attributes count as not set": {
			model:       providerModel{APIURL: text(""), APIKey: text("")},
			environment: map[string]string{apiURLVariable: variableURL, apiKeyVariable: variableKey},
			want:        settings{apiURL: variableURL, apiKey: variableKey},
		},
		"empty variables count as not set": {
			environment: map[string]string{apiURLVariable: "", apiKeyVariable: variableKey},
			fails:       "api_url",
		},
		"one of each": {
			model:       providerModel{APIURL: text(attributeURL)},
			environment: map[string]string{apiURLVariable: variableURL, apiKeyVariable: variableKey},
			want:        settings{apiURL: attributeURL, apiKey: variableKey},
		},
		"nothing":                          {fails: "api_url"},
		"no key for a public host":         {model: providerModel{APIURL: text(attributeURL)}, fails: "api_key"},
		"no key for a private host":        {model: providerModel{APIURL: text(local)}, want: settings{apiURL: local}},
		"key over http to a public host":   {model: providerModel{APIURL: text("http://a.example.com"), APIKey: text("k")}, fails: "api_url"},
		"key over http, after a space":     {model: providerModel{APIURL: text(" http://a.example.com"), APIKey: text("k")}, fails: "api_url"},
		"key over http, before a newline":  {environment: map[string]string{apiURLVariable: "http://a.example.com\n", apiKeyVariable: "k"}, fails: "api_url"},
		"white space around the URL":       {model: providerModel{APIURL: text(" " + local + "\n")}, want: settings{apiURL: local}},
		"nothing but white space":          {model: providerModel{APIURL: text(" \n")}, fails: "api_url"},
		"key over http to this machine":    {model: providerModel{APIURL: text(local), APIKey: text("k")}, want: settings{apiURL: local, apiKey: "k"}},
		"key over http to a public number": {model: providerModel{APIURL: text("http://8.8.8.8"), APIKey: text("k")}, fails: "api_url"},
		"key over http to a private number": {
			model: providerModel{APIURL: text("http://10.1.2.3"), APIKey: text("k")}, want: settings{apiURL: "http://10.1.2.3", apiKey: "k"},
		},
		"everything else": {
			model: providerModel{
				APIURL: text(local), WorkingDir: text("sub/dir"), PythonExecutable: text("/usr/bin/python3.12"), Timeout: text("90s"),
				WakeOnRefresh: types.BoolValue(false), Headers: stringMap(map[string]string{"A": "b"}),
				Environment: stringMap(map[string]string{"C": "d"}),
			},
			want: settings{
				apiURL: local, workingDir: "/workspace/sub/dir", pythonExecutable: "/usr/bin/python3.12", timeout: 90 * time.Second,
				headers: map[string]string{"A": "b"}, environment: map[string]string{"C": "d"},
			},
		},
		"empty strings for the rest": {
			model: providerModel{APIURL: text(local), WorkingDir: text(""), PythonExecutable: text(""), Timeout: text("")},
			want:  settings{apiURL: local},
		},
		"URL unknown": {
			model:       providerModel{APIURL: types.StringUnknown()},
			environment: map[string]string{apiURLVariable: variableURL},
			want:        settings{apiURL: variableURL, unknown: []string{"api_url"}},
		},
		"key unknown": {
			model: providerModel{APIURL: text(attributeURL), APIKey: types.StringUnknown()},
			want:  settings{apiURL: attributeURL, unknown: []string{"api_key"}},
		},
		"element unknown": {
			model: providerModel{APIURL: text(local), Environment: types.MapValueMust(types.StringType, map[string]attr.Value{
				"KNOWN": text("k"), "UNKNOWN": types.StringUnknown(), "NULL": types.StringNull(),
			})},
			want: settings{apiURL: local, environment: map[string]string{"KNOWN": "k"}, unknown: []string{"environment"}},
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A block gives every attribute a type; a literal of the test need not.
			if c.model.Headers.IsNull() {
				c.model.Headers = types.MapNull(types.StringType)
			}
			if c.model.Environment.IsNull() {
				c.model.Environment = types.MapNull(types.StringType)
			}

			got, diags := resolveSettings(t.Context(), c.model, func(name string) string { return c.environment[name] })
			if failed := onlyError(diags); failed != c.fails {
				t.Fatalf("error at %q, want %q: %v", failed, c.fails, diags)
			}
			if c.fails == "" {
				expectSettings(t, got, withDefaults(c.want, c.model))
			}
		})
	}
}

// withDefaults fills in what the provider block did not say.
func withDefaults(s settings, model providerModel) settings {
	if s.workingDir == "" {
		s.workingDir = "/workspace"
	}
	if s.pythonExecutable == "" {
		s.pythonExecutable = "python3"
	}
	if s.timeout == 0 {
		s.timeout = 5 * time.Minute
	}
	s.wakeOnRefresh = model.WakeOnRefresh.IsNull()

	return s
}

func expectSettings(t *testing.T, got, want settings) {
	t.Helper()

	if !maps.Equal(got.headers, want.headers) {
		t.Errorf("headers %v, want %v", got.headers, want.headers)
	}
	if !maps.Equal(got.environment, want.environment) {
		t.Errorf("environment %v, want %v", got.environment, want.environment)
	}
	if strings.Join(got.unknown, " ") != strings.Join(want.unknown, " ") {
		t.Errorf("unknown %v, want %v", got.unknown, want.unknown)
	}

	for _, c := range []struct{ name, got, want string }{
		{"api_url", got.apiURL, want.apiURL},
		{"api_key", got.apiKey, want.apiKey},
		{"working_dir", got.workingDir, want.workingDir},
		{"python_executable", got.pythonExecutable, want.pythonExecutable},
		{"timeout", got.timeout.String(), want.timeout.String()},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
	if got.wakeOnRefresh != want.wakeOnRefresh {
		t.Errorf("wake_on_refresh is %t", got.wakeOnRefresh)
	}
}
