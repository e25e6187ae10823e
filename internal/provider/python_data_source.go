package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
)

var _ datasource.DataSourceWithConfigure = (*pythonDataSource)(nil)

func newPythonDataSource() datasource.DataSource {
	return &pythonDataSource{}
}

type pythonDataSource struct {
	dataSourceBase
}

func (d *pythonDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_python"
}

func (d *pythonDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs Python code in a sandbox and reads the value it ends with and what it prints.\n\n" +
			"**It runs at every refresh**, so with every plan and every apply: use it for what may be done any number of times. " +
			"So that it waits for the files it works on, refer to their `revision`, or name them in `depends_on`; otherwise a plan after " +
			"the container was replaced runs it in an empty sandbox." + pythonDescription,
		Attributes: pythonAttributes(keptInState),
	}
}

func (d *pythonDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model pythonModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(model.run(ctx, d.conn)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}
