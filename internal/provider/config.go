package provider

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	apiURLVariable = "CLOUDFLARE_SANDBOX_API_URL"
	apiKeyVariable = "CLOUDFLARE_SANDBOX_API_KEY"

	defaultPythonExecutable = "python3"
	defaultCommandTimeout   = 5 * time.Minute
)

// providerModel is the provider block.
type providerModel struct {
	APIURL           types.String `tfsdk:"api_url"`
	APIKey           types.String `tfsdk:"api_key"`
	Headers          types.Map    `tfsdk:"headers"`
	WorkingDir       types.String `tfsdk:"working_dir"`
	Environment      types.Map    `tfsdk:"environment"`
	PythonExecutable types.String `tfsdk:"python_executable"`
	Timeout          types.String `tfsdk:"timeout"`
	WakeOnRefresh    types.Bool   `tfsdk:"wake_on_refresh"`
}

// settings is the provider block after precedence: the attribute, then the
// environment variable, then the default.
type settings struct {
	apiURL           string
	apiKey           string
	headers          map[string]string
	workingDir       string
	environment      map[string]string
	pythonExecutable string
	timeout          time.Duration
	wakeOnRefresh    bool

	// unknown names the attributes that have no value yet, in the order of the
	// provider block. It is empty at apply.
	unknown []string
}

// environmentVariable reads a variable of Terraform's own environment.
func environmentVariable(name string) string {
	return os.Getenv(name)
}

// resolveSettings applies precedence and defaults, and refuses what could
// never work. An empty string counts as not set.
func resolveSettings(ctx context.Context, config providerModel, getenv func(string) string) (settings, diag.Diagnostics) {
	var diags diag.Diagnostics

	s := settings{
		// What is read from a file or another program often ends in a newline.
		apiURL:           strings.TrimSpace(firstSet(config.APIURL, getenv(apiURLVariable))),
		apiKey:           firstSet(config.APIKey, getenv(apiKeyVariable)),
		headers:          knownStrings(ctx, config.Headers, &diags),
		workingDir:       bridge.Workspace,
		environment:      knownStrings(ctx, config.Environment, &diags),
		pythonExecutable: firstSet(config.PythonExecutable, defaultPythonExecutable),
		timeout:          defaultCommandTimeout,
		wakeOnRefresh:    config.WakeOnRefresh.IsNull() || config.WakeOnRefresh.ValueBool(),
		unknown:          unknownAttributes(ctx, config),
	}

	if text := config.WorkingDir.ValueString(); text != "" {
		directory, err := bridge.CleanDirectory(text)
		if err != nil {
			diags.AddAttributeError(path.Root("working_dir"), "Invalid directory", sentence(err))
		}
		s.workingDir = directory
	}

	if text := config.Timeout.ValueString(); text != "" {
		timeout, err := parseDuration(text)
		if err != nil {
			diags.AddAttributeError(path.Root("timeout"), "Invalid duration", sentence(err))
		}
		s.timeout = timeout
	}

	// What is unknown is neither missing nor wrong.
	if config.APIURL.IsUnknown() {
		return s, diags
	}

	if s.apiURL == "" {
		diags.AddAttributeError(path.Root("api_url"), "No URL of a bridge",
			"The provider reaches sandboxes through the bridge, a Worker that is deployed once per Cloudflare account. "+
				"Set api_url in the provider block or the environment variable "+apiURLVariable+" to its URL.")
		return s, diags
	}

	if !config.APIKey.IsUnknown() {
		checkKeyUse(s.apiURL, s.apiKey, &diags)
	}

	return s, diags
}

