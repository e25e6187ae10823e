package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// resourceBase gives a resource its connection. conn is nil until the provider
// is configured, as in `terraform validate`.
type resourceBase struct {
	conn *connection
}

func (b *resourceBase) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	b.conn = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// dataSourceBase gives a data source its connection.
type dataSourceBase struct {
	conn *connection
}

func (b *dataSourceBase) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	b.conn = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// ephemeralBase gives an ephemeral resource its connection.
type ephemeralBase struct {
	conn *connection
}

func (b *ephemeralBase) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	b.conn = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// actionBase gives an action its connection.
type actionBase struct {
	conn *connection
}

func (b *actionBase) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	b.conn = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

func connectionFrom(data any, diags *diag.Diagnostics) *connection {
	if data == nil {
		return nil
	}

	conn, ok := data.(*connection)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("Got %T. This is a defect of the provider; please report it.", data))
	}

	return conn
}

// reachable reports whether the bridge can be asked. It cannot while a plan is
// made whose provider block depends on something not yet applied.
func (c *connection) reachable() bool {
	return c != nil && c.client != nil
}

// requireKnown refuses to go on while the bridge cannot be reached or one of
// the named provider attributes has no value: what is read or opened during a
// plan cannot be planned itself.
func (c *connection) requireKnown(diags *diag.Diagnostics, names ...string) {
	missing := c.unknownConnection()
	for _, name := range names {
		if missing == "" && slices.Contains(c.unknown, name) {
			missing = name
		}
	}

	if missing != "" {
		diags.AddError("Provider is not fully configured yet",
			fmt.Sprintf("The provider's %s is known only after something else is applied, and it is needed before that, for what is read "+
				"or opened during the plan. Apply what it comes from first, with terraform apply -target=.... A data source is also put off "+
				"if its depends_on names that.", missing))
	}
}

// mask keeps the provider's secrets out of everything that is logged under the
// returned context.
func (c *connection) mask(ctx context.Context) context.Context {
	secrets := maskable(slices.Collect(maps.Values(c.environment))...)
	secrets = append(secrets, maskable(slices.Collect(maps.Values(c.headers))...)...)
	secrets = append(secrets, maskable(c.apiKey)...)
	if len(secrets) == 0 {
		return ctx
	}

	return tflog.MaskLogStrings(ctx, secrets...)
}

// maskable is the values that are long enough to be masked, the longest first:
// one value may be a part of another.
func maskable(values ...string) []string {
	secrets := slices.DeleteFunc(values, func(value string) bool { return len(value) < bridge.MinSecretBytes })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })

	return secrets
}

// sandbox is the handle for a sandbox id out of a configuration or a state.
func (c *connection) sandbox(id types.String, at path.Path, diags *diag.Diagnostics) *bridge.Sandbox {
	sandbox, err := c.client.Sandbox(id.ValueString())
	if err != nil {
		diags.AddAttributeError(at, "Invalid sandbox id", sentence(err))
		return nil
	}

	return sandbox
}
