package provider_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

func TestFileReplacesWhatIsAtThePath(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig: func() {
				b.inside(sandboxID, "echo old > file; chmod 0700 file; echo kept > target; ln -s target link; ln -s nowhere dangling")
			},
			Config: b.config(oneSandbox +
				fileBlock("file", `path = "file"`, `content = "new"`) +
				fileBlock("link", `path = "link"`, `content = "new"`) +
				fileBlock("dangling", `path = "dangling"`, `content = "new"`)),
			ConfigPlanChecks: before(
				action("cloudflaresandbox_file.file", plancheck.ResourceActionCreate),
				action("cloudflaresandbox_file.link", plancheck.ResourceActionCreate),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "stat -c '%n %F %a' file link dangling; cat file link dangling target; test ! -e nowhere",
					"file regular file 644\nlink regular file 644\ndangling regular file 644\nnewnewnewkept\n"),
			},
		},
	)
}

func TestFileInPlaceOfADirectoryIsAnErrorAtPath(t *testing.T) {
	b := anyBridge(t)
	b.expectWriteError("mkdir taken; echo kept > taken/file", "taken",
		`(?s)File operation refused.*path = "taken".*it is a\s+directory`, "cat taken/file", "kept\n")
}

func TestFileInAReadOnlyDirectoryIsAnErrorAtPath(t *testing.T) {
	b := anyBridge(t)
	b.expectWriteError("mkdir closed; chmod 0555 closed", "closed/file",
		`(?s)File operation refused.*path = "closed/file".*Permission\s+denied`, "ls -A closed", "")
}

func TestFileBelowAFileIsAnErrorAtPath(t *testing.T) {
	b := anyBridge(t)
	b.expectWriteError("echo kept > file", "file/below",
		`(?s)File operation refused.*path = "file/below"`, "cat file", "kept\n")
}

// expectWriteError expects that a file cannot be written, and that what is in
// the sandbox stays as it was.
func (b *testBridge) expectWriteError(prepare, path, message, look, want string) {
	b.t.Helper()
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig:   func() { b.inside(sandboxID, prepare) },
			Config:      b.config(oneFile(set("path", path), `content = "new"`)),
			ExpectError: regexp.MustCompile(message),
		},
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, look, want),
				b.expectInside(&sandboxID, "find /workspace -name '.*' ! -path '*/..' -mindepth 1", ""),
			},
		},
	)
}

func TestFileDriftIsRepairedInPlace(t *testing.T) {
	drifts := map[string]struct {
		script  string
		changes []string
	}{
		"changed":             {"echo changed > file", []string{"revision", "sha256", "size"}},
		"changed at its size": {"echo WANTED > file", []string{"revision", "sha256"}},
		"chmod-ed":            {"chmod 0600 file", []string{"mode", "revision"}},
		"made a link":         {"mv file elsewhere; ln -s elsewhere file", []string{"revision", "sha256", "size"}},
	}

	for name, drift := range drifts {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			var sandboxID, revision string
			config := b.config(oneFile(`path = "file"`, `content = "wanted\n"`))

			b.run(
				resource.TestStep{
					Config: config,
					ConfigStateChecks: []statecheck.StateCheck{
						capture(sandbox, "id", &sandboxID), capture(file, "revision", &revision),
					},
				},
				resource.TestStep{
					PreConfig: func() { b.inside(sandboxID, drift.script) },
					Config:    config,
					ConfigPlanChecks: before(
						action(sandbox, plancheck.ResourceActionNoop),
						action(file, plancheck.ResourceActionUpdate),
						changes(file, drift.changes...),
					),
					ConfigStateChecks: []statecheck.StateCheck{
						b.expectInside(&sandboxID, "cat file; stat -c '%F %a' file", "wanted\nregular file 644\n"),
						statecheck.ExpectKnownValue(file, tfjsonpath.New("revision"), knownvalue.StringFunc(different(&revision))),
					},
				},
			)
		})
	}
}

