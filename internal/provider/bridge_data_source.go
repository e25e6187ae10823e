package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var _ datasource.DataSourceWithConfigure = (*bridgeDataSource)(nil)

func newBridgeDataSource() datasource.DataSource {
	return &bridgeDataSource{}
}

type bridgeDataSource struct {
	dataSourceBase
}

type bridgeDataModel struct {
	Healthy      types.Bool   `tfsdk:"healthy"`
	Errors       types.List   `tfsdk:"errors"`
	Warm         types.Int64  `tfsdk:"warm"`
	Assigned     types.Int64  `tfsdk:"assigned"`
	Total        types.Int64  `tfsdk:"total"`
	MaxInstances types.Int64  `tfsdk:"max_instances"`
	PoolConfig   types.Object `tfsdk:"pool_config"`
}

// poolConfigTypes are the attributes of pool_config.
func poolConfigTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"warm_target":                   types.Int64Type,
		"max_instances":                 types.Int64Type,
		"scale_batch_size":              types.Int64Type,
		"refresh_interval_milliseconds": types.Int64Type,
	}
}

func (d *bridgeDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_bridge"
}

func (d *bridgeDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What the bridge says of itself and of its containers. Asking starts none.\n\n" +
			"A bridge that is not well is a result, so that it can be checked with a `postcondition` or a `check` block; one that does not answer, " +
			"or refuses the key, is an error.\n\n" +
			"The figures count containers and name none: only `assigned = 0` says something about a particular sandbox, namely that it has no " +
			"container.",
		Attributes: map[string]schema.Attribute{
			"healthy": schema.BoolAttribute{
				MarkdownDescription: "Whether the bridge finds its own configuration complete.",
				Computed:            true,
			},
			"errors": schema.ListAttribute{
				MarkdownDescription: "What the bridge finds wrong with its configuration. Empty when it is healthy.",
				ElementType:         types.StringType,
				Computed:            true,
			},
			"warm": schema.Int64Attribute{
				MarkdownDescription: "Containers that wait for a sandbox. This and all other figures are null when the bridge is not healthy and cannot " +
					"tell them.",
				Computed: true,
			},
			"assigned": schema.Int64Attribute{
				MarkdownDescription: "Containers that belong to a sandbox.",
				Computed:            true,
			},
			"total": schema.Int64Attribute{
				MarkdownDescription: "All containers: `warm` and `assigned` together.",
				Computed:            true,
			},
			"max_instances": schema.Int64Attribute{
				MarkdownDescription: "How many containers the bridge may run at once. Null when it does not know, which it does not until it is told or " +
					"has met the limit; it does not mean that there is none.",
				Computed: true,
			},
			"pool_config": schema.SingleNestedAttribute{
				MarkdownDescription: "How the bridge was told to keep its containers.",
				Computed:            true,
				Attributes: map[string]schema.Attribute{
					"warm_target": schema.Int64Attribute{
						MarkdownDescription: "How many containers it keeps ready for new sandboxes.",
						Computed:            true,
					},
					"max_instances": schema.Int64Attribute{
						MarkdownDescription: "How many containers it was told it may run at once. Null when it was not told.",
						Computed:            true,
					},
					"scale_batch_size": schema.Int64Attribute{
						MarkdownDescription: "How many containers it starts at a time to reach `warm_target`.",
						Computed:            true,
					},
					"refresh_interval_milliseconds": schema.Int64Attribute{
						MarkdownDescription: "How often it looks after its containers.",
						Computed:            true,
					},
				},
			},
		},
	}
}

func (d *bridgeDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	d.conn.requireKnown(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx = d.conn.mask(ctx)

	health, err := d.conn.client.Health(ctx)
	if err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), "ask the bridge how it is", err)
		return
	}

	// A bridge that is not well may be unable to tell its figures. That it is not
	// is the answer then, unless the key is what it does not like.
	stats, err := d.conn.client.PoolStats(ctx)
	if err != nil && (health.OK || bridge.IsUnauthorized(err)) {
		addFailure(&resp.Diagnostics, path.Empty(), "ask the bridge about its containers", err)
		return
	}

	model, diags := describeBridge(ctx, health, stats)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// describeBridge maps the bridge's answers; stats is nil where there are none.
func describeBridge(ctx context.Context, health *bridge.Health, stats *bridge.PoolStats) (bridgeDataModel, diag.Diagnostics) {
	model := bridgeDataModel{Healthy: types.BoolValue(health.OK), PoolConfig: types.ObjectNull(poolConfigTypes())}

	// Not the slice itself, which is nil where there is nothing wrong.
	var diags, more diag.Diagnostics
	model.Errors, diags = types.ListValueFrom(ctx, types.StringType, append([]string{}, health.Errors...))
	if stats == nil {
		return model, diags
	}

	model.Warm = count(stats.Warm)
	model.Assigned = count(stats.Assigned)
	model.Total = count(stats.Total)
	if stats.MaxInstances != nil {
		model.MaxInstances = count(*stats.MaxInstances)
	}

	told := types.Int64Null()
	if stats.Config.MaxInstances > 0 {
		told = count(stats.Config.MaxInstances)
	}
	model.PoolConfig, more = types.ObjectValue(poolConfigTypes(), map[string]attr.Value{
		"warm_target":                   count(stats.Config.WarmTarget),
		"max_instances":                 told,
		"scale_batch_size":              count(stats.Config.ScaleBatchSize),
		"refresh_interval_milliseconds": count(stats.Config.RefreshInterval),
	})
	diags.Append(more...)

	return model, diags
}

func count(n int) types.Int64 {
	return types.Int64Value(int64(n))
}
