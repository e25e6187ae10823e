package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var (
	_ resource.ResourceWithConfigure   = (*tunnelResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*tunnelResource)(nil)
	_ resource.ResourceWithIdentity    = (*tunnelResource)(nil)
	_ resource.ResourceWithImportState = (*tunnelResource)(nil)
)

func newTunnelResource() resource.Resource {
	return &tunnelResource{}
}

type tunnelResource struct {
	resourceBase
}

type tunnelModel struct {
	SandboxID  types.String   `tfsdk:"sandbox_id"`
	Port       types.Int64    `tfsdk:"port"`
	Name       types.String   `tfsdk:"name"`
	URL        types.String   `tfsdk:"url"`
	Hostname   types.String   `tfsdk:"hostname"`
	TunnelID   types.String   `tfsdk:"tunnel_id"`
	CreatedAt  types.String   `tfsdk:"created_at"`
	InstanceID types.String   `tfsdk:"instance_id"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (r *tunnelResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_tunnel"
}

func (r *tunnelResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = tunnelSchema(ctx)
}

// ModifyPlan plans to ask for a tunnel of which it is not known whether it is
// there: an imported one, or one in doubt.
func (r *tunnelResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state *tunnelModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() || state == nil || req.Plan.Raw.IsNull() || !state.URL.IsNull() {
		return
	}

	for _, name := range tunnelResults {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root(name), types.StringUnknown())...)
	}
}

func (r *tunnelResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model tunnelModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Create(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
	defer cancel()

	// With one in doubt in the state, the next apply closes it, and so does a destroy.
	mayBeThere := r.open(ctx, &model, &resp.Diagnostics)
	if mayBeThere || !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

// open makes the tunnel, or gets the one that is there, and records it. After
// an error, mayBeThere tells whether it is; what is not known of it is null then.
func (r *tunnelResource) open(ctx context.Context, model *tunnelModel, diags *diag.Diagnostics) (mayBeThere bool) {
	sandbox := r.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), diags)
	if sandbox == nil {
		return false
	}

	tunnel, err := sandbox.OpenTunnel(ctx, model.Port.ValueInt64(), model.Name.ValueString())
	if err != nil {
		addTunnelFailure(diags, "open "+model.describe(), err)
	}
	if isRecycled(err) {
		model.warnOfRemains(diags)
	}
	if tunnel == nil {
		return false
	}

	model.URL = knownString(tunnel.URL)
	model.Hostname = knownString(tunnel.Hostname)
	model.TunnelID = knownString(tunnel.ID)
	model.CreatedAt = knownString(tunnel.CreatedAt)
	model.InstanceID = types.StringValue(tunnel.Instance)

	return err != nil
}

// Read makes no tunnel, and the bridge has no way to look at one. So it looks
// only whether the container is there, with which every tunnel ends.
func (r *tunnelResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model tunnelModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Read(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.conn.reachable() || model.imported() {
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
		addFailure(&resp.Diagnostics, path.Empty(), "look at "+model.describe(), err)
		return
	}
	if lost {
		model.warnOfRemains(&resp.Diagnostics)
		resp.State.RemoveResource(ctx)
	}
}

// Update is for a tunnel that ModifyPlan has planned to ask for, and for timeouts.
func (r *tunnelResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model tunnelModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
	limit, diags := model.Timeouts.Update(ctx, defaultSandboxTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	if model.URL.IsUnknown() {
		ctx, cancel := context.WithTimeout(r.conn.mask(ctx), limit)
		defer cancel()

		// After an error the state stays, and the next plan asks again.
		r.open(ctx, &model, &resp.Diagnostics)
		if resp.Diagnostics.HasError() {
			return
		}
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (r *tunnelResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model tunnelModel
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
		model.warnOfRemains(&resp.Diagnostics)
		return
	}

	err := sandbox.CloseTunnel(ctx, model.Port.ValueInt64(), model.InstanceID.ValueString())
	switch {
	case err == nil:
	case bridge.IsAsleep(err), isRecycled(err):
		model.warnOfRemains(&resp.Diagnostics)
	default:
		addTunnelFailure(&resp.Diagnostics, "close "+model.describe(), err)
		if inDoubt(err) {
			// Whoever keeps it after all has to ask for it again.
			resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("url"), types.StringNull())...)
		}
	}
}

// describe names the tunnel in messages.
func (m *tunnelModel) describe() string {
	return fmt.Sprintf("the tunnel to port %d of sandbox %s", m.Port.ValueInt64(), m.SandboxID.ValueString())
}

// imported reports whether the tunnel was imported and not asked for yet.
func (m *tunnelModel) imported() bool {
	return m.InstanceID.IsNull()
}

// warnOfRemains tells what a named tunnel leaves when its container is lost:
// the bridge deletes it in the Cloudflare account only while that lives.
func (m *tunnelModel) warnOfRemains(diags *diag.Diagnostics) {
	if m.Name.IsNull() {
		return
	}

	remains := "If it was made, its DNS record and a Cloudflare Tunnel are still in the Cloudflare account."
	if id := m.TunnelID.ValueString(); id != "" {
		remains = fmt.Sprintf("What it made in the Cloudflare account is still there: the DNS record of %s and a Cloudflare Tunnel with the id %s.",
			m.Hostname.ValueString(), id)
	}

	diags.AddWarning("Named tunnel left in the Cloudflare account",
		fmt.Sprintf("The container of %s is gone, and with it the bridge's record of the tunnel. %s Delete both there; until then, "+
			"the name %q cannot be used again.", m.describe(), remains, m.Name.ValueString()))
}

// knownString is null for what is not known.
func knownString(text string) types.String {
	if text == "" {
		return types.StringNull()
	}

	return types.StringValue(text)
}
