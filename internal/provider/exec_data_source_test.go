package provider_test

import (
	"fmt"
	"regexp"
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

// execBlock is a data source that runs a command in the sandbox of oneSandbox.
func execBlock(name string, attributes ...string) string {
	return fmt.Sprintf("data \"cloudflaresandbox_exec\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		name, strings.Join(attributes, "\n  "))
}

func list(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = hcl(word)
	}

	return "[" + strings.Join(quoted, ", ") + "]"
}

func command(words ...string) string {
	return "command = " + list(words...)
}

const allowed = "allow_non_zero_exit_code = true"

func TestExecResultsAreExact(t *testing.T) {
	b := anyBridge(t)

	awkward := []string{
		"", " ", "'", `"`, `\`, "$HOME", "`id`", "$(id)", "*", "?", "~", "!", "#", ";", "&", "|", "<", ">", "(", "{a,b}", "-n", "--",
		"new\nline", "\r", "\t", "grüße 👩‍🚀", "\x01\x7f", "%s", "a=b",
	}
	long := "# " + strings.Repeat("padding ", 25<<10) + "\necho end of a script of 200 KiB\n"

	cases := []struct {
		name       string
		attributes []string
		code       int64
		stdout     string
		stderr     string
	}{
		{"both streams", []string{command("bash", "-c", "echo out; echo err >&2")}, 0, "out\n", "err\n"},
		{"nothing", []string{command("true")}, 0, "", ""},
		{"no final newline", []string{command("printf", "x")}, 0, "x", ""},
		{"exit code", []string{command("bash", "-c", "echo out; exit 7"), allowed}, 7, "out\n", ""},
		{"exit code 255", []string{command("bash", "-c", "exit 255"), allowed}, 255, "", ""},
		{"signal", []string{command("bash", "-c", "kill -KILL $$"), allowed}, 137, "", ""},
		{"arguments", []string{command(append([]string{"printf", `%s\0`}, awkward...)...)}, 0, strings.Join(awkward, "\x00") + "\x00", ""},
		{"script", []string{set("script", "echo first\necho second\n")}, 0, "first\nsecond\n", ""},
		{"script stops at a failure", []string{set("script", "echo first\nfalse\necho second\n"), allowed}, 1, "first\n", ""},
		{"interpreter", []string{set("script", "echo first\nfalse\necho second\n"), "interpreter = " + list("sh", "-u")}, 0, "first\nsecond\n", ""},
		{"long script", []string{set("script", long)}, 0, "end of a script of 200 KiB\n", ""},
		{"stdin", []string{command("wc", "-c"), set("stdin", "12345\n")}, 0, "6\n", ""},
		{"no stdin", []string{command("cat")}, 0, "", ""},
		{"working directory", []string{command("pwd")}, 0, "/workspace\n", ""},
		{"absolute directory", []string{command("pwd"), set("working_dir", "/usr/bin")}, 0, "/usr/bin\n", ""},
		{"relative directory", []string{command("pwd"), set("working_dir", "./")}, 0, "/workspace\n", ""},
		{
			"environment",
			[]string{command("printenv", "PLAIN", "LINES", "QUOTED", "EMPTY"), `environment = { PLAIN = "a", LINES = "1\n2", QUOTED = "it's \"$HOME\"", EMPTY = "" }`},
			0, "a\n1\n2\nit's \"$HOME\"\n\n", "",
		},
		{"background child", []string{command("bash", "-c", "sleep 300 & echo x")}, 0, "x\n", ""},
		{"1 MiB of text", []string{command("bash", "-c", "yes ü€👍 | head -n 104857")}, 0, strings.Repeat("ü€👍\n", 104857), ""},
	}

	config := oneSandbox
	state := []statecheck.StateCheck{}
	for i, c := range cases {
		name := fmt.Sprintf("case%d", i)
		address := "data.cloudflaresandbox_exec." + name
		config += "# " + c.name + "\n" + execBlock(name, c.attributes...)
		for attribute, want := range map[string]knownvalue.Check{
			"exit_code":     knownvalue.Int64Exact(c.code),
			"stdout":        knownvalue.StringExact(c.stdout),
			"stderr":        knownvalue.StringExact(c.stderr),
			"stdout_base64": knownvalue.StringExact(base64Of([]byte(c.stdout))),
			"stderr_base64": knownvalue.StringExact(base64Of([]byte(c.stderr))),
		} {
			state = append(state, named(c.name, statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), want)))
		}
	}

	started := time.Now()
	b.run(resource.TestStep{Config: b.config(config), ConfigStateChecks: state})
	if took := time.Since(started); took > 3*time.Minute {
		t.Errorf("took %s: a child in the background was waited for", took)
	}
}

func TestExecOutputThatIsNotTextIsNullAsText(t *testing.T) {
	b := anyBridge(t)
	const exec = "data.cloudflaresandbox_exec.test"

	b.run(resource.TestStep{
		Config: b.config(oneSandbox + execBlock("test", command("bash", "-c", `printf '\xff\xfe\x00'; printf '\xef\xbb\xbfbom' >&2`))),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(exec, tfjsonpath.New("stdout"), knownvalue.Null()),
			statecheck.ExpectKnownValue(exec, tfjsonpath.New("stdout_base64"), knownvalue.StringExact(base64Of([]byte{0xff, 0xfe, 0}))),
			statecheck.ExpectKnownValue(exec, tfjsonpath.New("stderr"), knownvalue.StringExact("\uFEFFbom")),
		},
	})
}

// The first word is a program, whatever a shell would make of it.
func TestExecFirstWordIsAProgram(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	words := map[string]string{"assignment": "FOO=1", "builtin": "cd", "keyword": "if"}
	config := oneSandbox
	state := []statecheck.StateCheck{}
	for name, word := range words {
		config += execBlock(name, command("./"+word, "x"))
		state = append(state, statecheck.ExpectKnownValue("data.cloudflaresandbox_exec."+name, tfjsonpath.New("stdout"),
			knownvalue.StringExact(word+" x\n")))
		config += execBlock("missing_"+name, command(word, "x"), allowed)
		state = append(state, statecheck.ExpectKnownValue("data.cloudflaresandbox_exec.missing_"+name, tfjsonpath.New("exit_code"),
			knownvalue.Int64Exact(127)))
	}

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig: func() {
				b.inside(sandboxID, `for word in FOO=1 cd if; do printf '#!/bin/sh\necho "${0##*/} $*"\n' > "./$word"; chmod +x "./$word"; done`)
			},
			Config:            b.config(config),
			ConfigStateChecks: state,
		},
	)
}

func TestExecTakesTheProvidersDefaultsAndItsOwnWin(t *testing.T) {
	b := anyBridge(t)

	script := `pwd; echo "$SHARED $OWN ${DROPPED-none}"`
	b.run(resource.TestStep{
		Config: b.config(oneSandbox+
			execBlock("defaults", set("script", script))+
			execBlock("own", set("script", script), `environment = { OWN = "own", DROPPED = null }`, `working_dir = "/tmp"`),
			`working_dir = "/usr"`, `environment = { SHARED = "shared", OWN = "provider", DROPPED = "dropped" }`),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("data.cloudflaresandbox_exec.defaults", tfjsonpath.New("stdout"), knownvalue.StringExact("/usr\nshared provider dropped\n")),
			statecheck.ExpectKnownValue("data.cloudflaresandbox_exec.own", tfjsonpath.New("stdout"), knownvalue.StringExact("/tmp\nshared own none\n")),
		},
	})
}

func TestExecFailuresAreErrorsAtTheirAttribute(t *testing.T) {
	cases := map[string]struct {
		attributes []string
		settings   []string
		want       string
	}{
		"exit code": {
			[]string{command("bash", "-c", "echo almost; echo broken pipe dream >&2; exit 3")},
			nil, `(?s)exit code 3.*command =.*stderr:.*broken pipe dream.*allow_non_zero_exit_code`,
		},
		"exit code of a script": {
			[]string{set("script", "exit 4")},
			nil, `(?s)exit code 4.*script =.*printed nothing`,
		},
		"long stderr shows its end": {
			[]string{command("bash", "-c", "seq 1 5000 >&2; exit 3")},
			nil, `(?s)The last 4096 bytes of stderr:.*4999.*5000`,
		},
		"timeout": {
			[]string{command("bash", "-c", "echo so far; exec sleep 300"), `timeout = "5s"`},
			nil, `(?s)Command ran longer than 5s.*timeout = "5s".*so far`,
		},
		"timeout of the provider": {
			[]string{command("sleep", "300")},
			[]string{`timeout = "700ms"`},
			`(?s)Command ran longer than 700ms`,
		},
		"too much output": {
			[]string{command("seq", "1", "100000"), "max_output_bytes = 1000"},
			nil, `(?s)printed too much.*max_output_bytes = 1000.*588895\s+bytes\s+to\s+stdout`,
		},
		"no such program": {
			[]string{command("no-such-program")},
			nil, `(?s)exit code 127`,
		},
		"no such directory": {
			[]string{command("true"), `working_dir = "/no/such"`},
			nil, `(?s)could not be started.*/no/such`,
		},
		"secrets are not shown": {
			[]string{command("bash", "-c", `echo "token is $TOKEN, input is $(cat)."; exit 1`), `environment = { TOKEN = "tok-123456" }`, `stdin = "input-7890"`},
			nil, `(?s)token is \(sensitive value\), input is \(sensitive\s+value\)\.`,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(
				resource.TestStep{
					Config:      b.config(oneSandbox+execBlock("test", c.attributes...), c.settings...),
					ExpectError: regexp.MustCompile(c.want),
				},
				// So that it can be destroyed.
				resource.TestStep{Config: b.config(oneSandbox)},
			)
		})
	}
}

func TestExecLeavesNoProcessAfterATimeout(t *testing.T) {
	b := anyBridge(t)
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			Config: b.config(oneSandbox + execBlock("test", `timeout = "700ms"`,
				command("bash", "-c", "trap '' TERM; sleep 301 & sleep 302 & wait; sleep 303"))),
			ExpectError: regexp.MustCompile(`ran longer than 700ms`),
		},
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, `grep -lax 'sleep.30[123].' /proc/[0-9]*/cmdline || true`, ""),
			},
		},
	)
}

func TestExecSecretsAreNotInCommandLines(t *testing.T) {
	b := localBridge(t, localbridge.Config{})

	b.run(resource.TestStep{
		Config: b.config(oneSandbox + execBlock("test",
			set("script", `for c in /proc/[0-9]*/cmdline; do tr '\0' ' ' < "$c" || true; echo; done; cat > /dev/null`),
			`environment = { TOKEN = "env-secret-1" }`, `stdin = "stdin-secret-2"`)),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("data.cloudflaresandbox_exec.test", tfjsonpath.New("stdout"),
				knownvalue.StringFunc(func(processes string) error { return lacksAny(processes, "env-secret-1", "stdin-secret-2") })),
			onState(func(*tfjson.State) error {
				return lacksAny(strings.Join(b.local.CommandLog(), "\n"), "env-secret-1", "stdin-secret-2")
			}),
		},
	})
}

func lacksAny(text string, secrets ...string) error {
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return fmt.Errorf("%s is in %s", secret, text)
		}
	}

	return nil
}

func TestExecWaitsForTheFilesItRefersTo(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var sandboxID string
	const exec = "data.cloudflaresandbox_exec.test"

	config := func(content string) string {
		return b.config(oneFile(`path = "file"`, set("content", content)) +
			execBlock("test", command("cat", "file"), "environment = { REVISION = "+file+".revision }"))
	}

	b.run(
		resource.TestStep{
			Config: config("first"),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				statecheck.ExpectKnownValue(exec, tfjsonpath.New("stdout"), knownvalue.StringExact("first")),
			},
		},
		resource.TestStep{
			Config:           config("second"),
			ConfigPlanChecks: before(action(exec, plancheck.ResourceActionRead)),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(exec, tfjsonpath.New("stdout"), knownvalue.StringExact("second")),
			},
		},
		resource.TestStep{
			// The container is replaced: it must not run in the empty one.
			PreConfig: func() { b.local.Kill(sandboxID) },
			Config:    config("second"),
			ConfigPlanChecks: before(
				action(file, plancheck.ResourceActionCreate),
				action(exec, plancheck.ResourceActionRead),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(exec, tfjsonpath.New("stdout"), knownvalue.StringExact("second")),
			},
		},
	)
}
