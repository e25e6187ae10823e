package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"terraform-provider-cloudflaresandbox/internal/clitest"
	"terraform-provider-cloudflaresandbox/internal/provider"
)

func TestMain(m *testing.M) {
	os.Exit(clitest.Main(m))
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

	cli := clitest.New(t)
	cli.Require(t)

	ours := withoutDialect(providerFrom(t, dumped(t)))
	theirs := withoutDialect(providerFrom(t, cli.Run(t, "providers", "schema", "-json")))

	if _, ok := theirs["resource_schemas"]; !ok {
		t.Fatal("the command line printed no resource schemas")
	}
	for part, want := range theirs {
		if diff := cmp.Diff(want, ours[part]); diff != "" {
			t.Errorf("%s: -command line +schemadump\n%s", part, diff)
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
