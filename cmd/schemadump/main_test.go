package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

// TestMain serves the provider when Terraform starts this test binary as a
// plugin, so that the comparison below needs no separate build.
func TestMain(m *testing.M) {
	if os.Getenv("TF_PLUGIN_MAGIC_COOKIE") == "" {
		os.Exit(m.Run())
	}

	err := providerserver.Serve(context.Background(), provider.New("dev"), providerserver.ServeOpts{
		Address:         provider.Address,
		ProtocolVersion: 6,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestDumpIsDeterministic(t *testing.T) {
	t.Parallel()

	if first, second := dumped(t), dumped(t); !bytes.Equal(first, second) {
		t.Errorf("two dumps differ:\n%s", cmp.Diff(string(first), string(second)))
	}
}

// What the CLI knows must be exactly what it prints itself; what it does not
// know yet (Terraform 1.11: actions, identities) it leaves out.
func TestDumpAgreesWithTheCommandLine(t *testing.T) {
	t.Parallel()

	cli := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || cli == "" {
		t.Skip("needs TF_ACC=1 and TF_ACC_TERRAFORM_PATH, as `make test` sets them")
	}

	ours := withoutDialect(providerFrom(t, dumped(t)))
	theirs := withoutDialect(providerFrom(t, printed(t, cli)))

	if _, ok := theirs["resource_schemas"]; !ok {
		t.Fatalf("%s printed no resource schemas", cli)
	}
	for part, want := range theirs {
		if diff := cmp.Diff(want, ours[part]); diff != "" {
			t.Errorf("%s: -%s +schemadump\n%s", part, filepath.Base(cli), diff)
		}
	}
}

// withoutDialect leaves out what the tools differ in among themselves: OpenTofu
// prints deprecation messages, and some empty descriptions.
func withoutDialect(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		if child, ok := value.(map[string]any); ok {
			value = withoutDialect(child)
		}
		if key != "deprecation_message" && value != "" {
			out[key] = value
		}
	}

	return out
}

func dumped(t *testing.T) []byte {
	t.Helper()

	var out bytes.Buffer
	if err := dump(t.Context(), &out, provider.Address); err != nil {
		t.Fatal(err)
	}

	return out.Bytes()
}

// printed is what the command-line tool says about this provider.
func printed(t *testing.T, cli string) []byte {
	t.Helper()

	plugins, work := t.TempDir(), t.TempDir()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(plugins, "terraform-provider-cloudflaresandbox")); err != nil {
		t.Fatal(err)
	}

	cliConfig := filepath.Join(work, "cli.tfrc")
	writeFile(t, cliConfig, fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n}\n", provider.Address, plugins))
	writeFile(t, filepath.Join(work, "main.tf"), fmt.Sprintf("terraform {\n  required_providers {\n    cloudflaresandbox = {\n      source = %q\n    }\n  }\n}\n", provider.Address))

	cmd := exec.CommandContext(t.Context(), cli, "providers", "schema", "-json")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+cliConfig, "TF_DATA_DIR="+filepath.Join(work, "data"), "CHECKPOINT_DISABLE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}

	return out
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()

	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// providerFrom is the one provider in a schema document, by part.
func providerFrom(t *testing.T, document []byte) map[string]any {
	t.Helper()

	var parsed struct {
		Schemas map[string]map[string]any `json:"provider_schemas"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatalf("%v in %s", err, document)
	}

	schema, ok := parsed.Schemas[provider.Address]
	if !ok {
		t.Fatalf("no schema of %s in %s", provider.Address, document)
	}

	return schema
}
