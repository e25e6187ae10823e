package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	// defaultFileTimeout leaves room for large files over slow lines.
	defaultFileTimeout = 20 * time.Minute

	defaultFileMode = "0644"
)

var (
	_ resource.ResourceWithConfigure   = (*fileResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*fileResource)(nil)
	_ resource.ResourceWithIdentity    = (*fileResource)(nil)
	_ resource.ResourceWithImportState = (*fileResource)(nil)
)

func newFileResource() resource.Resource {
	return &fileResource{}
}

type fileResource struct {
	resourceBase
}

type fileModel struct {
	SandboxID        types.String   `tfsdk:"sandbox_id"`
	Path             types.String   `tfsdk:"path"`
	Content          types.String   `tfsdk:"content"`
	ContentBase64    types.String   `tfsdk:"content_base64"`
	Source           types.String   `tfsdk:"source"`
	ContentWO        types.String   `tfsdk:"content_wo"`
	ContentWOVersion types.Int64    `tfsdk:"content_wo_version"`
	Mode             types.String   `tfsdk:"mode"`
	SHA256           types.String   `tfsdk:"sha256"`
	Size             types.Int64    `tfsdk:"size"`
	Revision         types.String   `tfsdk:"revision"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

func (r *fileResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

func (r *fileResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = fileSchema(ctx)
}

// ModifyPlan computes from the configuration alone what the file is going to
// hold, and with it whether there is anything to write.
func (r *fileResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}

	var (
		config, plan fileModel
		prior        *fileModel
	)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	if resp.Diagnostics.HasError() {
		return
	}

	digest := config.digest(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	planned := planFile(prior, plan, digest)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("sha256"), planned.sha256)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("size"), planned.size)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("revision"), planned.revision)...)
}

func (r *fileResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var config, model fileModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Create(ctx, defaultFileTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	mayBeThere := r.write(ctx, config, &model, resp.Private, &resp.Diagnostics)
	if mayBeThere {
		// Kept, and marked by Terraform as tainted, so that it is removed if it is there.
		model.unwritten()
	}
	if mayBeThere || !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

func (r *fileResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model fileModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
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

	info, err := r.look(ctx, sandbox, &model)
	switch {
	case err != nil:
		addFailure(&resp.Diagnostics, path.Root("path"), "look at "+model.describe(), err)
		return
	case info == nil:
		return
	case info.Kind == bridge.KindMissing && !info.Unreadable:
		resp.State.RemoveResource(ctx)
		return
	}

	if model.imported() {
		resp.Diagnostics.Append(model.adoptContent(ctx, sandbox, *info)...)
	}
	resp.Diagnostics.Append(model.observe(ctx, *info, req.Private)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// look finds out what is at the file's path. Nil means that it cannot be known
// without starting a container that a refresh may not start.
func (r *fileResource) look(ctx context.Context, sandbox *bridge.Sandbox, model *fileModel) (*bridge.FileInfo, error) {
	missing := &bridge.FileInfo{Path: model.Path.ValueString(), Kind: bridge.KindMissing}

	// An import is not a refresh: it can only be answered by looking.
	mayAsk := r.conn.mayAsk(sandbox) || model.imported()

	return refreshed(ctx, r.conn, mayAsk, missing, nil, func() (*bridge.FileInfo, error) {
		infos, err := sandbox.Inspect(ctx, model.Path.ValueString())
		if err != nil {
			return nil, err
		}
		if len(infos) != 1 {
			return nil, fmt.Errorf("asked about one path and was told about %d", len(infos))
		}

		return &infos[0], nil
	})
}

func (r *fileResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var config, model, prior fileModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Update(ctx, defaultFileTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	// A known revision is the state's own: the file holds already what it should,
	// and only the way in which the configuration says so has changed.
	if model.Revision.IsUnknown() {
		ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
		defer cancel()

		if r.write(ctx, config, &model, resp.Private, &resp.Diagnostics) {
			prior.unwritten()
			resp.Diagnostics.Append(resp.State.Set(ctx, &prior)...)
		}
		if resp.Diagnostics.HasError() {
			return
		}
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// write puts the configured content into the sandbox and records in the model
// what is there afterwards. After an error, mayBeThere tells whether it is.
func (r *fileResource) write(
	ctx context.Context, config fileModel, model *fileModel, private privateState, diags *diag.Diagnostics,
) (mayBeThere bool) {
	content := config.open(diags)
	if diags.HasError() {
		return false
	}
	defer content.Close()

	mode, err := bridge.ParseMode(model.Mode.ValueString())
	if err != nil {
		diags.AddAttributeError(path.Root("mode"), "Invalid mode", sentence(err))
		return false
	}

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), diags)
	if sandbox == nil {
		return false
	}

	info, err := sandbox.Write(ctx, bridge.WriteRequest{
		Path:    model.Path.ValueString(),
		Content: content,
		Size:    content.size,
		Mode:    mode,
		SHA256:  model.SHA256.ValueString(),
	})
	if errors.Is(err, bridge.ErrContentChanged) {
		diags.AddAttributeError(path.Root("source"), "Local file changed after the plan",
			fmt.Sprintf("%s is not what it was when the plan was made, so nothing was written. Plan again.", config.Source.ValueString()))
		return false
	}
	if err != nil {
		addFailure(diags, path.Root("path"), "write "+model.describe(), err)
		return inDoubt(err)
	}

	model.Revision = types.StringValue(newRevision())
	model.SHA256 = types.StringValue(info.SHA256)
	model.Size = types.Int64Value(info.Size)
	if model.secret() {
		model.SHA256, model.Size = types.StringNull(), types.Int64Null()
	}
	diags.Append(rememberSecret(ctx, private, model.secret(), info.SHA256)...)

	return false
}

func (r *fileResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model fileModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
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

	err := sandbox.Remove(ctx, model.Path.ValueString())

	// Without its container, or with another one, the file is gone already.
	if err != nil && !bridge.IsAsleep(err) && !isRecycled(err) {
		addFailure(&resp.Diagnostics, path.Root("path"), "remove "+model.describe(), err)
	}
	if inDoubt(err) {
		// Whoever keeps it after all has to write it.
		model.unwritten()
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}
