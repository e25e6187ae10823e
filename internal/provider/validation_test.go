package provider_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

const someID = "kjs5dxdhwo5rnkmqjcaixp7tl4"

// refusals are configurations that a plan refuses, with the attribute that the
// error has to point at.
var refusals = map[string]struct {
	config  string
	summary string
	at      string
}{
	"file: sandbox id": {
		fileOf(`sandbox_id = "NOT-AN-ID"`, `path = "x"`, `content = ""`), "Invalid sandbox id", `sandbox_id = "NOT-AN-ID"`,
	},
	"file: empty path": {
		fileOf(`path = ""`, `content = ""`), "Invalid path", `path = ""`,
	},
	"file: path outside": {
		fileOf(`path = "/etc/passwd"`, `content = ""`), "Invalid path", `path = "/etc/passwd"`,
	},
	"file: path that leads out": {
		fileOf(`path = "a/../../etc"`, `content = ""`), "Invalid path", `path = "a/../../etc"`,
	},
	"file: the workspace itself": {
		fileOf(`path = "/workspace/"`, `content = ""`), "Invalid path", `path = "/workspace/"`,
	},
	"file: path with NUL": {
		fileOf(`path = "a\u0000b"`, `content = ""`), "Invalid path", `path = `,
	},
	"file: name too long": {
		fileOf(`path = format("%0256d", 1)`, `content = ""`), "Invalid path", `path = format`,
	},
	"file: mode is not octal": {
		fileOf(`path = "x"`, `content = ""`, `mode = "0888"`), "Invalid mode", `mode = "0888"`,
	},
	"file: mode is symbolic": {
		fileOf(`path = "x"`, `content = ""`, `mode = "u+x"`), "Invalid mode", `mode = "u\+x"`,
	},
	"file: mode too long": {
		fileOf(`path = "x"`, `content = ""`, `mode = "00644"`), "Invalid mode", `mode = "00644"`,
	},
	"file: no content": {
		fileOf(`path = "x"`), "Missing Attribute Configuration|Invalid Attribute Combination", `resource "cloudflaresandbox_file"`,
	},
	"file: two contents": {
		fileOf(`path = "x"`, `content = "a"`, `content_base64 = "YQ=="`), "Invalid Attribute Combination", `content = "a"`,
	},
	"file: content and write-only content": {
		fileOf(`path = "x"`, `content = "a"`, `content_wo = "b"`, `content_wo_version = 1`), "Invalid Attribute Combination", `content = "a"`,
	},
	"file: write-only content without version": {
		fileOf(`path = "x"`, `content_wo = "b"`), "Invalid Attribute Combination", `content_wo = "b"`,
	},
	"file: version without write-only content": {
		fileOf(`path = "x"`, `content = "a"`, `content_wo_version = 1`), "Invalid Attribute Combination", `content_wo_version = 1`,
	},
	"file: content is not base64": {
		fileOf(`path = "x"`, `content_base64 = "a b"`), "Invalid base64", `content_base64 = "a b"`,
	},
	"file: base64 without padding": {
		fileOf(`path = "x"`, `content_base64 = "YQ"`), "Invalid base64", `content_base64 = "YQ"`,
	},
	"file: no source": {
		fileOf(`path = "x"`, `source = "/no/such/file"`), "Local file cannot be read", `source = "/no/such/file"`,
	},
	"file: source is a directory": {
		fileOf(`path = "x"`, `source = "/tmp"`), "Local file cannot be read", `source = "/tmp"`,
	},
	"file: source is a device": {
		fileOf(`path = "x"`, `source = "/dev/zero"`), "Local file cannot be read", `source = "/dev/zero"`,
	},
	"file: negative timeout": {
		fileOf(`path = "x"`, `content = ""`, `timeouts = { create = "-1s" }`), "Invalid duration", `resource "cloudflaresandbox_file"`,
	},
	"sandbox: timeout without unit": {
		`resource "cloudflaresandbox_sandbox" "test" {
		  timeouts = { create = "10" }
		}`, "Invalid duration", `resource "cloudflaresandbox_sandbox"`,
	},
	"exec: neither command nor script": {
		execOf(), "Invalid Attribute Combination|Missing Attribute Configuration", `data "cloudflaresandbox_exec"`,
	},
	"exec: command and script": {
		execOf(`command = ["true"]`, `script = "true"`), "Invalid Attribute Combination", `command = `,
	},
	"exec: interpreter without script": {
		execOf(`command = ["true"]`, `interpreter = ["sh"]`), "Invalid Attribute Combination", `interpreter = `,
	},
	"exec: empty command": {
		execOf(`command = []`), "Invalid Attribute Value", `command = \[\]`,
	},
	"exec: empty program": {
		execOf(`command = ["", "x"]`), "Invalid command", `command = `,
	},
	"exec: null argument": {
		execOf(`command = ["true", null]`), "Null List Value|Invalid", `command = `,
	},
	"exec: NUL in an argument": {
		execOf(`command = ["a\u0000b"]`), "Invalid text", `command = `,
	},
	"exec: argument that Linux cannot hand over": {
		execOf(`command = ["true", format("%131072s", "x")]`), "Invalid text", `command = `,
	},
	"exec: variable that Linux cannot hand over": {
		execOf(`command = ["true"]`, `environment = { A = format("%131072s", "x") }`), "Invalid text", `environment = `,
	},
	"exec: script of more than 8 MiB": {
		execOf(`script = format("%8388609s", "x")`), "Invalid text", `script = `,
	},
	"exec: stdin of more than 8 MiB": {
		execOf(`command = ["true"]`, `stdin = format("%8388609s", "x")`), "Invalid text", `stdin = `,
	},
	"exec: NUL in stdin": {
		execOf(`command = ["true"]`, `stdin = "a\u0000b"`), "Invalid text", `stdin = `,
	},
	"exec: variable name": {
		execOf(`command = ["true"]`, `environment = { "A-B" = "x" }`), "Invalid name of an environment variable", `environment = `,
	},
	"exec: read-only variable": {
		execOf(`command = ["true"]`, `environment = { UID = "x" }`), "Invalid name of an environment variable", `environment = `,
	},
	"exec: duration": {
		execOf(`command = ["true"]`, `timeout = "soon"`), "Invalid duration", `timeout = "soon"`,
	},
	"exec: no time at all": {
		execOf(`command = ["true"]`, `timeout = "0s"`), "Invalid duration", `timeout = "0s"`,
	},
	"exec: more than a day": {
		execOf(`command = ["true"]`, `timeout = "24h1s"`), "Invalid duration", `timeout = "24h1s"`,
	},
	"exec: no output at all": {
		execOf(`command = ["true"]`, `max_output_bytes = 0`), "Invalid Attribute Value", `max_output_bytes = 0`,
	},
	"exec: too much output": {
		execOf(`command = ["true"]`, `max_output_bytes = 8388609`), "Invalid Attribute Value", `max_output_bytes = 8388609`,
	},
	"exec: empty directory": {
		execOf(`command = ["true"]`, `working_dir = ""`), "Invalid directory", `working_dir = ""`,
	},
	"exec resource: neither command nor script": {
		runOf(), "Invalid Attribute Combination|Missing Attribute Configuration", `resource "cloudflaresandbox_exec"`,
	},
	"exec resource: duration": {
		runOf(`command = ["true"]`, `timeout = "soon"`), "Invalid duration", `timeout = "soon"`,
	},
	"exec resource: version without secrets": {
		runOf(`command = ["true"]`, `environment_wo_version = 1`), "Invalid Attribute Combination", `environment_wo_version = 1`,
	},
	"exec resource: secrets without version": {
		runOf(`command = ["true"]`, `environment_wo = { A = "b" }`), "Invalid Attribute Combination", `environment_wo = `,
	},
	// Of a nested attribute Terraform shows another line, so the text names it.
	"on_destroy: neither command nor script": {
		runOf(`command = ["true"]`, `on_destroy = { stdin = "x" }`), "Invalid Attribute Combination",
		`No attribute.*\[on_destroy\.script\]`,
	},
	"on_destroy: command and script": {
		runOf(`command = ["true"]`, `on_destroy = { command = ["true"], script = "true" }`), "Invalid Attribute Combination",
		`2 attributes.*\[on_destroy\.script\]`,
	},
	"on_destroy: variable name": {
		runOf(`command = ["true"]`, `on_destroy = { command = ["true"], environment = { "A-B" = "x" } }`),
		"Invalid name of an environment variable", `resource "cloudflaresandbox_exec"`,
	},
	"exec: sandbox id": {
		`data "cloudflaresandbox_exec" "test" {
		  sandbox_id = "not an id"
		  command    = ["true"]
		}`, "Invalid sandbox id", `sandbox_id = "not an id"`,
	},
}

func fileOf(attributes ...string) string {
	id := ""
	if len(attributes) == 0 || attributes[0][:4] != "sand" {
		id = set("sandbox_id", someID)
	}

	return fmt.Sprintf("resource \"cloudflaresandbox_file\" \"test\" {\n%s\n%s\n}\n", id, lines(attributes))
}

func execOf(attributes ...string) string {
	return fmt.Sprintf("data \"cloudflaresandbox_exec\" \"test\" {\n%s\n%s\n}\n", set("sandbox_id", someID), lines(attributes))
}

func runOf(attributes ...string) string {
	return fmt.Sprintf("resource \"cloudflaresandbox_exec\" \"test\" {\n%s\n%s\n}\n", set("sandbox_id", someID), lines(attributes))
}

func lines(attributes []string) string {
	text := ""
	for _, attribute := range attributes {
		text += "  " + attribute + "\n"
	}

	return text
}

func TestPlanRefusesWhatCannotWorkAtItsAttribute(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config:      b.config(c.config),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?s)Error: (` + c.summary + `).*on terraform_plugin_test.tf line \d+.*` + c.at),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}
