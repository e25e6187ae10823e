package provider_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
		for path, content := range files {
			got, err := b.tryInside(*sandboxID, "sha256sum < "+shell(path))
			if err != nil {
				return err
			}
			if want := sum(content) + "  -\n"; got != want {
				return fmt.Errorf("%q has SHA-256 %s inside, want %s", path, got, want)
			}
		}

		return nil
	}
}
