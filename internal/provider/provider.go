// Package provider is the Terraform side of the Cloudflare Sandbox provider:
// schemas, plan logic and state. All that concerns the bridge itself, its
// routes and its peculiarities, is in package bridge.
package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Address is the address under which the provider is installed and served.
const Address = "terraform.local/local/cloudflaresandbox"

var (
	_ provider.Provider                       = (*cloudflareSandboxProvider)(nil)
	_ provider.ProviderWithActions            = (*cloudflareSandboxProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*cloudflareSandboxProvider)(nil)
	_ provider.ProviderWithFunctions          = (*cloudflareSandboxProvider)(nil)
)

// New returns the constructor of the provider that a plugin server asks for.
func New(version string) func() provider.Provider {
	return func() provider.Provider {
		return &cloudflareSandboxProvider{version: version}
	}
}

type cloudflareSandboxProvider struct {
	version string

	open *openSandboxes
}

func (p *cloudflareSandboxProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "cloudflaresandbox"
	resp.Version = p.version
}

func (p *cloudflareSandboxProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sandboxes on Cloudflare's edge, the files in them and the commands that run in them, by way of the " +
			"sandbox bridge: the Worker that Cloudflare publishes and that one deploys once per account.",
		Attributes: map[string]schema.Attribute{
			"api_url": schema.StringAttribute{
				MarkdownDescription: "URL of the bridge, for example `https://cloudflare-sandbox-bridge.example.workers.dev`. " +
					"Slashes at the end are dropped. Required, here or in the environment variable `CLOUDFLARE_SANDBOX_API_URL`; " +
					"the attribute wins and an empty string counts as not set.",
				Optional:   true,
				Validators: []validator.String{bridgeURL()},
			},
			"api_key": schema.StringAttribute{
				MarkdownDescription: "Key of the bridge: the value of its secret `SANDBOX_API_KEY`, sent as a bearer token. " +
					"Can be given in the environment variable `CLOUDFLARE_SANDBOX_API_KEY` instead; the attribute wins and an empty " +
					"string counts as not set. Only a bridge on this machine or in a private network may have no key, and only such a " +
					"bridge may be given a key over plain `http`.",
				Optional:  true,
				Sensitive: true,
			},
			"headers": schema.MapAttribute{
				MarkdownDescription: "More headers for every request, for what stands in front of the bridge. For a bridge behind Cloudflare " +
					"Access: `{ \"CF-Access-Client-Id\" = ..., \"CF-Access-Client-Secret\" = ... }`. What the provider or the connection sets " +
					"itself (such as `User-Agent` or `Content-Type`, and with a key `Authorization`) cannot be set here.",
				ElementType: types.StringType,
				Optional:    true,
				Sensitive:   true,
				Validators:  []validator.Map{mapvalidator.NoNullValues()},
			},
			"working_dir": schema.StringAttribute{
				MarkdownDescription: "Directory in which commands run unless they name their own: an absolute path, or one relative to " +
					"`/workspace`. Default: `/workspace`.",
				Optional:   true,
				Validators: []validator.String{emptyOr(anyDirectory())},
			},
			"environment": schema.MapAttribute{
				MarkdownDescription: "Environment variables of every command. A variable that a command sets itself wins; one that it sets " +
					"to `null` is left out. The values travel in a file that is deleted as soon as it is read, so they are in no command line and in no log.",
				ElementType: types.StringType,
				Optional:    true,
				Sensitive:   true,
				Validators:  environmentVariables(),
			},
			"python_executable": schema.StringAttribute{
				MarkdownDescription: "Python interpreter in the sandbox, a name or an absolute path. Default: `python3`.",
				Optional:            true,
			},
			"timeout": schema.StringAttribute{
				MarkdownDescription: "Time limit of every command that has none of its own, for example `90s` or `1h30m`, of at most `24h`. Default: `5m`.",
				Optional:            true,
				Validators:          []validator.String{emptyOr(duration())},
			},
			"wake_on_refresh": schema.BoolAttribute{
				MarkdownDescription: "Whether a refresh may start containers. A sandbox sleeps after ten idle minutes, and asking anything of it " +
					"starts a fresh, empty container. With `true`, the default, every plan therefore tells what is really there. With `false` " +
					"a refresh of a resource starts nothing: what is in the state is taken as it is, unless the bridge's pool figures " +
					"alone prove that no container runs at all. Data sources that run a command or read a file start a container in any case.",
				Optional: true,
			},
		},
	}
}

func (p *cloudflareSandboxProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}

	settings, diags := resolveSettings(ctx, config, environmentVariable)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	userAgent := fmt.Sprintf("Terraform/%s terraform-provider-cloudflaresandbox/%s", req.TerraformVersion, p.version)
	conn, diags := connect(settings, userAgent)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	// Without a warning a plan that could not look would read like one that did.
	if attribute := conn.unknownConnection(); attribute != "" {
		resp.Diagnostics.AddAttributeWarning(path.Root(attribute), "Planned without asking the bridge",
			fmt.Sprintf("%s is known only after something else is applied, so the bridge is not asked yet. "+
				"Resources that are already in the state are taken to be as they were left. "+
				"Once it is known, a further plan compares them with what is there.", attribute))
	}

	conn.open = p.open
	resp.ResourceData = conn
	resp.DataSourceData = conn
	resp.EphemeralResourceData = conn
	resp.ActionData = conn
}

func (p *cloudflareSandboxProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newSandboxResource,
		newFileResource,
		newDirectoryResource,
		newExecResource,
		newTunnelResource,
		newBucketMountResource,
	}
}

func (p *cloudflareSandboxProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newExecDataSource,
		newPythonDataSource,
		newFileDataSource,
		newBridgeDataSource,
		newArchiveDataSource,
	}
}

func (p *cloudflareSandboxProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		newSandboxEphemeral,
		newExecEphemeral,
		newPythonEphemeral,
	}
}

func (p *cloudflareSandboxProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{
		newExecAction,
		newPrimePoolAction,
		newShutdownPrewarmedAction,
	}
}

func (p *cloudflareSandboxProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		newWorkspacePathFunction,
		newShellJoinFunction,
	}
}
