package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
)

var _ datasource.DataSourceWithConfigure = (*execDataSource)(nil)

func newExecDataSource() datasource.DataSource {
	return &execDataSource{}
}

type execDataSource struct {
	dataSourceBase
}

func (d *execDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

func (d *execDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs a command in a sandbox and reads what it prints.\n\n" +
			"**It runs at every refresh**, so with every plan and every apply: use it for what may be done any number of times. " +
			"When it depends on something that is going to be changed, Terraform puts it off until after the change. So that it waits for " +
			"the files it works on, refer to their `revision`, or name them in `depends_on`; otherwise a plan after the container " +
			"was replaced runs it in an empty sandbox.",
		Attributes: execAttributes(keptInState),
	}
}

func (d *execDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model execModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	d.conn.requireKnown(&resp.Diagnostics, "working_dir", "environment", "timeout")
	if resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(model.run(d.conn.mask(ctx), d.conn, execution{})...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}
