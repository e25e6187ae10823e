package provider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// ephemeralPython is pythonBlock for the face that keeps nothing.
func ephemeralPython(name, code string, attributes ...string) string {
	return strings.Replace(pythonBlock(name, code, attributes...), "data ", "ephemeral ", 1)
}

// An echo provider keeps what it is configured with, which no other may.
func TestEphemeralPythonTellsWhatBecameOfTheCode(t *testing.T) {
	b := anyBridge(t)
	config := oneSandbox +
		ephemeralPython("value", "import os\nprint('said')\nos.environ['A']", `environment = { A = "b" }`) +
		ephemeralPython("error", "1 / 0", errorAllowed) + `
		provider "echo" {
		  data = {
		    value = ephemeral.cloudflaresandbox_python.value.result_json
		    said  = ephemeral.cloudflaresandbox_python.value.stdout
		    error = ephemeral.cloudflaresandbox_python.error.error
		    none  = ephemeral.cloudflaresandbox_python.value.error
		  }
		}
		resource "echo" "test" {}`

	servers := factories()
	servers["echo"] = echoprovider.NewProviderServer()
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: servers,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
		Steps: []resource.TestStep{{
			Config: b.config(config),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data"), knownvalue.ObjectExact(map[string]knownvalue.Check{
					"value": knownvalue.StringExact(`"b"`),
					"said":  knownvalue.StringExact("said\n"),
					"error": knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.StringExact("ZeroDivisionError")}),
					"none":  knownvalue.Null(),
				})),
			},
		}},
	})
}

// Neither what works nor what fails leaves a trace of what it was told, however
// much is logged.
func TestEphemeralPythonLeavesNoTrace(t *testing.T) {
	const (
		inCode  = "code-secret-5711"
		inEnv   = "environment-secret-5712"
		inInput = "input-secret-5713"
		result  = "result-secret-5714"
	)
	secrets := []string{inCode, inEnv, inInput, result}
	b := localBridge(t, localbridge.Config{})

	config := `
		variable "code" {
		  ephemeral = true
		}
		variable "env" {
		  ephemeral = true
		}
		variable "input" {
		  ephemeral = true
		}` + oneSandbox + `
		ephemeral "cloudflaresandbox_python" "test" {
		  sandbox_id  = cloudflaresandbox_sandbox.test.id
		  code        = var.code
		  environment = { TOKEN = var.env }
		  stdin       = var.input
		}
		resource "cloudflaresandbox_file" "result" {
		  sandbox_id         = cloudflaresandbox_sandbox.test.id
		  path               = "result"
		  content_wo         = ephemeral.cloudflaresandbox_python.test.result
		  content_wo_version = 1
		}`
	code := "# " + inCode + "\nimport os, sys\nassert os.environ['TOKEN'] == '" + inEnv + "' and sys.stdin.read() == '" + inInput + "'\n" +
		"'result-' + 'secret-' + str(5713 + 1)"
	c := b.cli(config)
	c.env = append(c.env, "TF_LOG=TRACE", "TF_VAR_code="+code, "TF_VAR_env="+inEnv, "TF_VAR_input="+inInput)

	var outputs []string
	for _, args := range [][]string{{"plan", "-out=plan"}, {"apply", "plan"}, {"plan"}} {
		outputs = append(outputs, c.must(args...))
	}
	failing := *c
	failing.env = append(failing.env, "TF_VAR_code=import os, sys\nraise ValueError(os.environ['TOKEN'] + sys.stdin.read())")
	output, err := failing.try("plan")
	if err == nil || !strings.Contains(output, "ValueError: (sensitive value)(sensitive value)") {
		t.Errorf("plan: %v\n%s", err, output[max(0, len(output)-1000):])
	}
	outputs = append(outputs, output, c.must("show", "-json"), c.must("show", "-json", "plan"), strings.Join(b.local.CommandLog(), "\n"))
	if left, err := os.ReadFile(filepath.Join(c.dir, "plan")); err != nil {
		t.Error(err)
	} else {
		outputs = append(outputs, string(left))
	}

	for i, output := range outputs {
		if i < 4 && !strings.Contains(output, "[TRACE]") {
			t.Errorf("output %d has no trace", i)
		}
		for line := range strings.SplitSeq(output, "\n") {
			if err := lacksAny(line, secrets...); err != nil {
				t.Errorf("output %d: %v", i, err)
			}
		}
	}
}
