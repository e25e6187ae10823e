package soak_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// node is a file (f), a directory (d) or a link (l) as it has to be.
type node struct {
	kind string
	mode os.FileMode
	// text is the content of a file, or where a link leads.
	text string
}

// treeRoot is where in /workspace the directory of a sandbox is.
const treeRoot = "tree"

// tree is what the directory of a sandbox has in this round, by path. Something
// comes, goes and changes with every round, and some names are now a file, now a
// directory, now a link.
func (f fleet) tree(s int) map[string]node {
	tree := map[string]node{
		"keeps":   {"f", 0o644, "always the same"},
		"empty":   {"d", 0o755, ""},
		"changes": {"f", []os.FileMode{0o600, 0o755}[f.round%2], fmt.Sprintf("round %d of sandbox %d\n", f.round, s)},
		"link":    {"l", 0, []string{"keeps", "changes"}[f.round%2]},
		"some":    {"d", 0o755, ""},
	}
	tree[fmt.Sprintf("some/of round %d", f.round)] = node{"f", 0o640, "x"}

	deep := fmt.Sprintf("of rounds %d", f.round/2)
	tree[deep] = node{"d", 0o700, ""}
	tree[deep+"/deeper"] = node{"d", 0o755, ""}
	tree[deep+"/deeper/file"] = node{"f", 0o644, ""}

	switch f.round % 3 {
	case 0:
		tree["turns"] = node{"d", 0o755, ""}
		tree["turns/inside"] = node{"f", 0o644, deep}
	case 1:
		tree["turns"] = node{"f", 0o644, deep}
	case 2:
		tree["turns"] = node{"l", 0, deep}
	}

	return tree
}

// writeDirectory declares it.
func (f fleet) writeDirectory(text *strings.Builder, dir string, s int) error {
	name := sandboxName(s)
	fmt.Fprintf(text, `
resource "cloudflaresandbox_directory" %[1]q {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  source = "%[1]s.tree"
  path = %[2]q
}
`, name, treeRoot)

	return f.writeTree(filepath.Join(dir, name+".tree"), s)
}

// writeTree makes the local directory anew.
func (f fleet) writeTree(source string, s int) error {
	if err := os.RemoveAll(source); err != nil {
		return err
	}
	for path, n := range f.tree(s) {
		path = filepath.Join(source, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		var err error
		switch n.kind {
		case "l":
			err = os.Symlink(n.text, path)
		case "d":
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, []byte(n.text), 0o600)
		}
		if err != nil {
			return err
		}
		if n.kind == "l" {
			continue
		}
		// Whatever this machine's umask is.
		if err := os.Chmod(path, n.mode); err != nil {
			return err
		}
	}

	return nil
}
