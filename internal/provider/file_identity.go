package provider

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// fileIdentity is by what a file is known outside of a state. See
// sandboxIdentity for when it is given.
type fileIdentity struct {
	SandboxID types.String `tfsdk:"sandbox_id"`
	Path      types.String `tfsdk:"path"`
}

func (r *fileResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"sandbox_id": identityschema.StringAttribute{
				Description:       "Id of the sandbox.",
				RequiredForImport: true,
			},
			"path": identityschema.StringAttribute{
				Description:       "Path of the file, under /workspace or relative to it.",
				RequiredForImport: true,
			},
		},
	}
}

// identity has the path in the one spelling that never changes, whichever the
// configuration uses.
func (m *fileModel) identity() fileIdentity {
	canonical := m.Path
	if clean, err := bridge.CleanPath(m.Path.ValueString()); err == nil {
		canonical = types.StringValue(clean)
	}

	return fileIdentity{SandboxID: m.SandboxID, Path: canonical}
}

func (r *fileResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	sandboxID, file, err := parseFileImportID(req.ID)
	if req.ID == "" {
		var identity fileIdentity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		sandboxID, file, err = identity.parse()
	}
	if resp.Diagnostics.HasError() {
		return
	}

	if err != nil {
		addInvalidImport(&resp.Diagnostics, err,
			"A file is imported by SANDBOX_ID/workspace/PATH, for example \"kjs5dxdhwo5rnkmqjcaixp7tl4/workspace/main.py\".")
		return
	}

	model := fileModel{SandboxID: types.StringValue(sandboxID), Path: types.StringValue(file)}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("sandbox_id"), model.SandboxID)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("path"), model.Path)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, model.identity())...)
}

// parse checks an identity out of a configuration.
func (i fileIdentity) parse() (sandboxID, file string, err error) {
	if err := bridge.ValidateSandboxID(i.SandboxID.ValueString()); err != nil {
		return "", "", err
	}

	file, err = bridge.CleanPath(i.Path.ValueString())

	return i.SandboxID.ValueString(), file, err
}

// parseFileImportID splits SANDBOX_ID/workspace/PATH.
func parseFileImportID(id string) (sandboxID, file string, err error) {
	sandboxID, rest, found := strings.Cut(id, "/")
	if !found {
		return "", "", errors.New("the id names no path")
	}

	identity := fileIdentity{SandboxID: types.StringValue(sandboxID), Path: types.StringValue("/" + rest)}

	return identity.parse()
}
