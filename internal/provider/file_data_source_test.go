package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

const fileData = "data.cloudflaresandbox_file.test"

// fileDataBlock is a data source in the sandbox of oneSandbox.
func fileDataBlock(name string, attributes ...string) string {
	return fmt.Sprintf("data \"cloudflaresandbox_file\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		name, strings.Join(attributes, "\n  "))
}

// expectAttributes checks several attributes of one object.
func expectAttributes(name, address string, want map[string]knownvalue.Check) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for attribute, value := range want {
		checks = append(checks, named(name+" "+attribute, statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), value)))
	}

	return checks
}

func TestFileDataSourceReadsExactly(t *testing.T) {
	b := anyBridge(t)

	cases := []struct {
		name       string
		path       string
		content    []byte
		notText    bool
		attributes []string
	}{
		{name: "text", path: "text.txt", content: []byte("grüße 👩‍🚀\n")},
		{name: "empty", path: "empty", content: []byte{}},
		{name: "no final newline, CRLF", path: "crlf.txt", content: []byte("a\r\nb")},
		{name: "byte order mark", path: "bom.json", content: []byte("\ufeff{}\n")},
		{name: "Latin-1", path: "latin1.txt", content: []byte("caf\xe9\n"), notText: true},
		{name: "bytes", path: "a b/#?%41", content: randomBytes(11, 4<<10), notText: true},
		{name: "1 MiB", path: "most", content: randomBytes(12, 1<<20), notText: true},
		{name: "over 1 MiB", path: "more", content: []byte(strings.Repeat("0123456789abcdef", 70000)), attributes: []string{"max_bytes = 1120000"}},
	}

	config := oneSandbox
	var state []statecheck.StateCheck
	for i, c := range cases {
		name := fmt.Sprintf("case%d", i)
		config += fileBlock(name, set("path", c.path), set("source", localFile(t, c.content)), `mode = "0640"`) +
			fileDataBlock(name, append(c.attributes, set("path", c.path), "depends_on = [cloudflaresandbox_file."+name+"]")...)

		want := map[string]knownvalue.Check{
			"exists":         knownvalue.Bool(true),
			"content":        knownvalue.Null(),
			"content_base64": knownvalue.StringExact(base64Of(c.content)),
			"sha256":         knownvalue.StringExact(sum(c.content)),
			"size":           knownvalue.Int64Exact(int64(len(c.content))),
			"mode":           knownvalue.StringExact("0640"),
		}
		if !c.notText {
			want["content"] = knownvalue.StringExact(string(c.content))
		}
		state = append(state, expectAttributes(c.name, "data.cloudflaresandbox_file."+name, want)...)
	}

	b.run(
		resource.TestStep{
			Config:            b.config(config),
			ConfigPlanChecks:  before(plancheck.ExpectUnknownValue("data.cloudflaresandbox_file.case0", tfjsonpath.New("content"))),
			ConfigStateChecks: state,
		},
		resource.TestStep{
			Config:           b.config(config),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
	)
}

func TestFileDataSourceFollowsLinks(t *testing.T) {
	b := anyBridge(t)
	var id string

	b.run(
		b.onlySandbox(&id),
		resource.TestStep{
			PreConfig: func() { b.inside(id, "echo target >target; ln -s target link") },
			Config:    b.config(oneSandbox + fileDataBlock("test", `path = "/workspace/./link"`)),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(fileData, tfjsonpath.New("content"), knownvalue.StringExact("target\n")),
			},
		},
	)
}

// allNull is what is known of the content of no file.
func allNull() map[string]knownvalue.Check {
	return map[string]knownvalue.Check{
		"exists":         knownvalue.Bool(false),
		"content":        knownvalue.Null(),
		"content_base64": knownvalue.Null(),
		"sha256":         knownvalue.Null(),
		"size":           knownvalue.Null(),
		"mode":           knownvalue.Null(),
	}
}

func TestFileDataSourceTellsThatAFileIsMissing(t *testing.T) {
	b := anyBridge(t)

	config := b.config(oneSandbox +
		fileDataBlock("test", `path = "none"`, `must_exist = false`) +
		fileDataBlock("below", `path = "none/none"`, `must_exist = false`))
	b.run(resource.TestStep{
		Config: config,
		ConfigStateChecks: append(
			expectAttributes("missing", fileData, allNull()),
			expectAttributes("below", "data.cloudflaresandbox_file.below", allNull())...,
		),
	})
}

// At the instance limit the bridge's refusal proves that there is no container,
// and so no file.
func TestFileDataSourceOfASandboxWithoutContainer(t *testing.T) {
	b := localBridge(t, localbridge.Config{MaxInstances: 1})
	b.occupy()
	const data = `
		data "cloudflaresandbox_file" "test" {
		  sandbox_id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
		  path       = "file"
		`

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{
			{
				Config:      b.config(data + "}"),
				ExpectError: regexp.MustCompile(`(?s)instance limit.*Could\s+not\s+read\s+"file"\s+in\s+sandbox`),
			},
			{
				Config:            b.config(data + "must_exist = false\n}"),
				ConfigStateChecks: expectAttributes("asleep", fileData, allNull()),
			},
		},
	})
}

