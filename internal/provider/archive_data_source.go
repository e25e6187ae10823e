package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// defaultArchiveTimeout leaves room for large archives over slow lines.
const defaultArchiveTimeout = 20 * time.Minute

const defaultMaxArchive = 1 << 30

var _ datasource.DataSourceWithConfigure = (*archiveDataSource)(nil)

func newArchiveDataSource() datasource.DataSource {
	return &archiveDataSource{}
}

type archiveDataSource struct {
	dataSourceBase
}

type archiveModel struct {
	SandboxID  types.String   `tfsdk:"sandbox_id"`
	Path       types.String   `tfsdk:"path"`
	Excludes   types.Set      `tfsdk:"excludes"`
	OutputPath types.String   `tfsdk:"output_path"`
	MaxBytes   types.Int64    `tfsdk:"max_bytes"`
	SHA256     types.String   `tfsdk:"sha256"`
	Size       types.Int64    `tfsdk:"size"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (d *archiveDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_archive"
}

func (d *archiveDataSource) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Fetches a part of a sandbox as a `.tar.gz` file on the local disk, for what was built there.\n\n" +
			"**It is read at every refresh**, so with every plan and every apply, and a sandbox that sleeps is started for it, empty. When it depends on " +
			"something that is going to be changed, Terraform puts it off until after the change. So that it waits for what makes the files, " +
			"name that in `depends_on`; otherwise a plan after the container was replaced finds nothing, or packs an empty sandbox and " +
			"replaces the archive by it.\n\n" +
			"The archive is compared with its SHA-256 as it was in the sandbox, and takes the place of `output_path` in one step, so that there is the old " +
			"one or the new one and never a part. The same files give the same archive, byte for byte, and one that is there already is not " +
			"transferred again. It keeps modes, times and symbolic links, and names no owners.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDArgument(),
			"path": schema.StringAttribute{
				MarkdownDescription: "Path of a directory or a file, under `/workspace` or relative to it. What is in a directory is named relative to it. " +
					"Default: all of `/workspace`.",
				Optional:   true,
				Validators: []validator.String{workspaceDirectory()},
			},
			"excludes": schema.SetAttribute{
				MarkdownDescription: "Globs of what in the directory is left out, for example `[\"**/*.log\", \"**/node_modules\"]`. " + excludesDescription,
				ElementType:         types.StringType,
				Optional:            true,
				Validators:          excludesValidators(),
			},
			"output_path": schema.StringAttribute{
				MarkdownDescription: "Path of the local file to write, relative to Terraform's working directory. Missing directories are made. The file is made " +
					"with mode `0600`, since what is in a sandbox may be secret. A symbolic link at this path is replaced itself, not the file it points to.",
				Required:   true,
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"max_bytes": schema.Int64Attribute{
				MarkdownDescription: "How many bytes the archive may have, so that whatever happens in the sandbox cannot fill the local disk. A larger one is an " +
					"error, and is not transferred. At least 1. Default: 1073741824 (1 GiB).",
				Optional:   true,
				Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 of the archive, in hexadecimal.",
				Computed:            true,
			},
			"size": schema.Int64Attribute{
				MarkdownDescription: "Size of the archive in bytes.",
				Computed:            true,
			},
			"timeouts": readTimeoutAttribute(ctx, "Default: `20m`."),
		},
	}
}

// readTimeoutAttribute is timeoutsAttribute for a data source.
func readTimeoutAttribute(ctx context.Context, description string) schema.Attribute {
	attribute, ok := timeouts.AttributesWithOpts(ctx, timeouts.Opts{ReadDescription: description}).(schema.SingleNestedAttribute)
	if !ok {
		return timeouts.Attributes(ctx)
	}

	attribute.MarkdownDescription = "How long reading may take, as a duration such as `90s` or `10m`."
	for name, nested := range attribute.Attributes {
		if text, isString := nested.(schema.StringAttribute); isString {
			text.Validators = []validator.String{duration()}
			attribute.Attributes[name] = text
		}
	}

	return attribute
}

func (d *archiveDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model archiveModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	d.conn.requireKnown(&resp.Diagnostics)
	limit, diags := model.Timeouts.Read(ctx, defaultArchiveTimeout)
	resp.Diagnostics.Append(diags...)
	excluded, _ := excluder(ctx, model.Excludes, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeout(d.conn.mask(ctx), limit)
	defer cancel()

	sandbox := d.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	info := model.fetch(ctx, sandbox, excluded, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	if info.Changing != "" {
		resp.Diagnostics.AddAttributeWarning(path.Root("path"), "Files changed while they were packed",
			"Something in the sandbox wrote at the same time, so the archive may have a part of an old and a part of a new content. "+
				"Name what makes the files in depends_on, or leave out with excludes what changes all the time. tar says: "+sentence(errors.New(info.Changing)))
	}

	model.SHA256 = types.StringValue(info.SHA256)
	model.Size = types.Int64Value(info.Size)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// from is what is packed.
func (m *archiveModel) from() string {
	if m.Path.IsNull() {
		return bridge.Workspace
	}

	return m.Path.ValueString()
}

// limit is how large the archive may be.
func (m *archiveModel) limit() int64 {
	if m.MaxBytes.IsNull() {
		return defaultMaxArchive
	}

	return m.MaxBytes.ValueInt64()
}

// fetch brings the archive to its place on the local disk.
func (m *archiveModel) fetch(ctx context.Context, sandbox *bridge.Sandbox, excluded func(string) bool, diags *diag.Diagnostics) *bridge.ArchiveInfo {
	output, err := newOutput(m.OutputPath.ValueString())
	if err != nil {
		diags.AddAttributeError(path.Root("output_path"), "Archive cannot be written", sentence(err))
		return nil
	}
	defer output.discard()

	request := bridge.ArchiveRequest{Path: m.from(), Exclude: excluded, Have: output.existing(), MaxBytes: m.limit()}
	info, err := sandbox.Archive(ctx, request, output)

	var (
		file  *bridge.PathError
		large *bridge.SizeError
		local *os.PathError
	)
	switch {
	case errors.As(err, &large):
		diags.AddAttributeError(path.Root("max_bytes"), "Archive is too large",
			fmt.Sprintf("It has %d bytes, and max_bytes allows %d. It was not transferred. Raise max_bytes, or leave out with excludes what is not needed.",
				large.Size, large.Limit))
	case bridge.IsMissing(err):
		diags.AddAttributeError(path.Root("path"), "Nothing to pack",
			sentence(err)+" If something in this configuration makes it, name that in depends_on.")
	case errors.As(err, &file):
		diags.AddAttributeError(path.Root("path"), "Archive cannot be made", sentence(err))
	case errors.As(err, &local):
		diags.AddAttributeError(path.Root("output_path"), "Archive cannot be written", sentence(err))
	case err != nil:
		addFailure(diags, path.Root("path"), fmt.Sprintf("fetch %q from sandbox %s", m.from(), sandbox.ID()), err)
	case !info.Unchanged:
		if err := output.keep(); err != nil {
			diags.AddAttributeError(path.Root("output_path"), "Archive cannot be written", sentence(err))
		}
	}

	return info
}
