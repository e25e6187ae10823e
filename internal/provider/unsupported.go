package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// unsupported is an attribute that exists to be refused. Other sandbox services
// have it, so it is tried; were it unknown here, Terraform would only say so,
// and were it ignored, a sandbox would be believed to be cut off that is not.
type unsupported struct {
	name   string
	reason string
}

// unsupportedModel is the values of those attributes. Every object that makes a
// sandbox embeds it.
type unsupportedModel struct {
	NetworkPolicy types.Dynamic `tfsdk:"network_policy"`
	AllowedHosts  types.Dynamic `tfsdk:"allowed_hosts"`
	GPU           types.Dynamic `tfsdk:"gpu"`
}

// refuseUnsupported catches the values that were unknown when the plan was made.
func (m *unsupportedModel) refuseUnsupported(diags *diag.Diagnostics) {
	values := map[string]types.Dynamic{
		"network_policy": m.NetworkPolicy,
		"allowed_hosts":  m.AllowedHosts,
		"gpu":            m.GPU,
	}

	for _, refused := range unsupportedAttributes() {
		refused.refuse(values[refused.name], path.Root(refused.name), diags)
	}
}

// unsupportedAttributes are those of whatever makes a sandbox.
func unsupportedAttributes() []unsupported {
	return []unsupported{
		{
			name: "network_policy",
			reason: "The bridge has no way to set a network policy for a sandbox: its container would keep full access to the " +
				"internet, while this configuration says otherwise. Access can only be restricted for all sandboxes of a bridge, in " +
				"the source of its Worker: set `enableInternet = false` on its Sandbox class, with `allowedHosts` or an outbound " +
				"handler for what shall be let through, and deploy it. Then leave this attribute out.",
		},
		{
			name: "allowed_hosts",
			reason: "The bridge has no way to limit the hosts that a sandbox reaches: its container would keep full access to the " +
				"internet, while this configuration says otherwise. Hosts can only be limited for all sandboxes of a bridge, in " +
				"the source of its Worker: set `enableInternet = false` and `allowedHosts` on its Sandbox class and deploy it. " +
				"Then leave this attribute out.",
		},
		{
			name: "gpu",
			reason: "Cloudflare's containers have no GPU, and the bridge has no setting for one. Models can be run on Workers AI " +
				"instead, over its HTTP interface from inside the sandbox. CPU and memory are set for all sandboxes of a bridge, by " +
				"`instance_type` in the configuration of its Worker. Then leave this attribute out.",
		},
	}
}

// attribute takes a value of any type, so that every spelling is refused with
// the reason and none with a type error.
func (u unsupported) attribute() schema.DynamicAttribute {
	return schema.DynamicAttribute{
		MarkdownDescription: u.description(),
		Optional:            true,
		Validators:          []validator.Dynamic{u},
	}
}

// ephemeralAttribute is the same for ephemeral resources.
func (u unsupported) ephemeralAttribute() ephemeralschema.DynamicAttribute {
	return ephemeralschema.DynamicAttribute{
		MarkdownDescription: u.description(),
		Optional:            true,
		Validators:          []validator.Dynamic{u},
	}
}

func (u unsupported) description() string {
	return "Cannot be set; any value is an error at plan time. " + u.reason
}

// refuse reports a value, whatever it is. Unknown values pass until they are
// known; a value can be null or unknown of a type that is known already.
func (u unsupported) refuse(value types.Dynamic, at path.Path, diags *diag.Diagnostics) {
	if value.IsNull() || value.IsUnderlyingValueNull() || value.IsUnknown() || value.IsUnderlyingValueUnknown() {
		return
	}

	diags.AddAttributeError(at, u.name+" cannot be applied", u.reason)
}

func (u unsupported) Description(context.Context) string {
	return "not set"
}

func (u unsupported) MarkdownDescription(ctx context.Context) string {
	return u.Description(ctx)
}

func (u unsupported) ValidateDynamic(_ context.Context, req validator.DynamicRequest, resp *validator.DynamicResponse) {
	u.refuse(req.ConfigValue, req.Path, &resp.Diagnostics)
}