// Whatever keeps the content from being read is told apart, at the attribute
// that it is about.
func TestFileDataSourceTellsWhyItCannotRead(t *testing.T) {
	b := anyBridge(t)
	var id string

	cases := []struct {
		name       string
		attributes []string
		want       string
	}{
		{"missing", []string{`path = "none"`}, `(?s)File does not exist.*path = "none".*must_exist = false`},
		{"dangling link", []string{`path = "dangling"`}, `(?s)File does not exist.*path = "dangling"`},
		{"directory", []string{`path = "dir"`}, `(?s)Path is a directory.*path = "dir"`},
		{"directory that may be missing", []string{`path = "dir"`, `must_exist = false`}, `(?s)Path is a directory.*path = "dir"`},
		{"pipe", []string{`path = "pipe"`}, `(?s)Path is not a regular file.*path = "pipe"`},
		{"unreadable", []string{`path = "secret"`}, `(?s)File cannot be read.*path = "secret"`},
		// "None" and "cannot be known" are different facts.
		{"out of sight", []string{`path = "closed/none"`, `must_exist = false`}, `(?s)File cannot be read.*path = "closed/none"`},
		{"too large", []string{`path = "large"`}, `(?s)File is too large.*1048577\s+bytes.*max_bytes\s+allows\s+1048576.*up\s+to\s+8388608`},
		{"larger than asked for", []string{`path = "small"`, `max_bytes = 2`}, `(?s)File is too large.*max_bytes = 2.*has\s+3\s+bytes`},
	}

	steps := []resource.TestStep{{
		Config:            b.config(oneSandbox),
		ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
	}}
	for i, c := range cases {
		steps = append(steps, resource.TestStep{
			PreConfig: func() {
				t.Log(c.name)
				if i == 0 {
					b.inside(id, "mkdir dir; mkfifo pipe; echo x >secret; chmod 0 secret; ln -s nowhere dangling; printf abc >small; "+
						"head -c 1048577 /dev/urandom >large; mkdir closed; chmod 0 closed")
				}
				b.forget()
			},
			Config:      b.config(oneSandbox + fileDataBlock("test", c.attributes...)),
			ExpectError: regexp.MustCompile(c.want),
		})
	}
	steps = append(steps, resource.TestStep{
		// All of it is found out in one request, and no content is transferred for it.
		PreConfig: func() {
			if _, downloaded := b.transferred(); downloaded > 16<<10 {
				t.Errorf("%d bytes were transferred", downloaded)
			}
			if err := b.expectSent("2 POST sandbox/:id/exec"); err != nil {
				t.Error(err)
			}
		},
		Config: b.config(oneSandbox),
	})

	b.run(steps...)
}

// A file that is too large is not transferred, also where a smaller one would
// have come in a request of its own.
func TestFileDataSourceTransfersNothingOfAFileThatIsTooLarge(t *testing.T) {
	b := anyBridge(t)
	var id string

	b.run(
		b.onlySandbox(&id),
		resource.TestStep{
			PreConfig: func() {
				b.inside(id, "head -c 4000001 /dev/urandom >large")
				b.forget()
			},
			Config:      b.config(oneSandbox + fileDataBlock("test", `path = "large"`, `max_bytes = 4000000`)),
			ExpectError: regexp.MustCompile(`File is too large`),
		},
		resource.TestStep{
			PreConfig: func() {
				if _, downloaded := b.transferred(); downloaded > 16<<10 {
					t.Errorf("%d bytes were transferred", downloaded)
				}
				if err := b.expectSent("2 POST sandbox/:id/exec"); err != nil {
					t.Error(err)
				}
			},
			Config:            b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&id, "ls -A", "large\n")},
		},
	)
}

func TestFileDataSourceIsRefusedAtItsAttribute(t *testing.T) {
	localOnly(t)

	cases := map[string]struct{ attribute, want string }{
		"outside":       {`path = "../etc/passwd"`, `(?s)Invalid path.*path = `},
		"no bytes":      {"path = \"x\"\nmax_bytes = 0", `(?s)max_bytes.*between 1 and 8388608`},
		"too many":      {"path = \"x\"\nmax_bytes = 8388609", `(?s)max_bytes.*between 1 and 8388608`},
		"no sandbox id": {"path = \"x\"\nsandbox_id = \"No\"", `(?s)Invalid sandbox id.*sandbox_id = `},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := `data "cloudflaresandbox_file" "test" {` + "\n" + c.attribute + "\n"
			if !strings.Contains(c.attribute, "sandbox_id") {
				config += "sandbox_id = \"abc\"\n"
			}
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: factories(),
				Steps: []resource.TestStep{{
					Config:      providerBlock(`api_url = "http://127.0.0.1:9"`) + config + "}\n",
					ExpectError: regexp.MustCompile(c.want),
				}},
			})
		})
	}
}

// A plan reads what is there now, and puts it off while the file is going to be
// written.
func TestFileDataSourceWaitsForTheFileItRefersTo(t *testing.T) {
	b := anyBridge(t)
	config := func(content string) string {
		return b.config(oneFile(`path = "file"`, set("content", content)) +
			fileDataBlock("test", `path = cloudflaresandbox_file.test.revision == "" ? "" : "file"`))
	}
	content := func(want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(fileData, tfjsonpath.New("content"), knownvalue.StringExact(want))
	}

	b.run(
		resource.TestStep{Config: config("first"), ConfigStateChecks: []statecheck.StateCheck{content("first")}},
		resource.TestStep{
			PreConfig: b.forget,
			Config:    config("first"),
			ConfigPlanChecks: before(
				plancheck.ExpectEmptyPlan(),
				b.sentAtPlan("3 POST sandbox/:id/exec"), // for the sandbox, the file and its content
			),
		},
		resource.TestStep{
			Config: config("second"),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionUpdate),
				onPlan(func(plan *tfjson.Plan) error {
					for _, change := range plan.ResourceChanges {
						if change.Address == fileData && change.Change.Actions.Read() {
							return nil
						}
					}
					return fmt.Errorf("%s is read before the file is written", fileData)
				}),
			),
			ConfigStateChecks: []statecheck.StateCheck{content("second")},
		},
	)
}