func TestFileDeletedInsideIsMadeAgain(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string
	config := b.config(oneFile(`path = "file"`, `content = "wanted\n"`))

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
		},
		resource.TestStep{
			PreConfig:         func() { b.inside(sandboxID, "rm file") },
			Config:            config,
			ConfigPlanChecks:  before(action(file, plancheck.ResourceActionCreate)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat file", "wanted\n")},
		},
		resource.TestStep{
			// Gone already when it is to be removed: nothing is wrong with that.
			PreConfig: func() { b.inside(sandboxID, "rm file") },
			Config:    b.config(oneSandbox),
		},
	)
}

func TestFileFollowsItsSource(t *testing.T) {
	b := anyBridge(t)
	var sandboxID, revision string
	source := localFile(t, []byte("first\n"))
	config := b.config(oneFile(`path = "file"`, set("source", source)))

	b.run(
		resource.TestStep{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID), capture(file, "revision", &revision),
			},
		},
		resource.TestStep{
			PreConfig: func() { replaceLocal(t, source, "second\n") },
			Config:    config,
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "revision", "sha256", "size"),
				plancheck.ExpectKnownValue(file, tfjsonpath.New("sha256"), knownvalue.StringExact(sum([]byte("second\n")))),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cat file", "second\n"),
				statecheck.ExpectKnownValue(file, tfjsonpath.New("revision"), knownvalue.StringFunc(different(&revision))),
				capture(file, "revision", &revision),
			},
		},
		resource.TestStep{
			// The same content said in another way is recorded, and not written.
			Config: b.config(oneFile(`path = "/workspace/./file"`, `content = "second\n"`, `mode = "644"`)),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				changes(file, "content", "source"),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState(""),
				statecheck.ExpectKnownValue(file, tfjsonpath.New("revision"), knownvalue.StringFunc(same(&revision))),
			},
		},
	)
}

func TestFileMovesWithItsPathAndItsSandbox(t *testing.T) {
	b := anyBridge(t)
	var first string

	b.run(
		resource.TestStep{
			Config:            b.config(oneFile(`path = "here"`, `content = "x"`)),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &first)},
		},
		resource.TestStep{
			Config:            b.config(oneFile(`path = "there"`, `content = "x"`)),
			ConfigPlanChecks:  before(action(file, plancheck.ResourceActionReplace)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&first, "ls", "there\n")},
		},
		resource.TestStep{
			Config: b.config(oneSandbox + `
				resource "cloudflaresandbox_sandbox" "other" {}
				resource "cloudflaresandbox_file" "test" {
				  sandbox_id = cloudflaresandbox_sandbox.other.id
				  path       = "there"
				  content    = "x"
				}`),
			ConfigPlanChecks:  before(action(file, plancheck.ResourceActionReplace)),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&first, "ls", "")},
		},
	)
}

func TestFileOfUnknownContentIsPlannedUnknown(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	b.run(resource.TestStep{
		Config: b.config(oneSandbox +
			fileBlock("first", `path = "first"`, `content = "x"`) +
			fileBlock("test", `path = "second"`, `content = cloudflaresandbox_file.first.revision`)),
		ConfigPlanChecks: before(
			plancheck.ExpectUnknownValue(file, tfjsonpath.New("sha256")),
			plancheck.ExpectUnknownValue(file, tfjsonpath.New("size")),
		),
		ConfigStateChecks: []statecheck.StateCheck{
			capture(sandbox, "id", &sandboxID),
			onState(func(state *tfjson.State) error {
				var revision string
				if err := capture("cloudflaresandbox_file.first", "revision", &revision)(state); err != nil {
					return err
				}
				return b.expectInside(&sandboxID, "cat second", revision)(state)
			}),
		},
	})
}

// different expects a value other than one that was captured before.
func different(from *string) func(string) error {
	return func(got string) error {
		if got == *from {
			return errors.New("the value is still the same")
		}

		return nil
	}
}

func replaceLocal(t *testing.T, path, content string) {
	t.Helper()

	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(fmt.Errorf("edit the local file: %w", err))
	}
}
