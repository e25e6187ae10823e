package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var (
	_ resource.ResourceWithConfigure   = (*directoryResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*directoryResource)(nil)
	_ resource.ResourceWithImportState = (*directoryResource)(nil)
)

func newDirectoryResource() resource.Resource {
	return &directoryResource{}
}

type directoryResource struct {
	resourceBase
}

type directoryModel struct {
	SandboxID types.String   `tfsdk:"sandbox_id"`
	Source    types.String   `tfsdk:"source"`
	Path      types.String   `tfsdk:"path"`
	Excludes  types.Set      `tfsdk:"excludes"`
	Files     types.Map      `tfsdk:"files"`
	SHA256    types.String   `tfsdk:"sha256"`
	Revision  types.String   `tfsdk:"revision"`
	Timeouts  timeouts.Value `tfsdk:"timeouts"`
}

func (r *directoryResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_directory"
}

func (r *directoryResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = directorySchema(ctx)
}

// ModifyPlan computes from the local directory alone what the one in the
// sandbox is going to hold, and with it whether there is anything to write.
func (r *directoryResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}

	var (
		plan  directoryModel
		prior *directoryModel
	)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	if resp.Diagnostics.HasError() {
		return
	}

	local, known := plan.scan(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	plan.Files, plan.SHA256, plan.Revision = types.MapUnknown(types.StringType), types.StringUnknown(), types.StringUnknown()
	if known {
		defer local.Close()

		plan.hold(local.Tree)
		if prior != nil && prior.holds(plan) {
			plan.Revision = prior.Revision
		}
	}

	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("files"), plan.Files)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("sha256"), plan.SHA256)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("revision"), plan.Revision)...)
}

// holds reports whether the directory, as the last refresh saw it, is what is
// planned. A refresh takes the revision away when it is no directory.
func (m *directoryModel) holds(plan directoryModel) bool {
	return m.SandboxID.Equal(plan.SandboxID) && m.Path.Equal(plan.Path) && m.SHA256.Equal(plan.SHA256) && !m.Revision.IsNull()
}

// scan reads the local directory. It cannot be known while a part of the
// configuration is not.
func (m *directoryModel) scan(ctx context.Context, diags *diag.Diagnostics) (local *localTree, known bool) {
	excluded, known := excluder(ctx, m.Excludes, diags)
	if diags.HasError() || !known || m.Source.IsUnknown() {
		return nil, false
	}

	local, err := scanTree(m.Source.ValueString(), excluded)
	if err != nil {
		diags.AddAttributeError(path.Root("source"), "Local directory cannot be read", sentence(err))
		return nil, false
	}

	target := bridge.Workspace
	if !m.Path.IsUnknown() {
		target, err = bridge.CleanTreePath(m.Path.ValueString())
	}
	if err == nil {
		err = local.Validate(target)
	}
	if err != nil {
		local.Close()
		diags.AddAttributeError(path.Root("source"), "Local directory cannot be sent", sentence(err))
		return nil, false
	}

	return local, true
}

