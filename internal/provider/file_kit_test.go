package provider_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
)

const file = "cloudflaresandbox_file.test"

// fileBlock is a file resource in the sandbox of oneSandbox.
func fileBlock(name string, attributes ...string) string {
	return fmt.Sprintf("resource \"cloudflaresandbox_file\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		name, strings.Join(attributes, "\n  "))
}

// oneFile is a sandbox with one file.
func oneFile(attributes ...string) string {
	return oneSandbox + fileBlock("test", attributes...)
}

func set(attribute, value string) string {
	return attribute + " = " + hcl(value)
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)

	return hex.EncodeToString(digest[:])
}

func base64Of(content []byte) string {
	return base64.StdEncoding.EncodeToString(content)
}

// randomBytes is different bytes for every seed, and the same for one.
func randomBytes(seed byte, size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content)

	return content
}

// localFile writes a file outside of the sandbox and returns its path.
func localFile(t *testing.T, content []byte) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// shell quotes a word for bash, newlines and all.
func shell(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// expectFiles checks from inside that each path has just this content.
func (b *testBridge) expectFiles(sandboxID *string, files map[string][]byte) onState {
	return func(*tfjson.State) error {
		var script strings.Builder
		paths := slices.Sorted(maps.Keys(files))
		for _, path := range paths {
			fmt.Fprintf(&script, "sha256sum < %s || true\n", shell(path))
		}

		output, err := b.tryInside(*sandboxID, script.String())
		if err != nil {
			return err
		}

		sums := strings.Split(output, "  -\n")
		if len(sums) != len(paths)+1 {
			return fmt.Errorf("%d of %d files can be read inside: %q", len(sums)-1, len(paths), paths)
		}
		for i, path := range paths {
			if want := sum(files[path]); sums[i] != want {
				return fmt.Errorf("%q has SHA-256 %s inside, want %s", path, sums[i], want)
			}
		}

		return nil
	}
}
