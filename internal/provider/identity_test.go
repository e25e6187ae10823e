package provider_test

import (
	"fmt"
	"regexp"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// runWithIdentity is run for Terraform and OpenTofu that know identities.
func (b *testBridge) runWithIdentity(steps ...resource.TestStep) {
	b.t.Helper()

	resource.Test(b.t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps:                    steps,
	})
	b.expectNothingLeft()
}

func TestSandboxIsImportedByIdentity(t *testing.T) {
	b := anyBridge(t)
	id := b.occupy()
	t.Cleanup(func() { b.lose(id) })

	b.runWithIdentity(resource.TestStep{
		Config: b.config(oneSandbox + fmt.Sprintf(`
			import {
			  to       = cloudflaresandbox_sandbox.test
			  identity = { id = %q }
			}`, id)),
		ConfigPlanChecks:  before(action(sandbox, plancheck.ResourceActionNoop)),
		ConfigStateChecks: []statecheck.StateCheck{expectID(sandbox, &id)},
	})
}

func expectID(address string, want *string) onState {
	var got string
	found := capture(address, "id", &got)

	return func(state *tfjson.State) error {
		if err := found(state); err != nil {
			return err
		}

		return same(want)(got)
	}
}

func TestFileIsImportedByIdentity(t *testing.T) {
	spellings := map[string]string{"absolute": "/workspace/a/file", "relative": "a/file", "roundabout": "./a//b/../file"}

	for name, path := range spellings {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			attributes := []string{`path = "a/file"`, `content = "x"`}

			b.runWithIdentity(
				resource.TestStep{Config: b.config(oneFile(attributes...))},
				forget(b),
				resource.TestStep{
					Config: b.config(oneFile(attributes...) + `
						import {
						  to       = cloudflaresandbox_file.test
						  identity = {
						    sandbox_id = cloudflaresandbox_sandbox.test.id
						    path       = "` + path + `"
						  }
						}`),
					ConfigPlanChecks: before(action(file, plancheck.ResourceActionNoop)),
				},
				// A change keeps the identity, however the path is spelled.
				resource.TestStep{
					Config:           b.config(oneFile(`path = "/workspace/a/file"`, `content = "y"`)),
					ConfigPlanChecks: before(action(file, plancheck.ResourceActionUpdate)),
				},
				// Another path is another file, with another identity.
				resource.TestStep{
					Config:           b.config(oneFile(`path = "/workspace/b"`, `content = "y"`)),
					ConfigPlanChecks: before(action(file, plancheck.ResourceActionDestroyBeforeCreate)),
				},
			)
		})
	}
}

