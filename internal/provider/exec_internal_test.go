package provider

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestMergeEnvironment(t *testing.T) {
	t.Parallel()

	base := map[string]string{"KEPT": "base", "REPLACED": "base", "DROPPED": "base"}
	own := types.MapValueMust(types.StringType, map[string]attr.Value{
		"REPLACED": types.StringValue("own"), "DROPPED": types.StringNull(), "EMPTY": types.StringValue(""), "NOTHING": types.StringNull(),
	})

	var diags diag.Diagnostics
	got := mergeEnvironment(t.Context(), base, own, &diags)
	if diags.HasError() {
		t.Fatal(diags)
	}
	if want := map[string]string{"KEPT": "base", "REPLACED": "own", "EMPTY": ""}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if base["REPLACED"] != "base" || len(base) != 3 {
		t.Errorf("the provider's own variables are now %v", base)
	}
}

func TestShownOutput(t *testing.T) {
	t.Parallel()

	stdin := "the whole input"
	shown := redactor(bridge.Command{
		Environment: map[string]string{"A": "secret", "B": "secret and more", "C": "on"},
		Stdin:       &stdin,
	})

	cases := map[string]struct {
		stdout, stderr, want string
	}{
		"nothing":        {"", "", "It printed nothing.\n\n"},
		"white space":    {" \n", "\n", "It printed nothing.\n\n"},
		"both":           {"out", "err\n", "stderr:\nerr\n\n"},
		"only stdout":    {"out\n", "", "stdout:\nout\n\n"},
		"secrets":        {"", "secret, secret and more, on, the whole input", "stderr:\n(sensitive value), (sensitive value), on, (sensitive value)\n\n"},
		"bytes":          {"", "a\xffb", "stderr:\na\uFFFDb\n\n"},
		"long":           {"", strings.Repeat("x", 5000) + "end", "The last 4096 bytes of stderr:\n" + strings.Repeat("x", 4093) + "end\n\n"},
		"cut in the mid": {"", strings.Repeat("ü", 3000) + "x", "The last 4096 bytes of stderr:\n" + strings.Repeat("ü", 2047) + "x\n\n"},
	}

	for name, c := range cases {
		got := shown.output(&bridge.Result{Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)})
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}

	both := shown.everything(&bridge.Result{Stdout: []byte("out"), Stderr: []byte("err")})
	if want := "stderr:\nerr\n\nstdout:\nout\n\n"; both != want {
		t.Errorf("got %q, want %q", both, want)
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()

	cases := map[string]string{
		"it broke":          "It broke.",
		"It broke.":         "It broke.",
		"über alles":        "Über alles.",
		"two\nlines":        "Two\nlines",
		"ends in a quote\"": "Ends in a quote\".",
	}
	for text, want := range cases {
		if got := sentence(errors.New(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"1ms", "90s", "1h30m", "24h"} {
		if _, err := parseDuration(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "5", "soon", "0s", "-1s", "24h1ms", "999us", "1e3s"} {
		if _, err := parseDuration(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// The arguments are the same wherever a command can be run.
func TestEveryFaceOfExecTakesTheSameArguments(t *testing.T) {
	t.Parallel()

	resource := execResourceSchema(t.Context()).Attributes
	ephemeral := ephemeralAttributes(execAttributes(keptNowhere))
	action := actionAttributes(commandArguments(keptInPlan))
	onDestroy, ok := resource["on_destroy"].(resourceschema.SingleNestedAttribute)
	if !ok {
		t.Fatalf("on_destroy is %T", resource["on_destroy"])
	}

	for name, argument := range commandArguments(keptInState) {
		for face, got := range map[string]interface {
			GetType() attr.Type
			IsRequired() bool
			IsOptional() bool
			IsComputed() bool
		}{"resource": resource[name], "on_destroy": onDestroy.Attributes[name], "ephemeral": ephemeral[name], "action": action[name]} {
			if got == nil || !got.GetType().Equal(argument.GetType()) || got.IsRequired() || !got.IsOptional() || got.IsComputed() {
				t.Errorf("%s of the %s is %+v", name, face, got)
			}
		}
	}
	for name, result := range commandResults() {
		for face, got := range map[string]interface {
			GetType() attr.Type
			IsComputed() bool
		}{"resource": resource[name], "ephemeral": ephemeral[name]} {
			if got == nil || !got.GetType().Equal(result.GetType()) || !got.IsComputed() {
				t.Errorf("%s of the %s is %+v", name, face, got)
			}
		}
		if action[name] != nil {
			t.Errorf("the action has %s", name)
		}
	}
}
