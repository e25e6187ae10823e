package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
)

func TestFileImportedWithTheSameContentPlansNoChange(t *testing.T) {
	contents := map[string][]string{
		"text":                    {`path = "/workspace/a/file"`, `content = "grüße\n"`, `mode = "0600"`},
		"text, relative path":     {`path = "a/file"`, `content = "grüße\n"`, `mode = "0600"`},
		"empty":                   {`path = "a/file"`, `content = ""`, `mode = "0600"`},
		"bytes":                   {`path = "a/file"`, `content_base64 = "/wD+"`, `mode = "0600"`},
		"mode in another writing": {`path = "a/file"`, `content = "x"`, `mode = "600"`},
	}

	for name, attributes := range contents {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			var sandboxID string

			b.run(
				resource.TestStep{
					Config:            b.config(oneFile(attributes...)),
					ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
				},
				forget(b),
				resource.TestStep{
					PreConfig: b.forget,
					Config: b.config(oneFile(attributes...) + `
						import {
						  to = cloudflaresandbox_file.test
						  id = "${cloudflaresandbox_sandbox.test.id}/workspace/a/file"
						}`),
					ConfigPlanChecks: before(
						action(file, plancheck.ResourceActionNoop),
						b.forgetAtPlan(),
					),
					ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("")},
				},
			)
		})
	}
}

func TestFileImportedWithAnotherContentIsWritten(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	b.run(
		resource.TestStep{
			Config:            b.config(oneFile(`path = "file"`, `content = "old"`)),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
		},
		forget(b),
		resource.TestStep{
			Config: b.config(oneFile(`path = "file"`, `content = "new"`) + `
				import {
				  to = cloudflaresandbox_file.test
				  id = "${cloudflaresandbox_sandbox.test.id}/workspace/file"
				}`),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "content", "revision", "sha256"),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat file", "new")},
		},
	)
}

// An import cannot know that the content comes from a local file. That is
// recorded, and nothing is written.
func TestFileImportedFromASourceIsRecordedAndNotWritten(t *testing.T) {
	b := anyBridge(t)
	source := localFile(t, randomBytes(6, 2<<20))
	attributes := []string{`path = "file"`, set("source", source)}

	b.run(
		resource.TestStep{Config: b.config(oneFile(attributes...))},
		forget(b),
		resource.TestStep{
			Config: b.config(oneFile(attributes...) + `
				import {
				  to = cloudflaresandbox_file.test
				  id = "${cloudflaresandbox_sandbox.test.id}/workspace/file"
				}`),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "source"),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("")},
		},
	)
}

func TestFileImportRefusesWhatIsNoFileID(t *testing.T) {
	ids := map[string]string{
		"no path":         "kjs5dxdhwo5rnkmqjcaixp7tl4",
		"outside":         "kjs5dxdhwo5rnkmqjcaixp7tl4/etc/passwd",
		"bad sandbox id":  "KJS5/workspace/file",
		"the root itself": "kjs5dxdhwo5rnkmqjcaixp7tl4/workspace",
	}

	for name, id := range ids {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(
				resource.TestStep{
					Config:        b.config(oneFile(`path = "file"`, `content = "x"`)),
					ResourceName:  file,
					ImportState:   true,
					ImportStateId: id,
					ExpectError:   regexp.MustCompile(`(?s)Invalid import id.*SANDBOX_ID/workspace/PATH`),
				},
			)
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

func TestFileThatIsNotThereCannotBeImported(t *testing.T) {
	b := anyBridge(t)

	b.run(
		resource.TestStep{Config: b.config(oneSandbox)},
		resource.TestStep{
			Config: b.config(oneFile(`path = "file"`, `content = "x"`) + `
				import {
				  to = cloudflaresandbox_file.test
				  id = "${cloudflaresandbox_sandbox.test.id}/workspace/file"
				}`),
			ExpectError: regexp.MustCompile(`Cannot import non-existent remote object`),
		},
		resource.TestStep{Config: b.config(oneSandbox)},
	)
}

// forget takes the file out of the state and leaves it in the sandbox.
func forget(b *testBridge) resource.TestStep {
	return resource.TestStep{
		Config: b.config(oneSandbox + `
			removed {
			  from = cloudflaresandbox_file.test
			  lifecycle {
			    destroy = false
			  }
			}`),
	}
}
