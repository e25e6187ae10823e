package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// defaultSandboxTimeout is long because a start waits for a free container when
// the bridge's max_instances are all in use.
const defaultSandboxTimeout = 5 * time.Minute

var (
	_ resource.ResourceWithConfigure   = (*sandboxResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*sandboxResource)(nil)
	_ resource.ResourceWithIdentity    = (*sandboxResource)(nil)
	_ resource.ResourceWithImportState = (*sandboxResource)(nil)
)

func newSandboxResource() resource.Resource {
	return &sandboxResource{}
}

type sandboxResource struct {
	resourceBase
}

type sandboxModel struct {
	unsupportedModel

	ID         types.String   `tfsdk:"id"`
	InstanceID types.String   `tfsdk:"instance_id"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (r *sandboxResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandbox"
}

func (r *sandboxResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A sandbox: a container of its own, with a lasting id.\n\n" +
			"The id lasts, the container does not. After ten idle minutes it sleeps, and whatever is asked of the sandbox next starts " +
			"a fresh, empty one under the same id; a crash has the same effect. `instance_id` tells one container from the next, and " +
			"every refresh compares it, so that what was in a lost container is planned again.\n\n" +
			"All sandboxes of a bridge have the same image and instance type; they are set where the bridge is deployed. The idle time is " +
			"fixed, and there are no labels.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				MarkdownDescription: "Id of the sandbox.",
				Computed:            true,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"instance_id": schema.StringAttribute{
				MarkdownDescription: "Id of the container that runs the sandbox. It is another one after the sandbox slept or crashed; refer to it " +
					"from what has to be done again then. Null while the sandbox is known to have no container; the next apply starts one.",
				Computed:      true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"timeouts": timeoutsAttribute(ctx, timeouts.Opts{
				CreateDescription: "How long to wait for the container to start, also for one to become free when all that the bridge may run are in use. Default: `5m`.",
				ReadDescription:   "Default: `5m`.",
				UpdateDescription: "How long to wait for the container to start again. Default: `5m`.",
				DeleteDescription: "Default: `5m`.",
			}),
		},
	}

	for _, refused := range unsupportedAttributes() {
		resp.Schema.Attributes[refused.name] = refused.attribute()
	}
}

// ModifyPlan plans to wake a sandbox that was found without a container.
func (r *sandboxResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}

	var instance types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("instance_id"), &instance)...)
	if !resp.Diagnostics.HasError() && instance.IsNull() {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("instance_id"), types.StringUnknown())...)
	}
}

func (r *sandboxResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model sandboxModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	model.refuseUnsupported(&resp.Diagnostics)
	limit, diags := model.Timeouts.Create(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	id, err := r.conn.client.CreateSandbox(ctx)
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), "create a sandbox", err)
		return
	}

	// From here on the id is in the state, whatever happens, so that a container
	// that did start can be destroyed.
	model.ID = types.StringValue(id)
	model.InstanceID = types.StringNull()
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}

	model.start(ctx, r.conn, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (r *sandboxResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model sandboxModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Read(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.conn.reachable() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	sandbox := r.conn.sandbox(model.ID, path.Root("id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	instance, err := r.observe(ctx, sandbox, model.InstanceID)
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), fmt.Sprintf("look at sandbox %s", model.ID.ValueString()), err)
		return
	}

	model.InstanceID = instance
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// observe finds out which container runs the sandbox; null means none.
func (r *sandboxResource) observe(ctx context.Context, sandbox *bridge.Sandbox, recorded types.String) (types.String, error) {
	return refreshed(ctx, r.conn, r.conn.mayAsk(sandbox), types.StringNull(), recorded, func() (types.String, error) {
		instance, err := sandbox.Instance(ctx)

		return types.StringValue(instance), err
	})
}

func (r *sandboxResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model sandboxModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	model.refuseUnsupported(&resp.Diagnostics)
	limit, diags := model.Timeouts.Update(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	if model.InstanceID.IsUnknown() {
		ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
		defer cancel()

		model.InstanceID = types.StringNull()
		model.start(ctx, r.conn, &resp.Diagnostics)
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (r *sandboxResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model sandboxModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	limit, diags := model.Timeouts.Delete(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	if err := r.conn.client.DestroySandbox(ctx, model.ID.ValueString()); err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), fmt.Sprintf("destroy sandbox %s", model.ID.ValueString()), err)
	}
}

// start starts the sandbox's container and records which one it is.
func (m *sandboxModel) start(ctx context.Context, conn *connection, diags *diag.Diagnostics) {
	sandbox := conn.sandbox(m.ID, path.Root("id"), diags)
	if sandbox == nil {
		return
	}

	instance, err := sandbox.Start(ctx)
	if err != nil {
		addFailure(diags, path.Empty(), fmt.Sprintf("start the container of sandbox %s", m.ID.ValueString()), err)
		return
	}

	m.InstanceID = types.StringValue(instance)
}
