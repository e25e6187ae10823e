package provider_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const archive = "data.cloudflaresandbox_archive.test"

func archiveBlock(attributes ...string) string {
	return "data \"cloudflaresandbox_archive\" \"test\" {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  " + strings.Join(attributes, "\n  ") + "\n}\n"
}

// expectArchive checks what is in a local archive, as "name=content", "name/" or
// "name->target", and that the state tells its hash and size.
func expectArchive(output string, want ...string) onState {
	return func(state *tfjson.State) error {
		packed, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		got, err := unpacked(output)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("the archive has %q, want %q", got, want)
		}

		for _, found := range state.Values.RootModule.Resources {
			if found.Address == archive && (found.AttributeValues["sha256"] != sum(packed) || fmt.Sprint(found.AttributeValues["size"]) != fmt.Sprint(len(packed))) {
				return fmt.Errorf("the state tells %v and %v, the file has %s and %d",
					found.AttributeValues["sha256"], found.AttributeValues["size"], sum(packed), len(packed))
			}
		}

		return nil
	}
}

func unpacked(name string) ([]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}

	var found []string
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(found)
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}

		element := header.Name
		switch header.Typeflag {
		case tar.TypeSymlink:
			element += "->" + header.Linkname
		case tar.TypeReg:
			element += "=" + string(content)
		}
		found = append(found, element)
	}
}

func TestArchiveOfAllOrAPart(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "file", "deep/er/file", "empty/", "link->deep", "deep/a.log", "a.log")
	out := t.TempDir()
	tree := oneDirectory(source)
	cases := map[string]struct {
		attributes []string
		want       []string
	}{
		"all":      {nil, []string{"./app/", "./app/a.log=a.log", "./app/deep/", "./app/deep/a.log=deep/a.log", "./app/deep/er/", "./app/deep/er/file=deep/er/file", "./app/empty/", "./app/file=file", "./app/link->deep"}},
		"a part":   {[]string{`path = "app/deep"`}, []string{"./a.log=deep/a.log", "./er/", "./er/file=deep/er/file"}},
		"a file":   {[]string{`path = "/workspace/app/file"`}, []string{"./file=file"}},
		"excludes": {[]string{`path = "app"`, `excludes = ["**/*.log", "deep/er", "link"]`}, []string{"./deep/", "./empty/", "./file=file"}},
		"one star": {[]string{`path = "app"`, `excludes = ["*.log", "{deep,empty}/**", "link"]`}, []string{"./file=file"}},
	}

	for name, c := range cases {
		output := filepath.Join(out, name, "archive.tar.gz")
		config := b.config(tree + archiveBlock(append(c.attributes, set("output_path", output), "depends_on = [cloudflaresandbox_directory.test]")...))
		b.run(
			resource.TestStep{
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{named(name, expectArchive(output, c.want...))},
			},
			b.stable(config),
		)
		info, err := os.Stat(output)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s: mode %s", name, info.Mode())
		}
		if left, err := os.ReadDir(filepath.Dir(output)); err != nil || len(left) != 1 {
			t.Errorf("%s: beside the archive: %v, %v", name, left, err)
		}
	}
}

// What was fetched is not fetched again, and stays as it is.
func TestArchiveThatIsThereIsNotTransferredAgain(t *testing.T) {
	b := anyBridge(t)
	output := filepath.Join(t.TempDir(), "archive.tar.gz")
	config := b.config(oneFile(`path = "file"`, set("source", localFile(t, randomBytes(1, 1<<20)))) +
		archiveBlock(set("output_path", output), "depends_on = [cloudflaresandbox_file.test]"))
	var first time.Time

	b.run(
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig: func() {
				info, err := os.Stat(output)
				if err != nil {
					t.Fatal(err)
				}
				first = info.ModTime()
				b.forget()
			},
			Config:           config,
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
	)

	info, err := os.Stat(output)
	if err != nil || !info.ModTime().Equal(first) {
		t.Errorf("written again: %v, %v", info, err)
	}
	if _, downloaded := b.transferred(); downloaded > 100<<10 {
		t.Errorf("%d bytes came from the bridge", downloaded)
	}
}

