package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// execOverhead is what running a command may take beside the command itself:
// the start of a container, and the transfer of what goes in and comes out.
const execOverhead = 5 * time.Minute

var (
	_ resource.ResourceWithConfigure   = (*execResource)(nil)
	_ resource.ResourceWithImportState = (*execResource)(nil)
)

func newExecResource() resource.Resource {
	return &execResource{}
}

type execResource struct {
	resourceBase
}

type execResourceModel struct {
	execModel

	Triggers             types.Map      `tfsdk:"triggers"`
	EnvironmentWO        types.Map      `tfsdk:"environment_wo"`
	EnvironmentWOVersion types.Int64    `tfsdk:"environment_wo_version"`
	OnDestroy            types.Object   `tfsdk:"on_destroy"`
	InstanceID           types.String   `tfsdk:"instance_id"`
	Revision             types.String   `tfsdk:"revision"`
	Timeouts             timeouts.Value `tfsdk:"timeouts"`
}

func (r *execResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

func (r *execResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = execResourceSchema(ctx)
}

func (r *execResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var (
		model   execResourceModel
		secrets types.Map
	)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("environment_wo"), &secrets)...)
	limit, diags := model.Timeouts.Create(ctx, model.limit(r.conn.settings)+execOverhead)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	instance, err := sandbox.Wake(ctx)
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), "reach sandbox "+model.SandboxID.ValueString(), err)
		return
	}
	model.InstanceID, model.Revision = types.StringValue(instance), types.StringValue(newRevision())

	command := model.withSecrets(secrets)
	outcome, diags := command.run(ctx, r.conn, execution{sandboxID: model.SandboxID, instance: instance})
	resp.Diagnostics.Append(diags...)

	// What ran, or may have, is in the state whatever became of it: an error
	// taints it then, and on_destroy is there to clear up.
	if outcome.started() {
		model.resultModel = newResultModel(outcome.result)
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

// Read runs nothing. What the command did is gone with its container, so all
// there is to see is whether that one is still there.
func (r *execResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model execResourceModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	limit, diags := model.Timeouts.Read(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.conn.reachable() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	lost, err := r.conn.containerLost(ctx, sandbox, r.conn.mayAsk(sandbox), model.InstanceID.ValueString())
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), "look at sandbox "+model.SandboxID.ValueString(), err)
		return
	}
	if lost {
		resp.State.RemoveResource(ctx)
	}
}

// Update is for what does not change what ran.
func (r *execResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model execResourceModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

func (r *execResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model execResourceModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	command := model.onDestroy(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || command == nil {
		return
	}

	limit, diags := model.Timeouts.Delete(ctx, command.limit(r.conn.settings)+execOverhead)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	lost := r.conn.provenAsleep(ctx, sandbox)
	if !lost {
		var err error
		if lost, err = r.conn.containerLost(ctx, sandbox, true, model.InstanceID.ValueString()); err != nil {
			addFailure(&resp.Diagnostics, path.Root("on_destroy"), "look at sandbox "+model.SandboxID.ValueString(), err)
			return
		}
	}

	if !lost {
		outcome, diags := command.run(ctx, r.conn, execution{
			sandboxID: model.SandboxID, instance: model.InstanceID.ValueString(), at: path.Root("on_destroy"),
		})
		if outcome.started() || !isRecycled(outcome.err) {
			for _, failure := range diags {
				resp.Diagnostics.AddAttributeError(path.Root("on_destroy"), failure.Summary(), failure.Detail()+onDestroyFailed)
			}
			return
		}
	}

	resp.Diagnostics.AddAttributeWarning(path.Root("on_destroy"), "on_destroy was not run",
		"The container in which the command had run is gone, and everything in it with it, so there is nothing left to clear up. "+
			"Nothing was run in the new one.")
}

// onDestroyFailed is the next step after the reason.
const onDestroyFailed = "\n\nThis was on_destroy, and until it succeeds the resource stays. Correct it, apply that, and destroy again. " +
	"A tainted resource would be replaced instead, for which the old on_destroy has to succeed first: run terraform untaint before."

// ImportState explains why there is none.
func (r *execResource) ImportState(_ context.Context, _ resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resp.Diagnostics.AddError("A command cannot be imported",
		"Nothing in a sandbox tells which commands ran in it, or with which result. "+
			"Declare it as a new resource; if it must not run again, make that a condition in its script.")
}