func (r *directoryResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model directoryModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	limit, diags := model.Timeouts.Create(ctx, defaultFileTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	begun := r.upload(ctx, &model, nil, nil, resp.Private, &resp.Diagnostics)
	switch {
	case !resp.Diagnostics.HasError():
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	case begun:
		// Kept, and marked by Terraform as tainted, so that it is cleared away, with
		// the files that may be there.
		model.SHA256, model.Revision = types.StringNull(), types.StringNull()
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

func (r *directoryResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model directoryModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	was, diags := recallTree(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	limit, diags := model.Timeouts.Read(ctx, defaultFileTimeout)
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

	info, err := r.look(ctx, sandbox, &model, was)
	switch {
	case err != nil:
		addFailure(&resp.Diagnostics, path.Root("path"), "look at "+model.describe(), err)
		return
	case info == nil:
		return
	case info.Root == bridge.KindMissing:
		resp.State.RemoveResource(ctx)
		return
	}

	model.observe(info)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	if left := stillThere(was, info); len(left) < len(was) {
		resp.Diagnostics.Append(rememberTree(ctx, resp.Private, left)...)
	}
}

// look finds out what there is of the tree. Nil means that it cannot be known
// without starting a container that a refresh may not start.
func (r *directoryResource) look(ctx context.Context, sandbox *bridge.Sandbox, model *directoryModel, was bridge.Tree) (*bridge.TreeInfo, error) {
	missing := &bridge.TreeInfo{Root: bridge.KindMissing}

	return refreshed(ctx, r.conn, r.conn.mayAsk(sandbox), missing, nil, func() (*bridge.TreeInfo, error) {
		return sandbox.InspectTree(ctx, model.Path.ValueString(), was)
	})
}

func (r *directoryResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model, prior directoryModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	was, diags := recallTree(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	limit, diags := model.Timeouts.Update(ctx, defaultFileTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	// A known revision is the state's own: the sandbox holds already what it
	// should, and only the way in which the configuration says so has changed.
	if model.Revision.IsUnknown() {
		ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
		defer cancel()

		begun := r.update(ctx, &model, was, resp.Private, &resp.Diagnostics)
		if resp.Diagnostics.HasError() {
			if begun {
				prior.Revision = types.StringNull() // so that the next plan writes again
				resp.Diagnostics.Append(resp.State.Set(ctx, &prior)...)
			}
			return
		}
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// update looks at what is there now, so that only what differs is sent.
func (r *directoryResource) update(
	ctx context.Context, model *directoryModel, was bridge.Tree, private privateState, diags *diag.Diagnostics,
) (begun bool) {
	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), diags)
	if sandbox == nil {
		return false
	}

	seen, err := sandbox.InspectTree(ctx, model.Path.ValueString(), was)
	if err != nil {
		addFailure(diags, path.Root("path"), "look at "+model.describe(), err)
		return false
	}

	return r.upload(ctx, model, was, seen, private, diags)
}

// upload puts the local directory into the sandbox, and records in the model
// what is there afterwards. After an error, begun tells whether a part of it may
// be there.
func (r *directoryResource) upload(
	ctx context.Context, model *directoryModel, was bridge.Tree, seen *bridge.TreeInfo, private privateState, diags *diag.Diagnostics,
) (begun bool) {
	local, _ := model.scan(ctx, diags)
	if local == nil {
		return false
	}
	defer local.Close()

	if planned := model.SHA256; !planned.IsUnknown() && planned.ValueString() != local.SHA256() {
		addDirectoryChanged(diags, fmt.Sprintf("%s is not what it was when the plan was made", model.Source.ValueString()))
		return false
	}

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), diags)
	if sandbox == nil {
		return false
	}

	err := sandbox.UploadTree(ctx, bridge.TreeUpload{Path: model.Path.ValueString(), Tree: local.Tree, Was: was, Seen: seen, Open: local.open})

	var incomplete *bridge.TreeIncompleteError
	switch {
	case err == nil:
		model.hold(local.Tree)
		model.Revision = types.StringValue(newRevision())
		diags.Append(rememberTree(ctx, private, local.Tree)...)

	case errors.Is(err, bridge.ErrContentChanged):
		addDirectoryChanged(diags, err.Error())

	case errors.As(err, &incomplete):
		addFailure(diags, path.Root("path"), "write "+model.describe(), err)
		model.hold(local.Tree)
		diags.Append(rememberTree(ctx, private, eitherTree(was, local.Tree))...)
		return true

	default:
		addFailure(diags, path.Root("path"), "write "+model.describe(), err)
	}

	return false
}

func addDirectoryChanged(diags *diag.Diagnostics, what string) {
	diags.AddAttributeError(path.Root("source"), "Local directory changed after the plan", what+", so nothing was written. Plan again.")
}

func (r *directoryResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model directoryModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	was, diags := model.lastPut(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	limit, diags := model.Timeouts.Delete(ctx, defaultFileTimeout)
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

	if r.conn.provenAsleep(ctx, sandbox) {
		return
	}

	if err := sandbox.RemoveTree(ctx, model.Path.ValueString(), was); err != nil && !bridge.IsAsleep(err) {
		addFailure(&resp.Diagnostics, path.Root("path"), "remove "+model.describe(), err)
		var incomplete *bridge.TreeIncompleteError
		if errors.As(err, &incomplete) {
			// Whoever keeps it after all has to write it.
			model.Revision = types.StringNull()
			resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
		}
	}
}

func (r *directoryResource) ImportState(_ context.Context, _ resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resp.Diagnostics.AddError("A directory cannot be imported",
		"Which local directory it came from, and which of its files are meant, cannot be known from the sandbox. "+
			"Declare it and apply: everything is sent once, and what is there already is taken over.")
}
