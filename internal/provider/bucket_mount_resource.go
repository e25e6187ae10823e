package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// There is no import: nothing tells which bucket a mount shows, with which
// settings and keys.
var (
	_ resource.ResourceWithConfigure      = (*bucketMountResource)(nil)
	_ resource.ResourceWithValidateConfig = (*bucketMountResource)(nil)
)

func newBucketMountResource() resource.Resource {
	return &bucketMountResource{}
}

type bucketMountResource struct {
	resourceBase
}

type bucketMountModel struct {
	SandboxID            types.String   `tfsdk:"sandbox_id"`
	MountPath            types.String   `tfsdk:"mount_path"`
	Bucket               types.String   `tfsdk:"bucket"`
	Endpoint             types.String   `tfsdk:"endpoint"`
	Binding              types.String   `tfsdk:"binding"`
	Prefix               types.String   `tfsdk:"prefix"`
	ReadOnly             types.Bool     `tfsdk:"read_only"`
	CredentialProxy      types.Bool     `tfsdk:"credential_proxy"`
	S3FSOptions          types.List     `tfsdk:"s3fs_options"`
	AccessKeyIDWO        types.String   `tfsdk:"access_key_id_wo"`
	SecretAccessKeyWO    types.String   `tfsdk:"secret_access_key_wo"`
	CredentialsWOVersion types.Int64    `tfsdk:"credentials_wo_version"`
	MountID              types.String   `tfsdk:"mount_id"`
	InstanceID           types.String   `tfsdk:"instance_id"`
	Timeouts             timeouts.Value `tfsdk:"timeouts"`
}

func (r *bucketMountResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_bucket_mount"
}

func (r *bucketMountResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = bucketMountSchema(ctx)
}

func (r *bucketMountResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config bucketMountModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.checkTogether()...)
	}
}

func (r *bucketMountResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var config, model bucketMountModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	limit, diags := model.Timeouts.Create(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	request := config.request(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(config.mask(r.conn.mask(ctx)), limit)
	defer cancel()

	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	mount, err := sandbox.Mount(ctx, request)
	if err != nil {
		config.addFailure(&resp.Diagnostics, "mount "+model.describe(), err)
	}
	if mount == nil {
		return
	}

	// What may be there in spite of an error is in the state: the error taints it,
	// and the next apply takes it down first.
	model.MountID = types.StringValue(mount.Source)
	model.InstanceID = types.StringValue(mount.Instance)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (r *bucketMountResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model bucketMountModel
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

	mount, err := r.look(ctx, sandbox, &model)
	switch {
	case err != nil:
		model.addFailure(&resp.Diagnostics, "look at "+model.describe(), err)
	case mount == nil:
	case mount.Source != model.MountID.ValueString() || mount.Dead:
		// Another mount at the path is not this one, and one that s3fs no longer
		// serves is none.
		resp.State.RemoveResource(ctx)
	default:
		model.ReadOnly = types.BoolValue(mount.ReadOnly)
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

// look finds out what is mounted at the path. Nil means that it cannot be known
// without starting a container that a refresh may not start.
func (r *bucketMountResource) look(ctx context.Context, sandbox *bridge.Sandbox, model *bucketMountModel) (*bridge.MountInfo, error) {
	none := &bridge.MountInfo{}

	return refreshed(ctx, r.conn, r.conn.mayAsk(sandbox), none, nil, func() (*bridge.MountInfo, error) {
		return sandbox.LookAtMount(ctx, model.MountPath.ValueString())
	})
}

// Update is for the timeouts alone: everything else makes the mount anew.
func (r *bucketMountResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model bucketMountModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

func (r *bucketMountResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model bucketMountModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	limit, diags := model.Timeouts.Delete(ctx, defaultSandboxTimeout)
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

	err := sandbox.Unmount(ctx, model.MountPath.ValueString(), model.MountID.ValueString(), model.InstanceID.ValueString())
	if err != nil && !bridge.IsAsleep(err) && !isRecycled(err) {
		model.addFailure(&resp.Diagnostics, "unmount "+model.describe(), err)
	}
}

// describe names the mount in messages.
func (m *bucketMountModel) describe() string {
	what := "bucket " + m.Bucket.ValueString()
	if !m.Binding.IsNull() {
		what = "binding " + m.Binding.ValueString()
	}

	return fmt.Sprintf("%s at %q in sandbox %s", what, m.MountPath.ValueString(), m.SandboxID.ValueString())
}

// mask keeps the keys out of everything that is logged under the returned
// context.
func (m *bucketMountModel) mask(ctx context.Context) context.Context {
	secrets := maskable(m.AccessKeyIDWO.ValueString(), m.SecretAccessKeyWO.ValueString())
	if len(secrets) == 0 {
		return ctx
	}

	return tflog.MaskLogStrings(ctx, secrets...)
}
