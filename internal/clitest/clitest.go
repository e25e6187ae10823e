// Package clitest runs Terraform or OpenTofu in tests, with the test binary
// itself as the provider: nothing is built, installed or downloaded.
//
// It is for whole configurations as a user has them, files and all. Tests of
// one resource are better off with terraform-plugin-testing.
package clitest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

// Main is what a package's TestMain calls. It runs the tests, or serves the
// provider where Terraform has started the test binary as a plugin.
func Main(m *testing.M) int {
	if os.Getenv("TF_PLUGIN_MAGIC_COOKIE") == "" {
		return m.Run()
	}

	err := provider.Serve(context.Background(), "test", providerserver.ServeOpts{
		Address:         provider.Address,
		ProtocolVersion: 6,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return 0
}

// CLI is Terraform or OpenTofu in a directory of its own.
type CLI struct {
	// Dir is where it runs, empty but for what the test puts there.
	Dir string
	// Env is added to the environment of every run.
	Env []string

	path, config, data string
}

// New returns the CLI that TF_ACC_TERRAFORM_PATH names, and skips the test
// where acceptance tests are not asked for.
func New(t *testing.T) *CLI {
	t.Helper()

	path := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || path == "" {
		t.Skip("needs TF_ACC=1 and TF_ACC_TERRAFORM_PATH, as `make test` sets them")
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugins := t.TempDir()
	if err := os.Symlink(self, filepath.Join(plugins, "terraform-provider-cloudflaresandbox")); err != nil {
		t.Fatal(err)
	}

	c := &CLI{Dir: t.TempDir(), path: path, config: filepath.Join(plugins, "cli.tfrc"), data: t.TempDir()}
	config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n}\n", provider.Address, plugins)
	if err := os.WriteFile(c.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}

	return c
}

// Require writes the block that says where the provider comes from, for a
// configuration that leaves it out.
func (c *CLI) Require(t *testing.T) {
	t.Helper()

	block := fmt.Sprintf("terraform {\n  required_providers {\n    cloudflaresandbox = {\n      source = %q\n    }\n  }\n}\n", provider.Address)
	if err := os.WriteFile(filepath.Join(c.Dir, "required_providers.tf"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Run runs a command and returns what it printed to standard output. A failure
// ends the test.
func (c *CLI) Run(t *testing.T, args ...string) []byte {
	t.Helper()

	cmd := c.Command(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, &stderr)
	}

	return out
}

// Try runs a command that may fail, and returns all that it printed.
func (c *CLI) Try(t *testing.T, args ...string) (string, error) {
	t.Helper()

	out, err := c.Command(t, args...).CombinedOutput()

	return string(out), err
}

// Command is a run that has not been started yet. It is killed when the test
// ends, unless it belongs to the cleaning up after it.
func (c *CLI) Command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()

	ctx := t.Context()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Env = append(cmd.Env, "TF_CLI_CONFIG_FILE="+c.config, "TF_DATA_DIR="+c.data, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1")

	return cmd
}