// An archive of what is only going to be made is put off, also when the
// container was replaced.
func TestArchiveWaitsForWhatItDependsOn(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	output := filepath.Join(t.TempDir(), "archive.tar.gz")
	config := b.config(oneDirectory(newLocalDirectory(t, "file")) + archiveBlock(`path = "app"`, set("output_path", output), "depends_on = [cloudflaresandbox_directory.test]"))
	var id string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  before(plancheck.ExpectUnknownValue(archive, tfjsonpath.New("sha256"))),
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id), expectArchive(output, "./file=file")},
		},
		resource.TestStep{
			PreConfig: func() { b.local.Kill(id) },
			Config:    config,
			ConfigPlanChecks: before(
				plancheck.ExpectUnknownValue(archive, tfjsonpath.New("sha256")),
				onPlan(func(*tfjson.Plan) error {
					return expectArchive(output, "./file=file")(&tfjson.State{Values: &tfjson.StateValues{RootModule: &tfjson.StateModule{}}})
				}),
			),
			ConfigStateChecks: []statecheck.StateCheck{expectArchive(output, "./file=file")},
		},
	)
}

func TestArchiveReplacesALinkItselfAndNothingElse(t *testing.T) {
	b := anyBridge(t)
	directory := t.TempDir()
	planted, output := filepath.Join(directory, "planted"), filepath.Join(directory, "archive.tar.gz")
	if err := os.WriteFile(planted, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(planted, output); err != nil {
		t.Fatal(err)
	}

	b.run(resource.TestStep{
		Config: b.config(oneFile(`path = "file"`, `content = "x"`) + archiveBlock(set("output_path", output), "depends_on = [cloudflaresandbox_file.test]")),
		ConfigStateChecks: []statecheck.StateCheck{
			expectArchive(output, "./file=x"),
			statecheck.ExpectKnownValue(archive, tfjsonpath.New("sha256"), knownvalue.NotNull()),
		},
	})

	if content, err := os.ReadFile(planted); err != nil || string(content) != "kept" {
		t.Errorf("the link's target has %q, %v", content, err)
	}
	if info, err := os.Lstat(output); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the archive is %v, %v", info, err)
	}
}

func TestArchiveThatCannotBeMadeOrWrittenLeavesTheOldOne(t *testing.T) {
	old := localFile(t, []byte("old"))
	cases := map[string]struct {
		attributes []string
		message    string
	}{
		"missing":             {[]string{`path = "none"`, set("output_path", old)}, `(?s)Nothing to pack.*path\s+= "none".*depends_on`},
		"unreadable":          {[]string{`path = "closed"`, set("output_path", old)}, `(?s)Archive cannot be made.*path\s+= "closed"`},
		"output is directory": {[]string{set("output_path", filepath.Dir(old))}, `(?s)Archive cannot be written.*output_path\s+=`},
		"output is a device":  {[]string{`output_path = "/dev/null"`}, `(?s)Archive cannot be written.*is\s+not\s+a\s+regular`},
		"below a file":        {[]string{set("output_path", filepath.Join(old, "archive"))}, `(?s)Archive cannot be written.*not\s+a\s+directory`},
		"outside":             {[]string{`path = "/etc"`, set("output_path", old)}, `Invalid path`},
		"bad glob":            {[]string{`excludes = ["["]`, set("output_path", old)}, `Invalid glob`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			var id string

			b.run(
				b.onlySandbox(&id),
				resource.TestStep{
					PreConfig:   func() { b.inside(id, "mkdir closed; chmod 0 closed") },
					Config:      b.config(oneSandbox + archiveBlock(c.attributes...)),
					ExpectError: regexp.MustCompile(c.message),
				},
				resource.TestStep{Config: b.config(oneSandbox)},
			)

			if content, err := os.ReadFile(old); err != nil || string(content) != "old" {
				t.Errorf("the old archive has %q, %v", content, err)
			}
		})
	}
}
