package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// sandboxIdentity is by what a sandbox is known outside of a state.
//
// A client that keeps no identity (Terraform before 1.12) sends none, so every
// operation gives it anew.
type sandboxIdentity struct {
	ID types.String `tfsdk:"id"`
}

func (r *sandboxResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"id": identityschema.StringAttribute{
				Description:       "Id of the sandbox.",
				RequiredForImport: true,
			},
		},
	}
}

func (m *sandboxModel) identity() sandboxIdentity {
	return sandboxIdentity{ID: m.ID}
}

func (r *sandboxResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := req.ID
	if id == "" {
		var identity sandboxIdentity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		id = identity.ID.ValueString()
	}
	if resp.Diagnostics.HasError() {
		return
	}

	if err := bridge.ValidateSandboxID(id); err != nil {
		addInvalidImport(&resp.Diagnostics, err, "A sandbox is imported by its id.")
		return
	}

	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, sandboxIdentity{ID: types.StringValue(id)})...)
}

// addInvalidImport refuses what nothing can be imported by.
func addInvalidImport(diags *diag.Diagnostics, err error, usage string) {
	diags.AddError("Invalid import id", sentence(err)+" "+usage)
}
