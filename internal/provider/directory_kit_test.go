package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

const directory = "cloudflaresandbox_directory.test"

// directoryBlock is a directory resource in the sandbox of oneSandbox.
func directoryBlock(name string, attributes ...string) string {
	return fmt.Sprintf("resource \"cloudflaresandbox_directory\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		name, strings.Join(attributes, "\n  "))
}

// oneDirectory is a sandbox with one local directory in /workspace/app.
func oneDirectory(source localDirectory, attributes ...string) string {
	return oneSandbox + directoryBlock("test", append(attributes, set("source", string(source)), `path = "app"`)...)
}

// localDirectory is a directory outside of the sandbox, named in test steps by
// what is done to it.
type localDirectory string

// newLocalDirectory makes one. An element is "name", for a file with its name
// as content, "name=content", "name/" for a directory, or "name->target" for a
// link. Directories above are made.
func newLocalDirectory(t *testing.T, elements ...string) localDirectory {
	t.Helper()

	d := localDirectory(t.TempDir())
	d.add(t, elements...)

	return d
}

func (d localDirectory) add(t *testing.T, elements ...string) {
	t.Helper()

	for _, element := range elements {
		if err := d.addOne(element); err != nil {
			t.Fatal(err)
		}
	}
}

func (d localDirectory) addOne(element string) error {
	if name, found := strings.CutSuffix(element, "/"); found {
		return os.MkdirAll(d.at(name), 0o755)
	}

	name, content, explicit := strings.Cut(element, "=")
	link, target, isLink := strings.Cut(name, "->")
	if isLink {
		name = link
	}
	if !explicit {
		content = name
	}

	if err := os.MkdirAll(filepath.Dir(d.at(name)), 0o755); err != nil {
		return err
	}
	if isLink {
		return os.Symlink(target, d.at(name))
	}
	if err := os.WriteFile(d.at(name), []byte(content), 0o644); err != nil {
		return err
	}

	return os.Chmod(d.at(name), 0o644) // whatever the umask
}

func (d localDirectory) remove(t *testing.T, names ...string) {
	t.Helper()

	for _, name := range names {
		if err := os.RemoveAll(d.at(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (d localDirectory) chmod(t *testing.T, mode os.FileMode, names ...string) {
	t.Helper()

	for _, name := range names {
		if err := os.Chmod(d.at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func (d localDirectory) at(name string) string {
	return filepath.Join(string(d), name)
}

// listed is a script that shows a directory of the sandbox: kind, mode and path
// of everything in it, and where links lead.
func listed(path string) string {
	return "cd " + shell(path) + " && find . -mindepth 1 -printf '%y %m %p %l\\n' | sed 's/^l 777/l/; s/ $//' | LC_ALL=C sort -k 3"
}

// stable is a step that plans nothing, twice.
func (b *testBridge) stable(config string) resource.TestStep {
	return resource.TestStep{
		Config: config,
		ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply:             []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		},
	}
}
