package provider

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ action.ActionWithConfigure = (*execAction)(nil)

func newExecAction() action.Action {
	return &execAction{}
}

type execAction struct {
	actionBase
}

type execActionModel struct {
	SandboxID types.String `tfsdk:"sandbox_id"`

	commandModel
}

func (a *execAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_exec"
}

func (a *execAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	arguments := map[string]datasourceschema.Attribute{"sandbox_id": sandboxIDArgument()}
	maps.Copy(arguments, commandArguments(keptInPlan))

	resp.Schema = schema.Schema{
		MarkdownDescription: "Runs a command in a sandbox when it is asked for: after a resource was created or updated, by `action_trigger` in that " +
			"resource's `lifecycle`, or by `terraform apply -invoke`. Needs Terraform 1.14.\n\n" +
			"It says every 10 seconds that the command is still running, and at the end what it printed. An exit code other than 0 is an " +
			"error. Nothing of the result is kept; use the resource of the same name for that.",
		Attributes: actionAttributes(arguments),
	}
}

func (a *execAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var model execActionModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	a.conn.requireKnown(&resp.Diagnostics, "working_dir", "environment", "timeout")
	if resp.Diagnostics.HasError() {
		return
	}

	say := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	started := time.Now()
	say("Running in sandbox %s", model.SandboxID.ValueString())

	outcome, diags := model.run(a.conn.mask(ctx), a.conn, execution{
		sandboxID: model.SandboxID,
		heartbeat: func() { say("Still running after %s", time.Since(started).Round(time.Second)) },
	})
	resp.Diagnostics.Append(diags...)

	// Of a failure the error shows what was printed.
	if outcome.result != nil && !diags.HasError() {
		say("Ended with exit code %d after %s\n\n%s", outcome.result.ExitCode, time.Since(started).Round(time.Millisecond),
			strings.TrimSpace(outcome.shown.everything(outcome.result)))
	}
}
