package provider_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
)

// openBlock is an ephemeral resource that runs a command in the sandbox of
// oneSandbox.
func openBlock(attributes ...string) string {
	return "ephemeral \"cloudflaresandbox_exec\" \"test\" {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  " +
		strings.Join(attributes, "\n  ") + "\n}\n"
}

// echoed keeps an ephemeral result where a test can see it.
const echoed = `
provider "echo" {
  data = ephemeral.cloudflaresandbox_exec.test
}
resource "echo" "test" {}
`

// runEphemeral is run for Terraform and OpenTofu that know ephemeral resources.
func (b *testBridge) runEphemeral(steps ...resource.TestStep) {
	b.t.Helper()

	all := factories()
	all["echo"] = echoprovider.NewProviderServer()
	resource.Test(b.t, resource.TestCase{
		ProtoV6ProviderFactories: all,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
		Steps:                    steps,
	})
	b.expectNothingLeft()
}

func TestExecEphemeralHandsOnItsResult(t *testing.T) {
	b := anyBridge(t)
	result := tfjsonpath.New("data")

	b.runEphemeral(resource.TestStep{
		Config: b.config(oneSandbox+openBlock(
			set("script", `echo "$A $SHARED $(cat) $(pwd)"; printf '\xff' >&2; exit 4`), `environment = { A = "b" }`, `stdin = "input"`,
			`working_dir = "/tmp"`, allowed), `environment = { SHARED = "shared" }`) + echoed,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.test", result.AtMapKey("stdout"), knownvalue.StringExact("b shared input /tmp\n")),
			statecheck.ExpectKnownValue("echo.test", result.AtMapKey("exit_code"), knownvalue.Int64Exact(4)),
			statecheck.ExpectKnownValue("echo.test", result.AtMapKey("stderr"), knownvalue.Null()),
			statecheck.ExpectKnownValue("echo.test", result.AtMapKey("stderr_base64"), knownvalue.StringExact(base64Of([]byte{0xff}))),
		},
	})
}

// While what it needs is not there, it waits.
func TestExecEphemeralIsOpenedOnceItsArgumentsAreKnown(t *testing.T) {
	b := anyBridge(t)

	b.runEphemeral(resource.TestStep{
		Config:           b.config(oneSandbox+openBlock(command("true"))) + echoed,
		ConfigPlanChecks: before(b.sentAtPlan("")),
		ConfigStateChecks: []statecheck.StateCheck{
			// The command is staged, so that it is in no log.
			b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec, 1 PUT sandbox/:id/file"),
		},
	})
}

func TestExecEphemeralFailuresAreErrorsAtTheirAttribute(t *testing.T) {
	b := anyBridge(t)

	b.runEphemeral(
		resource.TestStep{
			Config: b.config(oneSandbox + openBlock(command("bash", "-c", `echo "token is $TOKEN" >&2; exit 3`),
				`environment = { TOKEN = "tok-123456" }`)),
			ExpectError: regexp.MustCompile(`(?s)exit code 3.*command =.*token is \(sensitive value\)`),
		},
		resource.TestStep{Config: b.config(oneSandbox)},
	)
}

// What is told to an ephemeral command, and what it answers, is nowhere but
// where it is used.
func TestExecEphemeralLeavesNoTraceOfSecrets(t *testing.T) {
	const (
		argument = "argument-secret-4721"
		variable = "environment-secret-4722"
		input    = "input-secret-4723"
		answer   = "answer-secret-4724"
	)
	secrets := []string{argument, variable, input, answer}
	b := anyBridge(t)

	c := b.cli(`
		variable "argument" {
		  ephemeral = true
		}
		variable "variable" {
		  ephemeral = true
		}
		variable "input" {
		  ephemeral = true
		}
		output "id" {
		  value = cloudflaresandbox_sandbox.test.id
		}` + oneSandbox +
		openBlock("command = [\"bash\", \"-c\", \"test $1 = argument-secret-$((4720 + 1)) && test -n $TOKEN && cat && echo -n answer-secret-$((4720 + 4))\", \"_\", var.argument]",
			`environment = { TOKEN = var.variable }`, `stdin = var.input`) +
		fileBlock("test", `path = "answer"`, `content_wo = ephemeral.cloudflaresandbox_exec.test.stdout`, `content_wo_version = 1`))
	c.env = append(c.env, "TF_VAR_argument="+argument, "TF_VAR_variable="+variable, "TF_VAR_input="+input)
	traced := *c
	traced.env = append(traced.env, "TF_LOG=TRACE")

	outputs := []string{
		traced.must("plan", "-out=plan"), traced.must("apply", "plan"), traced.must("plan", "-out=second"), traced.must("show", "second"),
	}
	outputs = append(outputs, planMembers(t, filepath.Join(c.dir, "plan")), planMembers(t, filepath.Join(c.dir, "second")),
		readFile(t, filepath.Join(c.dir, "terraform.tfstate")))
	if b.local != nil {
		outputs = append(outputs, strings.Join(b.local.CommandLog(), "\n"))
	}
	for i, output := range outputs {
		for line := range strings.SplitSeq(output, "\n") {
			if err := lacksAny(line, secrets...); err != nil {
				t.Errorf("output %d: %v", i, err)
			}
		}
	}

	if got := b.inside(c.outputs()["id"], "cat answer"); got != input+answer {
		t.Errorf("the file has %q", got)
	}
}
