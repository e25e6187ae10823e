package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const sandboxIDDescription = "Id of the sandbox, usually `cloudflaresandbox_sandbox.NAME.id`."

// sandboxIDAttribute is the attribute of every resource that lives in a sandbox.
func sandboxIDAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: sandboxIDDescription + " Another id makes the resource anew.",
		Required:            true,
		Validators:          []validator.String{sandboxID()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}

// sandboxIDArgument is the same for data sources.
func sandboxIDArgument() datasourceschema.StringAttribute {
	return datasourceschema.StringAttribute{
		MarkdownDescription: sandboxIDDescription,
		Required:            true,
		Validators:          []validator.String{sandboxID()},
	}
}

// computedString is an attribute that stays as it is for as long as the
// resource is not made anew.
func computedString(description string) schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: description,
		Computed:            true,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// timeoutsAttribute is the stock attribute, with the provider's own check of
// durations added: the stock one lets negative ones pass.
func timeoutsAttribute(ctx context.Context, opts timeouts.Opts) schema.Attribute {
	// An operation that asks nothing of the bridge is not described, and has none.
	opts.Create, opts.Read = opts.CreateDescription != "", opts.ReadDescription != ""
	opts.Update, opts.Delete = opts.UpdateDescription != "", opts.DeleteDescription != ""

	attribute, ok := timeouts.Attributes(ctx, opts).(schema.SingleNestedAttribute)
	if !ok {
		return timeouts.Attributes(ctx, opts)
	}

	attribute.MarkdownDescription = "How long each operation may take, as durations such as `90s` or `10m`."
	for name, nested := range attribute.Attributes {
		if text, isString := nested.(schema.StringAttribute); isString {
			text.Validators = []validator.String{duration()}
			attribute.Attributes[name] = text
		}
	}

	return attribute
}

// sameSpelling keeps the state's spelling of a value where the configuration
// writes the same thing another way, so that it is not a change.
type sameSpelling struct {
	canonical func(string) (string, error)
}

var _ planmodifier.String = sameSpelling{}

func (m sameSpelling) Description(context.Context) string {
	return "Another spelling of the same value is no change."
}

func (m sameSpelling) MarkdownDescription(ctx context.Context) string {
	return m.Description(ctx)
}

func (m sameSpelling) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if m.same(req.StateValue, req.PlanValue) {
		resp.PlanValue = req.StateValue
	}
}

func (m sameSpelling) same(a, b types.String) bool {
	for _, value := range []types.String{a, b} {
		if value.IsNull() || value.IsUnknown() {
			return false
		}
	}

	canonicalA, errA := m.canonical(a.ValueString())
	canonicalB, errB := m.canonical(b.ValueString())

	return errA == nil && errB == nil && canonicalA == canonicalB
}
