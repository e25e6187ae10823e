package provider_test

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// script is the arguments of an exec action that runs one in a sandbox.
func script(sandboxID, text string) map[string]tftypes.Value {
	return map[string]tftypes.Value{
		"sandbox_id": tftypes.NewValue(tftypes.String, sandboxID),
		"script":     tftypes.NewValue(tftypes.String, text),
	}
}

func TestExecActionSaysThatItRunsAndWhatItPrinted(t *testing.T) {
	b := anyBridge(t)
	id := b.sandbox()

	// The first sign of life comes after ten seconds.
	result := b.invoke("cloudflaresandbox_exec", script(id, "echo begun; sleep 11; echo problem >&2; echo ended"))

	// On a busy machine there may be another one.
	want := `^Running in sandbox ` + id + `(\|Still running after \d+s)+` +
		`\|Ended with exit code 0 after [\d.ms]+\n\nstderr:\nproblem\n\nstdout:\nbegun\nended$`
	if said := strings.Join(result.progress, "|"); len(result.errors) > 0 || !regexp.MustCompile(want).MatchString(said) {
		t.Errorf("got %+v, want %s", result, want)
	}
}

func TestExecActionTakesAllArguments(t *testing.T) {
	b := anyBridge(t)
	id := b.sandbox()
	arguments := script(id, `echo "$A $(cat) $(pwd)" | tee /workspace/out; exit 3`)
	text := tftypes.String
	maps.Copy(arguments, map[string]tftypes.Value{
		"interpreter": tftypes.NewValue(tftypes.List{ElementType: text}, []tftypes.Value{tftypes.NewValue(text, "sh")}),
		"environment": tftypes.NewValue(tftypes.Map{ElementType: text}, map[string]tftypes.Value{"A": tftypes.NewValue(text, "secret-of-4731")}),
		"stdin":       tftypes.NewValue(text, "input"), "working_dir": tftypes.NewValue(text, "/tmp"),
		"timeout": tftypes.NewValue(text, "1m"), "max_output_bytes": tftypes.NewValue(tftypes.Number, 1000),
		"allow_non_zero_exit_code": tftypes.NewValue(tftypes.Bool, true),
	})

	result := b.invoke("cloudflaresandbox_exec", arguments)

	if said := strings.Join(result.progress, "\n"); len(result.errors) > 0 || !strings.Contains(said, "exit code 3") ||
		strings.Contains(said, "4731") {
		t.Errorf("got %+v", result)
	}
	if got := b.inside(id, "cat out"); got != "secret-of-4731 input /tmp\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestExecActionFailures(t *testing.T) {
	b := anyBridge(t)
	id := b.sandbox()
	slow := script(id, "echo so far; exec sleep 300")
	slow["timeout"] = tftypes.NewValue(tftypes.String, "5s")

	cases := map[string]struct {
		arguments map[string]tftypes.Value
		at, want  string
	}{
		"exit code":       {script(id, "echo broken >&2; exit 3"), "script", `(?s)exit code 3.*broken`},
		"timeout":         {slow, "timeout", `(?s)ran longer than 5s.*so far`},
		"nothing to run":  {map[string]tftypes.Value{"sandbox_id": tftypes.NewValue(tftypes.String, id)}, "command", `No attribute specified|Missing`},
		"not a sandbox":   {script("not an id", "true"), "sandbox_id", `Invalid sandbox id`},
		"NUL in a script": {script(id, "a\x00b"), "script", `Invalid text`},
	}
	for name, c := range cases {
		result := b.invoke("cloudflaresandbox_exec", c.arguments)
		if len(result.errors) != 1 {
			t.Errorf("%s: got %+v", name, result)
			continue
		}
		told := result.errors[0]
		if at := told.Attribute.String(); !strings.Contains(at, `"`+c.at+`"`) {
			t.Errorf("%s: the error is at %s", name, at)
		}
		if text := told.Summary + "\n" + told.Detail; !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s: got %s", name, text)
		}
	}
}

func TestPoolActionsAskTheBridgeAndStartNothing(t *testing.T) {
	b := anyBridge(t)

	for action, route := range map[string]string{
		"cloudflaresandbox_prime_pool": "pool/prime", "cloudflaresandbox_shutdown_prewarmed": "pool/shutdown-prewarmed",
	} {
		b.forget()
		result := b.invoke(action, nil)
		if len(result.errors) > 0 || len(result.progress) != 1 {
			t.Errorf("%s: got %+v", action, result)
		}
		if err := b.expectSent("1 POST " + route); err != nil {
			t.Errorf("%s: %v", action, err)
		}

		b.answerWith(http.StatusUnauthorized)
		if result := b.invoke(action, nil); len(result.errors) != 1 || len(result.progress) > 0 {
			t.Errorf("%s, refused: got %+v", action, result)
		}
		b.answerWith(0)
	}
}

func TestPoolActionsTellOfAWrongKey(t *testing.T) {
	b := anyBridge(t)
	b.key = "not-the-key"

	for _, action := range []string{"cloudflaresandbox_prime_pool", "cloudflaresandbox_shutdown_prewarmed"} {
		result := b.invoke(action, nil)
		if len(result.errors) != 1 || !strings.Contains(result.errors[0].Summary, "did not accept the API key") {
			t.Errorf("%s: got %+v", action, result)
		}
	}
}
