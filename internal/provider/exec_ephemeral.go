package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*execEphemeral)(nil)

func newExecEphemeral() ephemeral.EphemeralResource {
	return &execEphemeral{}
}

type execEphemeral struct {
	ephemeralBase
}

func (e *execEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

func (e *execEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs a command in a sandbox and hands on what it prints, of which nothing is kept: neither its arguments nor its " +
			"result are in a plan or a state. For secrets: arguments may be ephemeral values, and so may what the result is used for.\n\n" +
			"**It runs with every plan and with every apply** as soon as its arguments are known, so use it for what may be done any number of " +
			"times. Command and script are kept out of the container's log as well. What a failing command printed is shown in the error, " +
			"less the values of `environment` and `stdin`.",
		Attributes: ephemeralAttributes(execAttributes(keptNowhere)),
	}
}

func (e *execEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model execModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	e.conn.requireKnown(&resp.Diagnostics, "working_dir", "environment", "timeout")
	if resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(model.run(e.conn.mask(ctx), e.conn, execution{confidential: true})...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
	}
}
