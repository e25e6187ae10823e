package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/clitest"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func TestMain(m *testing.M) {
	os.Exit(clitest.Main(m))
}

// Every example is what a reader copies first: it must be valid, apply, be
// stable afterwards and leave nothing behind.
//
// Sandboxes of the local bridge share the ports of this machine, so each example
// with a server has a port of its own.
func TestExamples(t *testing.T) {
	t.Parallel()

	for _, example := range examples(t) {
		t.Run(strings.TrimPrefix(example, "examples/"), func(t *testing.T) {
			t.Parallel()

			cli := clitest.New(t)
			if strings.HasPrefix(example, "examples/actions/") && !knowsActions(t, cli) {
				t.Skip("Terraform 1.14 reads it; internal/provider checks its arguments")
			}
			if err := os.CopyFS(cli.Dir, os.DirFS(example)); err != nil {
				t.Fatal(err)
			}
			if !mentions(t, cli.Dir, "required_providers") {
				cli.Require(t)
			}
			cli.Env = []string{
				"TF_VAR_token=not-a-secret", "TF_VAR_bridge_key=not-a-secret",
				"TF_VAR_access_key_id=not-a-secret", "TF_VAR_secret_access_key=not-a-secret",
			}

			if mentions(t, cli.Dir, "module \"") {
				cli.Run(t, "get")
			}
			validateExample(t, cli)

			if example == "examples/provider" {
				planWithSandbox(t, cli)
				return
			}
			applyExample(t, cli)
		})
	}
}

// validateExample checks an example as it is. A resource can be imported in one
// way at a time, so each way is checked by itself.
func validateExample(t *testing.T, cli *clitest.CLI) {
	t.Helper()

	byIdentity := filepath.Join(cli.Dir, "import-by-identity.tf")
	content, err := os.ReadFile(byIdentity)
	removeAll(t, byIdentity)
	cli.Run(t, "validate")

	if err != nil || !knowsIdentities(t, cli) {
		return
	}
	removeAll(t, filepath.Join(cli.Dir, "import*.tf"))
	if err := os.WriteFile(byIdentity, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cli.Run(t, "validate")
}

// planWithSandbox plans a sandbox with an example that is a provider block alone,
// which Terraform would not even look at. That needs no bridge, and the example
// names one that does not exist.
func planWithSandbox(t *testing.T, cli *clitest.CLI) {
	t.Helper()

	sandbox := []byte("resource \"cloudflaresandbox_sandbox\" \"planned\" {}\n")
	if err := os.WriteFile(filepath.Join(cli.Dir, "sandbox.tf"), sandbox, 0o600); err != nil {
		t.Fatal(err)
	}
	cli.Run(t, "plan")
}

// knowsIdentities reports whether resources can be imported by identity:
// Terraform and OpenTofu can from 1.12 on.
func knowsIdentities(t *testing.T, cli *clitest.CLI) bool {
	t.Helper()

	_, major, minor := cliVersion(t, cli)

	return major > 1 || minor >= 12
}

// knowsActions reports whether there are actions: in Terraform from 1.14 on.
func knowsActions(t *testing.T, cli *clitest.CLI) bool {
	t.Helper()

	name, major, minor := cliVersion(t, cli)

	return name == "Terraform" && (major > 1 || minor >= 14)
}

// cliVersion is the name and the version of the CLI, as in "Terraform v1.11.4".
func cliVersion(t *testing.T, cli *clitest.CLI) (name string, major, minor int) {
	t.Helper()

	told := string(cli.Run(t, "version"))
	if _, err := fmt.Sscanf(told, "%s v%d.%d", &name, &major, &minor); err != nil {
		t.Fatalf("version %q: %v", told, err)
	}

	return name, major, minor
}

// applyExample takes an example from apply to destroy on a bridge of its own.
func applyExample(t *testing.T, cli *clitest.CLI) {
	t.Helper()

	bridge, err := localbridge.Start(t.Context(), localbridge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bridge.Close() })
	cli.Env = append(cli.Env, "CLOUDFLARE_SANDBOX_API_URL="+bridge.URL(), "CLOUDFLARE_SANDBOX_API_KEY="+bridge.Key())

	// An example of an import names a sandbox that is not there.
	removeAll(t, filepath.Join(cli.Dir, "import*.tf"))

	if _, err := os.Stat(filepath.Join(cli.Dir, "tests")); err == nil {
		cli.Run(t, "test")
	}

	cli.Run(t, "apply", "-auto-approve")

	// A plan with changes exits with 2, which fails the test.
	cli.Run(t, "plan", "-detailed-exitcode")

	cli.Run(t, "destroy", "-auto-approve")
	if left := bridge.Assigned(); left != 0 {
		t.Errorf("%d containers are left after destroy", left)
	}
}

// examples are the directories with configurations in them.
func examples(t *testing.T) []string {
	t.Helper()

	var dirs []string
	err := filepath.WalkDir("examples", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		configurations, err := filepath.Glob(filepath.Join(path, "*.tf"))
		if err != nil || len(configurations) == 0 {
			return err
		}
		dirs = append(dirs, filepath.ToSlash(path))
		// What is below an example is a part of it: modules, tests, files.
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("no examples found")
	}

	return dirs
}

// mentions reports whether a configuration in dir has a word in it.
func mentions(t *testing.T, dir, word string) bool {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(word)) {
			return true
		}
	}

	return false
}

func removeAll(t *testing.T, pattern string) {
	t.Helper()

	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
