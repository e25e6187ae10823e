package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
)

// output is a configuration that needs no bridge: functions ask for nothing.
func output(expression string) string {
	return "output \"test\" {\n  value = " + expression + "\n}\n"
}

func functionTest(t *testing.T, step resource.TestStep) {
	t.Helper()

	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{step}})
}

func TestFunctionResults(t *testing.T) {
	cases := map[string]struct{ expression, want string }{
		"relative path":  {`provider::cloudflaresandbox::workspace_path("a/b.txt")`, "/workspace/a/b.txt"},
		"absolute path":  {`provider::cloudflaresandbox::workspace_path("/workspace/a")`, "/workspace/a"},
		"roundabout":     {`provider::cloudflaresandbox::workspace_path("./a//x/../b")`, "/workspace/a/b"},
		"out and back":   {`provider::cloudflaresandbox::workspace_path("../workspace/a")`, "/workspace/a"},
		"no words":       {`provider::cloudflaresandbox::shell_join([])`, ""},
		"empty word":     {`provider::cloudflaresandbox::shell_join(["echo", ""])`, "echo ''"},
		"plain words":    {`provider::cloudflaresandbox::shell_join(["tar", "-C", "/workspace", "--file=a.tar", "x:y,z@1%+"])`, "tar -C /workspace --file=a.tar x:y,z@1%+"},
		"quoted words":   {`provider::cloudflaresandbox::shell_join(["it's", "a b", "$HOME", "*"])`, `'it'\''s' 'a b' '$HOME' '*'`},
		"keywords":       {`provider::cloudflaresandbox::shell_join(["if", "A=b"])`, `'if' 'A=b'`},
		"list from code": {`provider::cloudflaresandbox::shell_join([for n in [1, 2] : "file ${n}"])`, `'file 1' 'file 2'`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			acceptance(t)
			functionTest(t, resource.TestStep{
				Config:            output(c.expression),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("test", knownvalue.StringExact(c.want))},
			})
		})
	}
}

func TestFunctionsRefuseWhatCannotBe(t *testing.T) {
	cases := map[string]struct{ expression, want string }{
		"outside":        {`provider::cloudflaresandbox::workspace_path("../etc/passwd")`, `"../etc/passwd" is outside /workspace`},
		"the root":       {`provider::cloudflaresandbox::workspace_path("/workspace")`, `is /workspace itself`},
		"slash at end":   {`provider::cloudflaresandbox::workspace_path("a/")`, `ends in a slash`},
		"empty":          {`provider::cloudflaresandbox::workspace_path("")`, `must not be empty`},
		"NUL in a path":  {`provider::cloudflaresandbox::workspace_path("a\u0000b")`, `NUL character`},
		"too long":       {`provider::cloudflaresandbox::workspace_path("` + strings.Repeat("n", 256) + `")`, `can have 255 bytes`},
		"null path":      {`provider::cloudflaresandbox::workspace_path(null)`, `must not be null`},
		"NUL in a word":  {`provider::cloudflaresandbox::shell_join(["a", "\u0000"])`, `Word 1 cannot be used.*NUL character`},
		"null in a list": {`provider::cloudflaresandbox::shell_join(["a", null])`, `Word 1 is null`},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			acceptance(t)
			words := strings.ReplaceAll(c.want, " ", `\s+`) // the message may be wrapped anywhere
			functionTest(t, resource.TestStep{
				Config:      output(c.expression),
				ExpectError: regexp.MustCompile(`(?s)` + words),
			})
		})
	}
}
