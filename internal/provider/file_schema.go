package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// fileSchema is the schema of the file resource.
func fileSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A file in a sandbox, byte for byte.\n\n" +
			"Every write is verified by its SHA-256 before it takes the file's place in one step, so a reader in the sandbox sees the " +
			"old content or the new one and never a part. A refresh compares hash and mode with what is there; a file that was " +
			"changed is written again in place, one that is gone is made again. Nothing is normalised: line ends, byte order " +
			"marks and a missing newline at the end stay as they are.\n\n" +
			"Missing directories above the file are made. What is at the path already is replaced; a symbolic link is replaced itself, " +
			"not the file it points to, and a directory is an error.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDAttribute(),
			"path": schema.StringAttribute{
				MarkdownDescription: "Path of the file, under `/workspace` or relative to it. Another path makes the resource anew.",
				Required:            true,
				Validators:          []validator.String{workspacePath()},
				PlanModifiers: []planmodifier.String{
					sameSpelling{canonical: bridge.CleanPath},
					stringplanmodifier.RequiresReplace(),
				},
			},
			"content": schema.StringAttribute{
				MarkdownDescription: "Content as text, written as UTF-8. An empty string is an empty file. Terraform itself brings all text into " +
					"Unicode's composed form (NFC); where that matters, use `content_base64` or `source`. Exactly one of " +
					"`content`, `content_base64`, `source` and `content_wo` is needed.",
				Optional: true,
				Validators: []validator.String{stringvalidator.ExactlyOneOf(
					path.MatchRoot("content_base64"), path.MatchRoot("source"), path.MatchRoot("content_wo"),
				)},
			},
			"content_base64": schema.StringAttribute{
				MarkdownDescription: "Content as base64, for bytes that are not text, for example `filebase64(\"logo.png\")`.",
				Optional:            true,
				Validators:          []validator.String{base64Text()},
			},
			"source": schema.StringAttribute{
				MarkdownDescription: "Path of a local file to write, relative to Terraform's working directory; write " +
					"`\"${path.module}/name\"` for a file beside the configuration. It is read when the plan is made, so a changed file is an " +
					"update, and once more when it is written. If it changed in between, nothing is written and Terraform reports " +
					"another `sha256` than the planned one; plan again then. Files of any size are possible, also larger than memory.",
				Optional: true,
			},
			"content_wo": schema.StringAttribute{
				MarkdownDescription: "Content as text that is kept in neither plan nor state, for secrets; it may be ephemeral. Needs " +
					"`content_wo_version`, and Terraform 1.11 or OpenTofu 1.11. `sha256` and `size` are null; what is kept is a salted, " +
					"deliberately slow hash, as of a password, which suffices to see that the file was changed.",
				Optional:   true,
				WriteOnly:  true,
				Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("content_wo_version"))},
			},
			"content_wo_version": schema.Int64Attribute{
				MarkdownDescription: "Number of the version of `content_wo`. Terraform cannot compare what it does not keep: another number has " +
					"the content written again.",
				Optional:   true,
				Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("content_wo"))},
			},
			"mode": schema.StringAttribute{
				MarkdownDescription: "Mode of the file in three or four octal digits, such as `0600`, `0755` or `4755`. Default: `0644`.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(defaultFileMode),
				Validators:          []validator.String{fileMode()},
				PlanModifiers:       []planmodifier.String{sameSpelling{canonical: canonicalMode}},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 of the file as it is in the sandbox, in hexadecimal. Known when the plan is made if the content is. " +
					"Null with `content_wo`.",
				Computed: true,
			},
			"size": schema.Int64Attribute{
				MarkdownDescription: "Size of the file in bytes. Null with `content_wo`.",
				Computed:            true,
			},
			"revision": schema.StringAttribute{
				MarkdownDescription: "A value that is new after every write, and known only after apply whenever there is going to be one. What refers " +
					"to it waits for the write and is done again after it: a data source that runs a command on the file, for example.",
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

// canonicalMode writes a mode in four digits.
func canonicalMode(text string) (string, error) {
	mode, err := bridge.ParseMode(text)
	if err != nil {
		return "", err
	}

	return bridge.FormatMode(mode), nil
}
