package provider

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// maxAdopted is the size up to which an import takes over a file's content.
const maxAdopted = 1 << 20

// describe names the file in messages.
func (m *fileModel) describe() string {
	return fmt.Sprintf("%q in sandbox %s", m.Path.ValueString(), m.SandboxID.ValueString())
}

// secret reports whether the content is write-only. The version tells it also
// where the content itself is never present: in plans and states.
func (m *fileModel) secret() bool {
	return !m.ContentWOVersion.IsNull()
}

// imported reports whether the state is that of an import that was not read
// yet. Every other state has a mode.
func (m *fileModel) imported() bool {
	return m.Mode.IsNull()
}

// unwritten records that nothing is known of the content.
func (m *fileModel) unwritten() {
	m.SHA256, m.Size, m.Revision = types.StringNull(), types.Int64Null(), types.StringNull()
}

// observe records what a refresh saw at the file's path.
func (m *fileModel) observe(ctx context.Context, info bridge.FileInfo, private privateReader) diag.Diagnostics {
	var diags diag.Diagnostics

	if info.Kind != bridge.KindFile {
		// Nothing of what was recorded holds, and the next plan writes the file.
		m.unwritten()
		return diags
	}

	if m.imported() {
		m.Mode = types.StringValue(bridge.FormatMode(info.Mode))
		m.Revision = types.StringValue(newRevision())
	}

	sameMode := false
	if recorded, err := bridge.ParseMode(m.Mode.ValueString()); err == nil {
		sameMode = recorded == info.Mode
	}
	if !sameMode {
		m.Mode = types.StringValue(bridge.FormatMode(info.Mode))
	}

	if m.secret() {
		intact, err := secretIntact(ctx, private, info)
		diags.Append(err...)
		if !intact {
			m.Revision = types.StringNull()
		}
		return diags
	}

	// A file that even its owner may not read, as with mode 0000, can only be
	// compared by size and mode. To call it changed would be to plan for ever.
	if info.Unreadable && sameMode && m.Size.ValueInt64() == info.Size {
		return diags
	}

	m.Size = types.Int64Value(info.Size)
	m.SHA256 = types.StringNull()
	if info.SHA256 != "" {
		m.SHA256 = types.StringValue(info.SHA256)
	}

	return diags
}

// adoptContent takes the content of an imported file into the state, as text if
// it is text, so that a configuration that says the same plans no change. Large
// files are left to their hash.
func (m *fileModel) adoptContent(ctx context.Context, sandbox *bridge.Sandbox, info bridge.FileInfo) diag.Diagnostics {
	var diags diag.Diagnostics

	if info.Kind != bridge.KindFile || info.Unreadable || info.Size > maxAdopted {
		return diags
	}

	var content bytes.Buffer
	// It may have grown since it was looked at.
	if _, err := sandbox.ReadAtMost(ctx, m.Path.ValueString(), maxAdopted, &content); err != nil {
		addFailure(&diags, path.Root("path"), "read "+m.describe(), err)
		return diags
	}

	if utf8.Valid(content.Bytes()) {
		m.Content = types.StringValue(content.String())
	} else {
		m.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(content.Bytes()))
	}

	return diags
}

// newRevision is a value that was never there before.
func newRevision() string {
	return strings.ToLower(rand.Text())
}
