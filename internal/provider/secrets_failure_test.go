package provider_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// tellAll is a script that prints all that it was told, and fails.
const tellAll = `echo "$OWN $WO $SHARED" >&2; cat >&2; exit 3`

// failingExec is an exec resource that is told secrets, and what it does with
// them at its beginning and its end.
func failingExec(create, destroy string) string {
	value := func(row string) string { return "var." + secretRows[row].variable() }

	return oneSandbox + fmt.Sprintf(`
		provider "cloudflaresandbox" {
		  environment = { SHARED = %s }
		}
		resource "cloudflaresandbox_exec" "test" {
		  sandbox_id             = cloudflaresandbox_sandbox.test.id
		  script                 = %s
		  environment            = { OWN = %s }
		  environment_wo         = { WO = %s }
		  environment_wo_version = 1
		  stdin                  = %s

		  on_destroy = {
		    script      = %s
		    environment = { OWN = %s }
		    stdin       = %s
		  }
		}`, value("provider environment"), hcl(create), value("exec resource environment"), value("environment_wo"), value("exec resource stdin"),
		hcl(destroy), value("on_destroy environment"), value("on_destroy stdin"))
}

// A command that prints what it was told has its error shown without that, also
// where Terraform itself knows nothing of the value any more.
func TestFailuresOfAnExecResourceShowNoSecret(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	c := b.cli(failingExec(tellAll, "true"))
	c.declareSecrets("provider environment", "exec resource environment", "environment_wo", "exec resource stdin",
		"on_destroy environment", "on_destroy stdin")
	trace := filepath.Join(c.dir, "trace.log")
	c.env = append(c.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	fails := func(what string, args ...string) {
		t.Helper()
		output, err := c.try(args...)
		if err == nil || !strings.Contains(output, "exit code 3") || !strings.Contains(output, "(sensitive value)") {
			t.Errorf("%s: %v\n%s", what, err, output)
		}
		captured{"the failure at " + what, output, never}.check(t)
	}

	fails("create", "apply", "-auto-approve")
	c.write("main.tf", failingExec("true", tellAll))
	c.must("apply", "-auto-approve")
	fails("destroy", "destroy", "-auto-approve")

	c.write("main.tf", failingExec("true", "true"))
	c.must("apply", "-auto-approve")
	c.must("destroy", "-auto-approve")
	captured{"Terraform's log", readFile(t, trace), never}.check(t)
}