// checkKeyUse refuses to go without a key, or to send one in the clear, where
// others could take advantage of it.
func checkKeyUse(apiURL, apiKey string, diags *diag.Diagnostics) {
	if bridge.IsLocalURL(apiURL) {
		return
	}

	if apiKey == "" {
		diags.AddAttributeError(path.Root("api_key"), "No key for the bridge",
			"Only a bridge on this machine or in a private network may be used without a key. "+
				"Set api_key in the provider block or the environment variable "+apiKeyVariable+
				" to the value of the bridge's secret SANDBOX_API_KEY.")
		return
	}

	if parsed, err := url.Parse(apiURL); err == nil && parsed.Scheme == "http" {
		diags.AddAttributeError(path.Root("api_url"), "Key over plain http",
			"Over http everyone on the way could read the key and use it. Write https:// in api_url. "+
				"Only a bridge on this machine or in a private network is spoken to over http.")
	}
}

// unknownAttributes lists the attributes without a value. A map counts as
// unknown as long as one of its elements is.
func unknownAttributes(ctx context.Context, config providerModel) []string {
	attributes := []struct {
		name  string
		value attr.Value
	}{
		{"api_url", config.APIURL},
		{"api_key", config.APIKey},
		{"headers", config.Headers},
		{"working_dir", config.WorkingDir},
		{"environment", config.Environment},
		{"python_executable", config.PythonExecutable},
		{"timeout", config.Timeout},
		{"wake_on_refresh", config.WakeOnRefresh},
	}

	var names []string
	for _, attribute := range attributes {
		if !wholly(ctx, attribute.value) {
			names = append(names, attribute.name)
		}
	}

	return names
}

// unknownConnection names the first attribute that is needed to reach the
// bridge and not known yet; it is empty when the bridge can be reached.
func (s settings) unknownConnection() string {
	for _, name := range []string{"api_url", "api_key", "headers", "wake_on_refresh"} {
		if slices.Contains(s.unknown, name) {
			return name
		}
	}

	return ""
}

// connection is what every object of the provider works with.
type connection struct {
	settings

	// client is nil while the bridge's URL, the key or the headers are unknown,
	// which is never the case at apply.
	client *bridge.Client

	open *openSandboxes
}

// connect builds the client. It does so step by step, so that an error can be
// shown at the attribute that caused it.
func connect(s settings, userAgent string) (*connection, diag.Diagnostics) {
	var diags diag.Diagnostics

	conn := &connection{settings: s}
	if s.unknownConnection() != "" {
		return conn, diags
	}

	config := bridge.Config{
		UserAgent: userAgent,
		Log: func(ctx context.Context, message string, fields map[string]any) {
			tflog.Debug(ctx, message, fields)
		},
	}
	steps := []struct {
		attribute string
		apply     func()
	}{
		{"api_url", func() { config.URL = s.apiURL }},
		{"api_key", func() { config.Key = s.apiKey }},
		{"headers", func() { config.Headers = s.headers }},
	}

	for _, step := range steps {
		step.apply()

		client, err := bridge.New(config)
		if err != nil {
			diags.AddAttributeError(path.Root(step.attribute), fmt.Sprintf("Invalid %s", step.attribute), sentence(err))
			return conn, diags
		}
		conn.client = client
	}

	return conn, diags
}

// firstSet is the attribute's value, or the fallback where it is not set.
func firstSet(value types.String, fallback string) string {
	if text := value.ValueString(); text != "" {
		return text
	}

	return fallback
}

// wholly reports whether a value and all of its elements are known.
func wholly(ctx context.Context, value attr.Value) bool {
	raw, err := value.ToTerraformValue(ctx)

	return err == nil && raw.IsFullyKnown()
}

// knownStrings is a map's known elements; null ones are left out.
func knownStrings(ctx context.Context, value types.Map, diags *diag.Diagnostics) map[string]string {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}

	elements := make(map[string]types.String, len(value.Elements()))
	diags.Append(value.ElementsAs(ctx, &elements, false)...)

	known := make(map[string]string, len(elements))
	for name, element := range elements {
		if !element.IsNull() && !element.IsUnknown() {
			known[name] = element.ValueString()
		}
	}

	return known
}
