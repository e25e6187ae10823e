package provider

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// execResourceSchema is the schema of the exec resource.
func execResourceSchema(ctx context.Context) schema.Schema {
	attributes := resourceAttributes(execAttributes(keptInState), changesWhatRan)
	maps.Copy(attributes, map[string]schema.Attribute{
		"sandbox_id": sandboxIDAttribute(),
		"triggers": schema.MapAttribute{
			MarkdownDescription: "Any values; the command runs again when one of them changes. The `revision` of a file has it run again after every " +
				"write of that file, also of one that brings back what was lost with a container.",
			ElementType:   types.StringType,
			Optional:      true,
			PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
		},
		"environment_wo": schema.MapAttribute{
			MarkdownDescription: "Environment variables that are kept in neither plan nor state, for secrets, on top of `environment`; they may be " +
				"ephemeral. `on_destroy` does not get them. Needs `environment_wo_version`, and Terraform 1.11 or OpenTofu 1.11.",
			ElementType: types.StringType,
			Optional:    true,
			WriteOnly:   true,
			Validators:  append(environmentVariables(), mapvalidator.NoNullValues(), mapvalidator.AlsoRequires(path.MatchRoot("environment_wo_version"))),
		},
		"environment_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Number of the version of `environment_wo`. Terraform cannot compare what it does not keep: another number has the " +
				"command run again.",
			Optional:      true,
			Validators:    []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("environment_wo"))},
			PlanModifiers: []planmodifier.Int64{int64planmodifier.RequiresReplace()},
		},
		"on_destroy": schema.SingleNestedAttribute{
			MarkdownDescription: "A command to run when the resource is destroyed or replaced, in the container in which the first one ran. If that " +
				"container is gone, so is what was to be cleared up: it is not run then, with a warning, unless a refresh had noticed the loss " +
				"already and taken the resource out of the state. If it fails, the resource stays in the state: correct it, apply that, and " +
				"destroy again; a tainted resource needs `terraform untaint` before. A change of it takes effect with the next apply, and " +
				"runs nothing.",
			Optional: true,
			Attributes: resourceAttributes(nestedCommandArguments(keptInState, path.MatchRoot("on_destroy").AtName("script")),
				func(string) bool { return false }),
		},
		"instance_id": schema.StringAttribute{
			MarkdownDescription: "Id of the container in which the command ran.",
			Computed:            true,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"revision": schema.StringAttribute{
			MarkdownDescription: "A value that is new after every run. What refers to it waits for the run and is done again after it: another " +
				"command, for example, that has it among its `triggers`.",
			Computed:      true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"timeouts": timeoutsAttribute(ctx, timeouts.Opts{
			CreateDescription: "How long the command may take with all that is around it, the start of a container for example. Default: " +
				"5 minutes more than the command's own `timeout`.",
			ReadDescription:   "Default: `5m`.",
			DeleteDescription: "The same for `on_destroy`.",
		}),
	})
	if directory, ok := attributes["working_dir"].(schema.StringAttribute); ok {
		directory.PlanModifiers = slices.Insert(directory.PlanModifiers, 0, planmodifier.String(sameSpelling{canonical: bridge.CleanDirectory}))
		attributes["working_dir"] = directory
	}

	return schema.Schema{
		MarkdownDescription: "Runs a command in a sandbox once, and keeps its result.\n\n" +
			"It runs when the resource is created, and again, as a replacement, when something changes of what runs, where or on what: " +
			"`command`, `script`, `interpreter`, `working_dir`, `environment`, `environment_wo_version`, `stdin`, `triggers` or `sandbox_id`. " +
			"A refresh never runs it. It only compares the sandbox's container with the one in which the command ran (`instance_id`): what a " +
			"command did is lost with its container, so when the sandbox slept or crashed, the next plan is to run it again. Other changes, of " +
			"`timeout` or `on_destroy` for example, are taken into the state and run nothing, and neither do changes of the provider's own " +
			"`environment`, `working_dir` and `timeout`, which apply to what runs from then on.\n\n" +
			"It is started at most once for each time, however often a connection breaks. If the container is lost while it runs, the error " +
			"says that it may have run. A failed command is in the state with its result, and marked as tainted, so that the next " +
			"apply runs `on_destroy`, if there is one, and then the command again.\n\n" +
			"The state holds arguments and results in clear text. Secrets belong into `environment_wo`, or into the ephemeral resource of the " +
			"same name, which keeps nothing at all but runs with every plan and apply. A command that ran outside of Terraform cannot " +
			"be imported: nothing in a sandbox tells of it.",
		Attributes: attributes,
	}
}

// changesWhatRan tells the arguments by which something else would have run.
func changesWhatRan(name string) bool {
	switch name {
	case "timeout", "allow_non_zero_exit_code", "max_output_bytes":
		return false
	default:
		return true
	}
}

// limit is the time limit of a command. One that cannot be read is reported
// where it is run.
func (m *commandModel) limit(s settings) time.Duration {
	limit, err := parseDuration(m.Timeout.ValueString())
	if err != nil {
		return s.timeout
	}

	return limit
}

// withSecrets is the command with the variables that are not in the model.
func (m *execResourceModel) withSecrets(secrets types.Map) commandModel {
	command := m.commandModel
	if len(secrets.Elements()) == 0 {
		return command
	}

	merged := map[string]attr.Value{}
	maps.Copy(merged, m.Environment.Elements())
	maps.Copy(merged, secrets.Elements())
	command.Environment = types.MapValueMust(types.StringType, merged)

	return command
}

// onDestroy is the command to run at the end, nil if there is none.
func (m *execResourceModel) onDestroy(ctx context.Context, diags *diag.Diagnostics) *commandModel {
	if m.OnDestroy.IsNull() {
		return nil
	}

	var command commandModel
	diags.Append(m.OnDestroy.As(ctx, &command, basetypes.ObjectAsOptions{})...)

	return &command
}
