package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/ephemeral/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	// renewAfter is how long the sandbox is left alone. It sleeps after ten idle
	// minutes (BRIDGE.md, "Life of a container"), so that even the second renewal
	// may be late.
	renewAfter = 4 * time.Minute

	// cleanupTimeout is for the removal of what could not be opened, whose own
	// time may be up.
	cleanupTimeout = time.Minute
)

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*sandboxEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithRenew     = (*sandboxEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*sandboxEphemeral)(nil)
)

func newSandboxEphemeral() ephemeral.EphemeralResource {
	return &sandboxEphemeral{}
}

type sandboxEphemeral struct {
	ephemeralBase
}

type sandboxEphemeralModel struct {
	unsupportedModel

	ID         types.String   `tfsdk:"id"`
	InstanceID types.String   `tfsdk:"instance_id"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (r *sandboxEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

func (r *sandboxEphemeral) Schema(ctx context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox for exactly one run of Terraform: started when the run needs it, kept awake while it lasts, and destroyed at its " +
			"end, also when the run fails. Nothing of it is in the plan or the state.\n\n" +
			"**A plan is a run, and so is an apply**: each has a sandbox of its own, unless an argument is known only at apply. What refers to it has " +
			"to be ephemeral as well, such as the ephemeral resource `cloudflaresandbox_exec`; for files and everything else that lasts there is the " +
			"resource `cloudflaresandbox_sandbox`.\n\n" +
			"Should Terraform itself be killed, the sandbox is left behind, and its container sleeps after ten idle minutes. The same holds when a run " +
			"fails and the bridge cannot be reached, or takes longer than the two seconds that Terraform leaves a provider at the end of such a run.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				MarkdownDescription: "Id of the sandbox.",
				Computed:            true,
			},
			"instance_id": schema.StringAttribute{
				MarkdownDescription: "Id of the container that runs the sandbox. It is the same to the end: a container that is lost meanwhile is an error.",
				Computed:            true,
			},
			"timeouts": openTimeoutAttribute(ctx, "How long to wait for the container to start, also for one to become free when all that the bridge "+
				"may run are in use. Default: `5m`."),
		},
	}

	for _, refused := range unsupportedAttributes() {
		resp.Schema.Attributes[refused.name] = refused.ephemeralAttribute()
	}
}

// openTimeoutAttribute is the stock attribute with the provider's own check of
// durations, as in timeoutsAttribute.
func openTimeoutAttribute(ctx context.Context, description string) schema.Attribute {
	attribute, ok := timeouts.AttributesWithOpts(ctx, timeouts.Opts{OpenDescription: description}).(schema.SingleNestedAttribute)
	if !ok {
		return timeouts.Attributes(ctx)
	}

	attribute.MarkdownDescription = "How long opening may take, as a duration such as `90s` or `10m`."
	if open, isString := attribute.Attributes["open"].(schema.StringAttribute); isString {
		open.Validators = []validator.String{duration()}
		attribute.Attributes["open"] = open
	}

	return attribute
}

// openSandbox is what is remembered from opening to closing.
type openSandbox struct {
	ID       string `json:"id"`
	Instance string `json:"instance"`
}

// openSandboxKey is where Terraform keeps it.
const openSandboxKey = "sandbox"

func (r *sandboxEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model sandboxEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	model.refuseUnsupported(&resp.Diagnostics)
	r.conn.requireKnown(&resp.Diagnostics)
	limit, diags := model.Timeouts.Open(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	opened := r.open(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	private, err := json.Marshal(opened)
	if err != nil {
		resp.Diagnostics.AddError("Sandbox operation failed", sentence(err))
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, openSandboxKey, private)...)
	resp.RenewAt = time.Now().Add(renewAfter)

	model.ID, model.InstanceID = types.StringValue(opened.ID), types.StringValue(opened.Instance)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
}

// open makes a sandbox and starts its container. Terraform closes only what was
// opened, so nothing may be left of what was not. The rest is seen to in Serve.
func (r *sandboxEphemeral) open(ctx context.Context, diags *diag.Diagnostics) openSandbox {
	id, err := r.conn.client.CreateSandbox(ctx)
	if err != nil {
		addFailure(diags, path.Empty(), "create a sandbox", err)
		return openSandbox{}
	}

	sandbox, err := r.conn.client.Sandbox(id)
	if err != nil {
		addFailure(diags, path.Empty(), "use the new sandbox", err)
		return openSandbox{}
	}

	instance, err := sandbox.Start(ctx)
	if err == nil {
		r.conn.open.add(id, r.conn.client)
		return openSandbox{ID: id, Instance: instance}
	}
	addFailure(diags, path.Empty(), fmt.Sprintf("start the container of sandbox %s", id), err)

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := r.conn.client.DestroySandbox(ctx, id); err != nil {
		addFailure(diags, path.Empty(), fmt.Sprintf("destroy sandbox %s, whose container may have started all the same; "+
			"it sleeps after ten idle minutes", id), err)
	}

	return openSandbox{}
}

func (r *sandboxEphemeral) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	opened := recallSandbox(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), defaultSandboxTimeout)
	defer cancel()

	sandbox := r.conn.sandbox(types.StringValue(opened.ID), path.Empty(), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	// To ask is enough to keep it awake.
	instance, err := sandbox.Instance(ctx)
	if err == nil && instance != opened.Instance {
		err = &bridge.RecycledError{ID: opened.ID, Expected: opened.Instance, Actual: instance}
	}
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), fmt.Sprintf("keep sandbox %s awake", opened.ID), err)
		return
	}

	resp.RenewAt = time.Now().Add(renewAfter)
}

func (r *sandboxEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	opened := recallSandbox(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), defaultSandboxTimeout)
	defer cancel()

	if err := r.conn.client.DestroySandbox(ctx, opened.ID); err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), fmt.Sprintf("destroy sandbox %s", opened.ID), err)
		return
	}
	r.conn.open.remove(opened.ID)
}

// recallSandbox reads back what Open has remembered.
func recallSandbox(ctx context.Context, private privateReader, diags *diag.Diagnostics) openSandbox {
	data, more := private.GetKey(ctx, openSandboxKey)
	diags.Append(more...)

	var opened openSandbox
	if err := json.Unmarshal(data, &opened); err != nil && !diags.HasError() {
		diags.AddError("Unexpected private data", "What was opened cannot be told from it. This is a defect of the provider; please report it.")
	}

	return opened
}
