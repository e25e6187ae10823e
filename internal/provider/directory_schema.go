package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// directorySchema is the schema of the directory resource.
func directorySchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A local directory in a sandbox: its files byte for byte, its empty directories, its symbolic links and its modes.\n\n" +
			"All of it goes in one compressed upload, which is verified in the sandbox before the first file takes its place, each in one step. " +
			"The plan compares the local directory with what is in the sandbox, at the cost of one request however many files there are; an " +
			"update sends what has changed and nothing else.\n\n" +
			"What else is in the directory stays as it is, and so does everything that this resource has not put there: an update and a " +
			"destroy remove files and links only where they put some, and directories only if they made them and they are empty.\n\n" +
			"What is in the way is replaced: a symbolic link itself, never what it leads to, and a file where a directory is to be. A " +
			"directory in the place of a file is an error if there is anything in it that is not of this resource, and then nothing is changed. " +
			"Symbolic links are never followed within the directory.\n\n" +
			"For a thousand files this is the way: with a `cloudflaresandbox_file` for each, by `for_each`, Terraform itself takes half a minute before " +
			"it sends the first request, and a time that grows with the square of their number.\n\n" +
			"A directory cannot be imported: which local directory it came from cannot be known from the sandbox. Declare it instead; the first " +
			"apply sends everything once and takes over what is there.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDAttribute(),
			"source": schema.StringAttribute{
				MarkdownDescription: "Path of the local directory, relative to Terraform's working directory; write `\"${path.module}/name\"` for one " +
					"beside the configuration. It is read when the plan is made, and once more when it is sent. If it changed in between, " +
					"nothing is written; plan again then. Symbolic links in it stay links. Pipes, sockets and devices are an error, unless " +
					"they are excluded.",
				Required:   true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"path": schema.StringAttribute{
				MarkdownDescription: "Path of the directory in the sandbox: `/workspace`, or one under it or relative to it. It is made if it is missing. " +
					"Another path makes the resource anew.",
				Required:   true,
				Validators: []validator.String{workspaceDirectory()},
				PlanModifiers: []planmodifier.String{
					sameSpelling{canonical: bridge.CleanTreePath},
					stringplanmodifier.RequiresReplace(),
				},
			},
			"excludes": schema.SetAttribute{
				MarkdownDescription: "Globs of what is left out, for example `[\"**/*.log\", \"**/node_modules\"]`. " + excludesDescription,
				ElementType:         types.StringType,
				Optional:            true,
				Validators:          excludesValidators(),
			},
			"files": schema.MapAttribute{
				MarkdownDescription: "SHA-256 of every file, by its path relative to the directory. Known when the plan is made. A name that " +
					"Terraform could not keep as it is, because it is not UTF-8 or not in Unicode's composed form (NFC), is written as a quoted string.",
				ElementType: types.StringType,
				Computed:    true,
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 of the whole: of all paths with their modes, contents and where links lead. Known when the plan is made.",
				Computed:            true,
			},
			"revision": schema.StringAttribute{
				MarkdownDescription: "A value that is new after every write, and known only after apply whenever there is going to be one. What refers " +
					"to it waits for the write and is done again after it: a command that builds what is in the directory, for example.",
				Computed: true,
			},
			"timeouts": timeoutsAttribute(ctx, timeouts.Opts{
				CreateDescription: "Default: `20m`.",
				ReadDescription:   "Default: `20m`.",
				UpdateDescription: "Default: `20m`.",
				DeleteDescription: "Default: `20m`.",
			}),
		},
	}
}

// workspaceDirectory is workspacePath for a directory.
func workspaceDirectory() stringCheck {
	return stringCheck{
		description: "/workspace, or a path under it, absolute or relative to it",
		summary:     "Invalid path",
		check: func(text string) error {
			_, err := bridge.CleanTreePath(text)
			return err
		},
	}
}
