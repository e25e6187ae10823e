package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// treeKey is where the private state keeps what was put into the sandbox. The
// attributes cannot: a refresh has them tell what is there, and they name
// neither directories nor links, nor every name as it is.
const treeKey = "tree"

// describe names the directory in messages.
func (m *directoryModel) describe() string {
	return fmt.Sprintf("directory %q in sandbox %s", m.Path.ValueString(), m.SandboxID.ValueString())
}

// hold records what the directory holds.
func (m *directoryModel) hold(tree bridge.Tree) {
	m.SHA256 = types.StringValue(tree.SHA256())
	m.Files = treeFiles(tree)
}

// observe records what a refresh saw of the tree.
func (m *directoryModel) observe(info *bridge.TreeInfo) {
	m.hold(info.Tree)
	if info.Root != bridge.KindDirectory {
		// Even an empty tree is not there, and the next plan makes it.
		m.Revision = types.StringNull()
	}
}

// treeFiles are the hashes of a tree's files by their paths.
func treeFiles(tree bridge.Tree) types.Map {
	files := map[string]attr.Value{}
	for _, entry := range tree {
		if entry.Kind == bridge.KindFile {
			files[fileKey(entry.Path)] = types.StringValue(entry.SHA256)
		}
	}

	return types.MapValueMust(types.StringType, files)
}

// fileKey writes a path so that Terraform keeps it as it is. Terraform has only
// text in Unicode's composed form (NFC), and two names may differ in just that;
// what is not such text is written as a quoted string, with escapes. A name that
// starts with a quotation mark itself is quoted too, so that no two are alike.
func fileKey(path string) string {
	if !utf8.ValidString(path) || !norm.NFC.IsNormalString(path) || strings.HasPrefix(path, `"`) {
		return strconv.QuoteToASCII(path)
	}

	return path
}

// filesTree is a tree of these files and the directories that they are in.
func filesTree(files types.Map) bridge.Tree {
	var tree bridge.Tree
	directories := map[string]bool{".": true}
	for key := range files.Elements() {
		file := keyFile(key)
		tree = append(tree, bridge.TreeEntry{Path: file, Kind: bridge.KindFile})
		for up := path.Dir(file); !directories[up]; up = path.Dir(up) {
			directories[up] = true
			tree = append(tree, bridge.TreeEntry{Path: up, Kind: bridge.KindDirectory})
		}
	}
	tree.Sort()

	return tree
}

// keyFile is the path that fileKey has written.
func keyFile(key string) string {
	if file, err := strconv.Unquote(key); err == nil && strings.HasPrefix(key, `"`) {
		return file
	}

	return key
}

// rememberTree records what was put into the sandbox.
func rememberTree(ctx context.Context, private privateState, tree bridge.Tree) diag.Diagnostics {
	// Names may be any bytes, and JSON has only text: as bytes they are base64.
	encoded, err := json.Marshal(tree.Encode())
	if err != nil {
		var diags diag.Diagnostics
		diags.AddError("Directory cannot be remembered", sentence(err))
		return diags
	}

	return private.SetKey(ctx, treeKey, encoded)
}

// recallTree is what was put into the sandbox.
func recallTree(ctx context.Context, private privateReader) (bridge.Tree, diag.Diagnostics) {
	encoded, diags := private.GetKey(ctx, treeKey)
	if diags.HasError() || len(encoded) == 0 {
		return nil, diags
	}

	var list []byte
	err := json.Unmarshal(encoded, &list)
	if err != nil {
		diags.AddError("State cannot be read", "What was put into the sandbox is not recorded in a form that this version knows. "+sentence(err))
		return nil, diags
	}

	tree, err := bridge.DecodeTree(list)
	if err != nil {
		diags.AddError("State cannot be read", "What was put into the sandbox is not recorded in a form that this version knows. "+sentence(err))
	}

	return tree, diags
}

// lastPut is, for a destroy, what was put into the sandbox. Terraform forgets the
// private state of what it replaces because it is tainted. What is left then are
// the files that a refresh has seen, or that may be there.
func (m *directoryModel) lastPut(ctx context.Context, private privateReader) (bridge.Tree, diag.Diagnostics) {
	remembered, diags := private.GetKey(ctx, treeKey)
	if len(remembered) == 0 {
		return filesTree(m.Files), diags
	}

	return recallTree(ctx, private)
}

// stillThere is the part of a tree that a refresh has found in its place. What
// somebody has removed is not ours any more, should it come back.
func stillThere(was bridge.Tree, info *bridge.TreeInfo) bridge.Tree {
	found := make(map[string]bridge.Kind, len(info.Tree))
	for _, entry := range info.Tree {
		found[entry.Path] = entry.Kind
	}

	var left bridge.Tree
	for _, entry := range was {
		kind, there := found[entry.Path]
		if there && kind != bridge.KindOther && (kind == bridge.KindDirectory) == (entry.Kind == bridge.KindDirectory) {
			left = append(left, entry)
		}
	}

	return left
}

// eitherTree is what may be in the sandbox after a write that did not come to
// its end: what was put there before, or was going to be.
func eitherTree(was, wanted bridge.Tree) bridge.Tree {
	either := append(bridge.Tree{}, wanted...)
	known := make(map[string]bool, len(wanted))
	for _, entry := range wanted {
		known[entry.Path] = true
	}
	for _, entry := range was {
		if !known[entry.Path] {
			either = append(either, entry)
		}
	}
	either.Sort()

	return either
}