func TestImportRefusesWhatIsNoIdentity(t *testing.T) {
	cases := map[string]struct{ to, identity, want string }{
		"sandbox id":        {"cloudflaresandbox_sandbox.test", `{ id = "No/Id" }`, `(?s)Invalid import id.*imported\s+by\s+its\s+id`},
		"file's sandbox id": {"cloudflaresandbox_file.test", `{ sandbox_id = "No", path = "x" }`, `(?s)Invalid import id.*SANDBOX_ID/workspace/PATH`},
		"path outside":      {"cloudflaresandbox_file.test", `{ sandbox_id = "abc", path = "../etc/passwd" }`, `(?s)Invalid import id.*is\s+outside`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := localBridge(t, localbridge.Config{})
			b.runWithIdentity(resource.TestStep{
				Config:      b.config(oneFile(`path = "file"`, `content = "x"`) + "import {\n  to = " + c.to + "\n  identity = " + c.identity + "\n}\n"),
				ExpectError: regexp.MustCompile(c.want),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

// identityType is the identity of a resource as the provider declares it.
func (s served) identityType(resource string) tftypes.Object {
	s.t.Helper()

	schemas, err := s.GetResourceIdentitySchemas(s.t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	types := map[string]tftypes.Type{}
	for _, attribute := range schemas.IdentitySchemas[resource].IdentityAttributes {
		types[attribute.Name] = attribute.Type
	}

	return tftypes.Object{AttributeTypes: types}
}

// Whichever way something is imported, and whichever client reads it
// afterwards, it has the same identity.
func TestIdentityIsTheSameWhateverItWasImportedBy(t *testing.T) {
	b := anyBridge(t)
	id := b.occupy()
	b.inside(id, "mkdir a; printf x >a/file")
	s := b.serve()

	cases := []struct {
		name, resource, id string
		identity           map[string]string
		want               map[string]string
	}{
		{"sandbox by id", "cloudflaresandbox_sandbox", id, nil, map[string]string{"id": id}},
		{"sandbox by identity", "cloudflaresandbox_sandbox", "", map[string]string{"id": id}, map[string]string{"id": id}},
		{
			"file by id", "cloudflaresandbox_file", id + "/workspace/a/file", nil,
			map[string]string{"sandbox_id": id, "path": "/workspace/a/file"},
		},
		{
			"file by identity", "cloudflaresandbox_file", "",
			map[string]string{"sandbox_id": id, "path": "./a//file"},
			map[string]string{"sandbox_id": id, "path": "/workspace/a/file"},
		},
	}

	for _, c := range cases {
		of := s.identityType(c.resource)
		request := &tfprotov6.ImportResourceStateRequest{TypeName: c.resource, ID: c.id}
		if c.identity != nil {
			given := map[string]tftypes.Value{}
			for name, value := range c.identity {
				given[name] = tftypes.NewValue(tftypes.String, value)
			}
			request.Identity = &tfprotov6.ResourceIdentityData{IdentityData: dynamic(t, of, given)}
		}

		imported, err := s.ImportResourceState(t.Context(), request)
		if err != nil || len(imported.Diagnostics) > 0 {
			t.Fatalf("%s: %v, %v", c.name, err, imported.Diagnostics)
		}
		resource := imported.ImportedResources[0]
		if got := s.strings(resource.Identity.IdentityData, of); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: imported as %v, want %v", c.name, got, c.want)
		}

		// Terraform before 1.12 keeps none.
		read, err := s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
			TypeName: c.resource, CurrentState: resource.State, Private: resource.Private,
		})
		if err != nil || len(read.Diagnostics) > 0 {
			t.Fatalf("%s: %v, %v", c.name, err, read.Diagnostics)
		}
		if got := s.strings(read.NewIdentity.IdentityData, of); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: read as %v, want %v", c.name, got, c.want)
		}
	}
	b.lose(id)
}

// What is gone is taken out of the state, with or without an identity.
func TestReadOfAFileThatIsGoneNeedsNoIdentity(t *testing.T) {
	b := anyBridge(t)
	id := b.occupy()
	s := b.serve()

	imported, err := s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: "cloudflaresandbox_file", ID: id + "/workspace/none",
	})
	if err != nil || len(imported.Diagnostics) > 0 {
		t.Fatalf("import: %v, %v", err, imported.Diagnostics)
	}
	read, err := s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: "cloudflaresandbox_file", CurrentState: imported.ImportedResources[0].State,
	})
	if err != nil || len(read.Diagnostics) > 0 {
		t.Fatalf("read: %v, %v", err, read.Diagnostics)
	}
	if gone, err := read.NewState.IsNull(); err != nil || !gone {
		t.Errorf("the state is kept: %v", err)
	}
	b.lose(id)
}

func TestRenamedResourcesAreNotTouched(t *testing.T) {
	b := anyBridge(t)
	const moves = `
		moved {
		  from = cloudflaresandbox_sandbox.old
		  to   = cloudflaresandbox_sandbox.test
		}
		moved {
		  from = cloudflaresandbox_file.old
		  to   = cloudflaresandbox_file.test
		}`

	b.run(
		resource.TestStep{
			Config: b.config(`
				resource "cloudflaresandbox_sandbox" "old" {}
				resource "cloudflaresandbox_file" "old" {
				  sandbox_id = cloudflaresandbox_sandbox.old.id
				  path       = "file"
				  content    = "x"
				}`),
		},
		resource.TestStep{
			PreConfig:         b.forget,
			Config:            b.config(oneFile(`path = "file"`, `content = "x"`) + moves),
			ConfigPlanChecks:  before(plancheck.ExpectEmptyPlan(), b.forgetAtPlan()),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("")},
		},
	)
}

// No state needs an upgrade yet, so every released version can read it.
func TestStatesHaveTheirFirstVersion(t *testing.T) {
	t.Parallel()
	s := serve(t, "http://127.0.0.1:9", "")

	for name, schema := range s.schema.ResourceSchemas {
		if schema.Version != 0 {
			t.Errorf("%s has version %d", name, schema.Version)
		}
	}
}
