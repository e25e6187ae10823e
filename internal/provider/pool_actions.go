package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var _ action.ActionWithConfigure = (*poolAction)(nil)

// poolAction is one request about the bridge's pool of containers.
type poolAction struct {
	actionBase

	name        string
	description string
	attempt     string
	done        string
	send        func(*bridge.Client, context.Context) error
}

func newPrimePoolAction() action.Action {
	return &poolAction{
		name: "prime_pool",
		description: "Has the bridge start its pool of waiting containers, as many as it was deployed to keep ready (`WARM_POOL_TARGET`), " +
			"so that the first sandboxes need not wait for theirs. The bridge answers at once and starts them afterwards; with a target of " +
			"0, which is its default, there are none to start. Needs Terraform 1.14.",
		attempt: "prime the pool",
		done:    "The bridge was asked to fill its pool",
		send:    (*bridge.Client).PrimePool,
	}
}

func newShutdownPrewarmedAction() action.Action {
	return &poolAction{
		name: "shutdown_prewarmed",
		description: "Has the bridge stop the containers of its pool that wait for a sandbox. Those that run one are left alone. " +
			"Needs Terraform 1.14.",
		attempt: "shut the waiting containers down",
		done:    "The waiting containers are shut down",
		send:    (*bridge.Client).ShutdownPrewarmed,
	}
}

func (a *poolAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + a.name
}

func (a *poolAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: a.description}
}

func (a *poolAction) Invoke(ctx context.Context, _ action.InvokeRequest, resp *action.InvokeResponse) {
	a.conn.requireKnown(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	if err := a.send(a.conn.client, a.conn.mask(ctx)); err != nil {
		addFailure(&resp.Diagnostics, path.Empty(), a.attempt, err)
		return
	}
	resp.SendProgress(action.InvokeProgressEvent{Message: a.done})
}
