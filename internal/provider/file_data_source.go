package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	defaultMaxFileBytes = 1 << 20

	// maxMaxFileBytes is what a state can sensibly hold: it has the content twice,
	// as text and as base64.
	maxMaxFileBytes = 8 << 20
)

var _ datasource.DataSourceWithConfigure = (*fileDataSource)(nil)

func newFileDataSource() datasource.DataSource {
	return &fileDataSource{}
}

type fileDataSource struct {
	dataSourceBase
}

type fileDataModel struct {
	SandboxID     types.String `tfsdk:"sandbox_id"`
	Path          types.String `tfsdk:"path"`
	MustExist     types.Bool   `tfsdk:"must_exist"`
	MaxBytes      types.Int64  `tfsdk:"max_bytes"`
	Exists        types.Bool   `tfsdk:"exists"`
	Content       types.String `tfsdk:"content"`
	ContentBase64 types.String `tfsdk:"content_base64"`
	SHA256        types.String `tfsdk:"sha256"`
	Size          types.Int64  `tfsdk:"size"`
	Mode          types.String `tfsdk:"mode"`
}

func (d *fileDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

func (d *fileDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a file in a sandbox, byte for byte: what arrives is compared with the file's SHA-256. A symbolic link is followed.\n\n" +
			"It is read at every refresh, and a sandbox that sleeps is started for it, empty. When it depends on something that is going to be " +
			"changed, Terraform puts it off until after the change: refer to the `revision` of a `cloudflaresandbox_file`, or name in " +
			"`depends_on` what makes the file.\n\n" +
			"The content is kept in Terraform's state. A file that is too large for that can be worked on in the sandbox, with `cloudflaresandbox_exec`.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDArgument(),
			"path": schema.StringAttribute{
				MarkdownDescription: "Path of the file, under `/workspace` or relative to it.",
				Required:            true,
				Validators:          []validator.String{workspacePath()},
			},
			"must_exist": schema.BoolAttribute{
				MarkdownDescription: "Whether a missing file is an error. With `false` it is a result: `exists` is `false`, and everything else that is " +
					"read is null. Default: `true`.",
				Optional: true,
			},
			"max_bytes": schema.Int64Attribute{
				MarkdownDescription: "How many bytes the file may have. A larger one is an error, and none of it is transferred; nothing is ever cut " +
					"off. From 1 to 8388608 (8 MiB). Default: 1048576 (1 MiB).",
				Optional:   true,
				Validators: []validator.Int64{int64validator.Between(1, maxMaxFileBytes)},
			},
			"exists": schema.BoolAttribute{
				MarkdownDescription: "Whether the file is there.",
				Computed:            true,
			},
			"content": schema.StringAttribute{
				MarkdownDescription: "Content as text. Null when it is not UTF-8, since Terraform has no other strings; `content_base64` has it in any " +
					"case. Terraform brings all text into Unicode's composed form (NFC); `content_base64` has the exact bytes.",
				Computed: true,
			},
			"content_base64": schema.StringAttribute{
				MarkdownDescription: "The bytes of the content, in base64.",
				Computed:            true,
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 of the content, in hexadecimal.",
				Computed:            true,
			},
			"size": schema.Int64Attribute{
				MarkdownDescription: "Size in bytes.",
				Computed:            true,
			},
			"mode": schema.StringAttribute{
				MarkdownDescription: "Mode in four octal digits, such as `0644`.",
				Computed:            true,
			},
		},
	}
}

func (d *fileDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model fileDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	d.conn.requireKnown(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	sandbox := d.conn.sandbox(model.SandboxID, path.Root("sandbox_id"), &resp.Diagnostics)
	if sandbox == nil {
		return
	}

	var content bytes.Buffer
	info, err := sandbox.ReadAtMost(d.conn.mask(ctx), model.Path.ValueString(), model.limit(), &content)
	switch {
	case err == nil:
		model.found(info, content.Bytes())
	case model.mayBeMissing() && (bridge.IsMissing(err) || bridge.IsAsleep(err)):
		// Files go with their container.
		model.Exists = types.BoolValue(false)
	default:
		model.addReadFailure(&resp.Diagnostics, err)
		return
	}

	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (m *fileDataModel) limit() int64 {
	if m.MaxBytes.IsNull() {
		return defaultMaxFileBytes
	}

	return m.MaxBytes.ValueInt64()
}

func (m *fileDataModel) mayBeMissing() bool {
	return !m.MustExist.IsNull() && !m.MustExist.ValueBool()
}

// found takes what was read into the model.
func (m *fileDataModel) found(info *bridge.FileInfo, content []byte) {
	m.Exists = types.BoolValue(true)
	m.Content, m.ContentBase64 = text(content), encoded(content)
	m.SHA256 = types.StringValue(info.SHA256)
	m.Size = types.Int64Value(info.Size)
	m.Mode = types.StringValue(bridge.FormatMode(info.Mode))
}

// readFailures are the headline and the next step for what can be at a path
// other than a file that can be read.
var readFailures = map[bridge.PathReason]struct{ summary, step string }{
	bridge.ReasonMissing: {
		"File does not exist",
		"If it may be missing, set must_exist = false. If something in this configuration makes it, name that in depends_on.",
	},
	bridge.ReasonIsDirectory: {"Path is a directory", "Name a file in it."},
	bridge.ReasonNotRegular:  {"Path is not a regular file", "Only the content of a file can be read, not that of a pipe, a socket or a device."},
	bridge.ReasonUnreadable: {
		"File cannot be read",
		"Commands in the sandbox run as the same user; see there what it may do at this path and in the directories above it.",
	},
}

// addReadFailure reports why there is no content.
func (m *fileDataModel) addReadFailure(diags *diag.Diagnostics, err error) {
	var (
		file  *bridge.PathError
		large *bridge.SizeError
	)

	switch {
	case errors.As(err, &large):
		diags.AddAttributeError(path.Root("max_bytes"), "File is too large",
			fmt.Sprintf("%s in sandbox %s has %d bytes, and max_bytes allows %d. Nothing of it was transferred. Raise max_bytes, which goes "+
				"up to %d, or work on the file in the sandbox.", large.Path, large.ID, large.Size, large.Limit, maxMaxFileBytes))

	case errors.As(err, &file) && readFailures[file.Reason].summary != "":
		failure := readFailures[file.Reason]
		diags.AddAttributeError(path.Root("path"), failure.summary, sentence(err)+" "+failure.step)

	default:
		addFailure(diags, path.Root("path"), fmt.Sprintf("read %q in sandbox %s", m.Path.ValueString(), m.SandboxID.ValueString()), err)
	}
}
