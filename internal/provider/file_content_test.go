package provider_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

func TestFileContentArrivesByteForByte(t *testing.T) {
	b := anyBridge(t)

	allBytes := make([]byte, 256)
	for i := range allBytes {
		allBytes[i] = byte(i)
	}

	const mib = 1 << 20
	contents := []struct {
		name    string
		how     string
		content []byte
	}{
		{"empty.txt", "content", nil},
		{"no-final-newline.txt", "content", []byte("last line")},
		{"blank-lines.txt", "content", []byte("\n\n\n")},
		{"crlf.txt", "content", []byte("one\r\ntwo\r\n")},
		{"template.txt", "content", []byte("${not} %{a} template \\ \" $$")},
		{"emoji.txt", "content", []byte("grüße 👩‍🚀\n")},
		{"nul.txt", "content", []byte("a\x00b")},
		{"bom.txt", "content_base64", []byte("\xef\xbb\xbfwith a byte order mark\n")},
		{"latin1.txt", "content_base64", []byte("gr\xfc\xdfe\n")},
		{"utf16.json", "content_base64", []byte("\xff\xfe{\x00}\x00")},
		{"decomposed.txt", "content_base64", []byte("e\u0301")},
		{"nul.bin", "content_base64", []byte{0, 0, 0}},
		{"all-bytes.txt", "content_base64", allBytes},
		{"empty.bin", "content_base64", nil},
		{"random.txt", "content_base64", randomBytes(1, mib)},
		{"random.json", "source", randomBytes(2, mib)},
		{"empty.json", "source", nil},
		{"8MiB.txt", "source", randomBytes(3, 8*mib)},
		{"8MiB-and-one.txt", "source", randomBytes(4, 8*mib+1)},
		{"40MiB.json", "source", randomBytes(5, 40*mib)},
	}

	var sandboxID string
	config := oneSandbox
	files := map[string][]byte{}
	plan := []plancheck.PlanCheck{}
	state := []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)}

	for i, c := range contents {
		value := string(c.content)
		switch c.how {
		case "content_base64":
			value = base64Of(c.content)
		case "source":
			value = localFile(t, c.content)
		}

		name := fmt.Sprintf("file%d", i)
		address := "cloudflaresandbox_file." + name
		config += fileBlock(name, set("path", c.name), set(c.how, value))
		files["/workspace/"+c.name] = c.content
		plan = append(plan,
			plancheck.ExpectKnownValue(address, tfjsonpath.New("sha256"), knownvalue.StringExact(sum(c.content))),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("size"), knownvalue.Int64Exact(int64(len(c.content)))),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("revision")))
		state = append(state,
			statecheck.ExpectKnownValue(address, tfjsonpath.New("sha256"), knownvalue.StringExact(sum(c.content))),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("size"), knownvalue.Int64Exact(int64(len(c.content)))),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("revision"), knownvalue.NotNull()))
	}

	b.run(resource.TestStep{
		Config:            b.config(config),
		ConfigPlanChecks:  before(plan...),
		ConfigStateChecks: append(state, b.expectFiles(&sandboxID, files)),
	})
}

func TestFileNamesArriveAsTheyAre(t *testing.T) {
	b := anyBridge(t)

	names := []string{
		"with space", " leading and trailing ", "it's", `quo"te`, `back\slash`, "hash#tag", "query?x=1", "percent%41", "100%",
		"semi;colon", "com,ma", "plus+plus", "amp&ersand", "equals=", "colon:", "at@", "dollar$HOME", "${brace}", "`tick`",
		"new\nline", "tab\tbed", "👩‍🚀 grüße", "-dash", "--", "*", "~", "!bang", ".hidden", "..dots", "trailing.", "a.gz",
		"deep/er/and/deeper", string(bytes.Repeat([]byte("n"), 200)), string(bytes.Repeat([]byte("n"), 255)),
	}

	var sandboxID string
	config := oneSandbox
	files := map[string][]byte{}

	for i, name := range names {
		content := fmt.Sprintf("content of %q", name)
		config += fileBlock(fmt.Sprintf("file%d", i), set("path", "/workspace/"+name), set("content", content))
		files["/workspace/"+name] = []byte(content)
	}

	b.run(
		resource.TestStep{
			Config: b.config(config),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				b.expectFiles(&sandboxID, files),
				b.expectInside(&sandboxID, "find /workspace -type f -print0 | tr -cd '\\0' | wc -c", fmt.Sprintln(len(names))),
			},
		},
		resource.TestStep{
			// And they are found again when they are removed.
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "find /workspace -type f", ""),
			},
		},
	)
}

func TestFileModeIsSet(t *testing.T) {
	b := anyBridge(t)

	modes := map[string]string{"0600": "600", "0755": "755", "4755": "4755", "644": "644", "0444": "444", "0000": "0", "": "644"}

	var sandboxID string
	config := oneSandbox
	state := []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)}

	for mode, want := range modes {
		attributes := []string{set("path", "mode"+mode), set("content", mode)}
		if mode != "" {
			attributes = append(attributes, set("mode", mode))
		}
		config += fileBlock("mode"+mode, attributes...)
		state = append(state, b.expectInside(&sandboxID, "stat -c %a mode"+mode, want+"\n"))
	}

	b.run(resource.TestStep{Config: b.config(config), ConfigStateChecks: state})
}
