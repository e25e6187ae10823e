package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

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

// The documentation says of everything what it is for.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()

	schema, err := providerSchema(t.Context(), providerserver.NewProtocol6(provider.New("test")())())
	if err != nil {
		t.Fatal(err)
	}

	seen := 0
	described := func(what, description string) {
		seen++
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", what)
		}
	}
	blocks := map[string]*blockJSON{"the provider": schema.Provider.Block}
	for kind, objects := range map[string]map[string]*schemaJSON{
		"resource": schema.Resources, "data source": schema.DataSources, "ephemeral resource": schema.EphemeralResources,
		"list resource": schema.ListResources,
	} {
		for name, object := range objects {
			blocks[kind+" "+name] = object.Block
		}
	}
	for name, action := range schema.Actions {
		blocks["action "+name] = action.Block
	}
	for name, block := range blocks {
		describedBlock(name, block, described)
	}
	for name, identity := range schema.Identities {
		for attribute, declared := range identity.Attributes {
			described("identity "+name+"."+attribute, declared.Description)
		}
	}
	for name, function := range schema.Functions {
		described("function "+name, function.Description)
		described("summary of function "+name, function.Summary)
		for _, parameter := range function.Parameters {
			described("function "+name+", parameter "+parameter.Name, parameter.Description)
		}
		if last := function.VariadicParameter; last != nil {
			described("function "+name+", parameter "+last.Name, last.Description)
		}
	}
	if seen < 100 {
		t.Errorf("only %d descriptions were looked for", seen)
	}
}

// describedBlock hands on the description of a block and of all that is in it.
func describedBlock(name string, block *blockJSON, described func(what, description string)) {
	described(name, block.Description)
	describedAttributes(name, block.Attributes, described)
	for nested, declared := range block.BlockTypes {
		describedBlock(name+"."+nested, declared.Block, described)
	}
}

func describedAttributes(name string, attributes map[string]*attributeJSON, described func(what, description string)) {
	for attribute, declared := range attributes {
		described(name+"."+attribute, declared.Description)
		if declared.NestedType != nil {
			describedAttributes(name+"."+attribute, declared.NestedType.Attributes, described)
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
