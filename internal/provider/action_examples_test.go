package provider_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

// OpenTofu, and Terraform before 1.14, cannot read the examples of actions.
func TestExamplesOfActionsFitTheirSchemas(t *testing.T) {
	t.Parallel()

	server := providerserver.NewProtocol6(provider.New("test")())()
	schema, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}

	for name, action := range schema.ActionSchemas {
		path := filepath.Join("..", "..", "examples", "actions", name, "action.tf")
		parsed, diags := hclparse.NewParser().ParseHCLFile(path)
		if diags.HasErrors() {
			t.Error(diags)
			continue
		}
		body, ok := parsed.Body.(*hclsyntax.Body)
		if !ok {
			t.Fatalf("parsed to a %T", parsed.Body)
		}
		given := configuredArguments(t, body, name)
		for _, attribute := range action.Schema.Block.Attributes {
			if attribute.Required && !given[attribute.Name] {
				t.Errorf("%s lacks %s", path, attribute.Name)
			}
			delete(given, attribute.Name)
		}
		if len(given) > 0 {
			t.Errorf("%s has %v, which %s does not know", path, given, name)
		}
	}
}

// configuredArguments are the arguments of the one action in a file.
func configuredArguments(t *testing.T, body *hclsyntax.Body, action string) map[string]bool {
	t.Helper()

	given := map[string]bool{}
	found := 0
	for _, block := range body.Blocks {
		if block.Type != "action" || block.Labels[0] != action {
			continue
		}
		found++
		for _, config := range block.Body.Blocks {
			for name := range config.Body.Attributes {
				given[name] = true
			}
		}
	}
	if found != 1 {
		t.Errorf("%d blocks of action %s", found, action)
	}

	return given
}
