package provider

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// tunnelIdentity is by what a tunnel is known outside of a state. See
// sandboxIdentity for when it is given.
type tunnelIdentity struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	Port      types.Int64  `tfsdk:"port"`
}

func (r *tunnelResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"sandbox_id": identityschema.StringAttribute{
				Description:       "Id of the sandbox.",
				RequiredForImport: true,
			},
			"port": identityschema.Int64Attribute{
				Description:       "Port in the sandbox.",
				RequiredForImport: true,
			},
		},
	}
}

func (m *tunnelModel) identity() tunnelIdentity {
	return tunnelIdentity{SandboxID: m.SandboxID, Port: m.Port}
}

// ImportState asks nothing of the bridge. It could only ask for the tunnel, and
// would make it if there is none: at a plan already, when import blocks are
// carried out. The apply that follows asks for it.
func (r *tunnelResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	identity, err := parseTunnelImportID(req.ID)
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		err = identity.check()
	}
	if resp.Diagnostics.HasError() {
		return
	}

	if err != nil {
		addInvalidImport(&resp.Diagnostics, err,
			"A tunnel is imported by SANDBOX_ID/PORT, for example \"kjs5dxdhwo5rnkmqjcaixp7tl4/8080\".")
		return
	}

	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("sandbox_id"), identity.SandboxID)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("port"), identity.Port)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity)...)
}

func (i tunnelIdentity) check() error {
	return errors.Join(bridge.ValidateSandboxID(i.SandboxID.ValueString()), bridge.ValidateTunnelPort(i.Port.ValueInt64()))
}

// parseTunnelImportID splits SANDBOX_ID/PORT.
func parseTunnelImportID(id string) (tunnelIdentity, error) {
	sandboxID, digits, found := strings.Cut(id, "/")
	if !found {
		return tunnelIdentity{}, errors.New("the id names no port")
	}

	port, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return tunnelIdentity{}, fmt.Errorf("%q is not a port", digits)
	}

	identity := tunnelIdentity{SandboxID: types.StringValue(sandboxID), Port: types.Int64Value(port)}

	return identity, identity.check()
}
