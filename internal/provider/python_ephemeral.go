package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*pythonEphemeral)(nil)

func newPythonEphemeral() ephemeral.EphemeralResource {
	return &pythonEphemeral{}
}

type pythonEphemeral struct {
	ephemeralBase
}

func (e *pythonEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_python"
}

func (e *pythonEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs Python code in a sandbox and hands on the value it ends with and what it prints, of which nothing is kept: " +
			"neither its arguments nor its results are in a plan or a state. For secrets: arguments may be ephemeral values, and so may what " +
			"the result is used for.\n\n" +
			"**It runs with every plan and with every apply** as soon as its arguments are known, so use it for what may be done any number of " +
			"times. The error of a failing run shows lines of the code and what was printed, less the values of `environment` and `stdin`: " +
			"put secrets there, and not into the code." + pythonDescription,
		Attributes: ephemeralAttributes(pythonAttributes(keptNowhere)),
	}
}

func (e *pythonEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model pythonModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(model.run(ctx, e.conn)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
	}
}
