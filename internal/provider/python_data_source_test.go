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

// pythonBlock is a data source that runs code in the sandbox of oneSandbox.
func pythonBlock(name, code string, attributes ...string) string {
	return fmt.Sprintf("data \"cloudflaresandbox_python\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n  %s\n}\n",
		name, set("code", code), strings.Join(attributes, "\n  "))
}

const errorAllowed = "allow_error = true"

// pythonCase is code and what becomes of it. What is not named is null, or for
// output empty.
type pythonCase struct {
	name       string
	code       string
	attributes []string
	result     any
	json       any
	stdout     string
	stderr     string
	errorName  string
	value      string
	traceback  []string
}

func (c pythonCase) checks(address string) []statecheck.StateCheck {
	want := map[string]knownvalue.Check{
		"result":        stringOrNull(c.result),
		"result_json":   stringOrNull(c.json),
		"stdout":        knownvalue.StringExact(c.stdout),
		"stderr":        knownvalue.StringExact(c.stderr),
		"stdout_base64": knownvalue.StringExact(base64Of([]byte(c.stdout))),
		"stderr_base64": knownvalue.StringExact(base64Of([]byte(c.stderr))),
		"error":         knownvalue.Null(),
	}
	if c.errorName != "" {
		want["error"] = knownvalue.ObjectExact(map[string]knownvalue.Check{
			"name":      knownvalue.StringExact(c.errorName),
			"value":     knownvalue.StringExact(c.value),
			"traceback": knownvalue.StringFunc(containsAll(c.traceback)),
		})
	}

	var checks []statecheck.StateCheck
	for attribute, check := range want {
		checks = append(checks, named(c.name, statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), check)))
	}

	return checks
}

func stringOrNull(want any) knownvalue.Check {
	if text, ok := want.(string); ok {
		return knownvalue.StringExact(text)
	}

	return knownvalue.Null()
}

// containsAll expects the parts, or an empty text if there are none.
func containsAll(parts []string) func(string) error {
	return func(text string) error {
		if len(parts) == 0 && text != "" {
			return fmt.Errorf("got %q, want nothing", text)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return fmt.Errorf("%q is not in %q", part, text)
			}
		}

		return nil
	}
}

// pythonResults are snippets that come to their end.
var pythonResults = []pythonCase{
	{name: "value", code: "x = 20\nx + 1\n", result: "21", json: "21"},
	{name: "no expression at the end", code: "x = 20\nx\ny = x\n"},
	{name: "None", code: "print('said')", stdout: "said\n"},
	{name: "nothing at all", code: ""},
	{name: "text", code: "'it\\'s ' + '\\n'", result: `"it's \n"`, json: `"it's \n"`},
	{name: "structure", code: "{'a': [1, 2.5, None, True], 'ü': {}}", result: "{'a': [1, 2.5, None, True], 'ü': {}}", json: `{"a": [1, 2.5, null, true], "ü": {}}`},
	{name: "not JSON", code: "{1}", result: "{1}"},
	{name: "NaN is not JSON", code: "[float('nan')]", result: "[nan]"},
	{name: "repr of several lines", code: "class Matrix:\n  def __repr__(self):\n    return '1 0\\n0 1\\n'\nMatrix()", result: "1 0\n0 1\n"},
	{name: "unicode", code: "print('grüße 👩')\n'日本'", result: "'日本'", json: `"日本"`, stdout: "grüße 👩\n"},
	{name: "both streams", code: "import sys\nprint('out')\nprint('err', file=sys.stderr)", stdout: "out\n", stderr: "err\n"},
	{name: "no final newline", code: "print('x', end='')", stdout: "x"},
	{
		name:   "child processes and os.write in order",
		code:   "import os, subprocess\nprint('1', end='')\nsubprocess.run(['printf', '2'])\nos.write(1, b'3')\nos.system('printf 4; printf err >&2')\nprint('5')",
		stdout: "12345\n", stderr: "err",
	},
	{name: "output that looks like a reply", code: "print('result 1\\n5\\nend')\n7", result: "7", json: "7", stdout: "result 1\n5\nend\n"},
	{name: "output at exit", code: "import atexit\natexit.register(print, 'bye')\nprint('first')\n1", result: "1", json: "1", stdout: "first\nbye\n"},
	{name: "future", code: "from __future__ import annotations\ndef f(x: Undefined): pass\nf.__annotations__", result: "{'x': 'Undefined'}", json: `{"x": "Undefined"}`},
	{
		name:   "names are reused in functions and classes",
		code:   "import math\nn = 3\ndef area(r): return round(math.pi * r ** 2, n)\nclass A:\n  size = n\n  def area(self): return area(A.size)\n[A().area() for _ in range(1)]",
		result: "[28.274]", json: "[28.274]",
	},
	{name: "main program", code: "done = False\nif __name__ == '__main__':\n  done = True\ndone", result: "True", json: "true"},
	{name: "exit code 0", code: "import sys\nprint('said')\nsys.exit(0)\n5", stdout: "said\n"},
	{name: "300 KiB", code: strings.Repeat("# padding ü\n", 25<<10) + "'end'", result: "'end'", json: `"end"`},
	{name: "environment", code: "import os\nos.environ['LINES']", attributes: []string{`environment = { LINES = "1\n2" }`}, result: `'1\n2'`, json: `"1\n2"`},
	{name: "stdin", code: "import sys\nsys.stdin.read()", attributes: []string{set("stdin", "line\n")}, result: `'line\n'`, json: `"line\n"`},
	{name: "no stdin", code: "import sys\nsys.stdin.read()", result: "''", json: `""`},
	{name: "working directory", code: "import os\nos.getcwd()", attributes: []string{`working_dir = "/usr/bin"`}, result: "'/usr/bin'", json: `"/usr/bin"`},
	{name: "closed streams", code: "import os\nos.close(1)\nos.close(2)\n5", result: "5", json: "5"},
	{name: "fork", code: "import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nprint(bool(child))\n5", result: "5", json: "5", stdout: "False\nTrue\n"},
	{name: "thread", code: "import threading\ngo = threading.Event()\nthreading.Thread(target=lambda: (go.wait(), print('thread'))).start()\ngo.set()\n5", result: "5", json: "5", stdout: "thread\n"},
	{
		name:   "dataclasses, pickle and inspect find the code",
		code:   "import dataclasses, inspect, pickle\n@dataclasses.dataclass\nclass P:\n  x: 'int'\ndef f(): return 1  # one\npickle.loads(pickle.dumps(P(3))), inspect.getsource(f)",
		result: `(P(x=3), 'def f(): return 1  # one\n')`,
	},
}

// pythonErrors are snippets that do not.
var pythonErrors = []pythonCase{
	{
		name: "exception", code: "def divide(a):\n\n  return a / 0\n\nprint('said')\ndivide(1)\n", stdout: "said\n", errorName: "ZeroDivisionError", value: "division by zero",
		traceback: []string{
			"Traceback (most recent call last):\n  File \"<code>\", line 6, in <module>\n    divide(1)\n",
			"  File \"<code>\", line 3, in divide\n    return a / 0\n", "ZeroDivisionError: division by zero\n",
		},
	},
	{
		name: "syntax", code: "x = 1\nreturn x\n", errorName: "SyntaxError", value: "'return' outside function (<code>, line 2)",
		traceback: []string{"  File \"<code>\", line 2\n    return x\n"},
	},
	{name: "exit code", code: "import sys\nsys.exit(3)", errorName: "SystemExit", value: "3", traceback: []string{"line 2, in <module>\n    sys.exit(3)\n"}},
	{name: "exit text", code: "raise SystemExit('enough')", errorName: "SystemExit", value: "enough", traceback: []string{"SystemExit: enough\n"}},
	{name: "repr", code: "class A:\n  def __repr__(self): raise KeyError('no')\nA()", errorName: "KeyError", value: "'no'", traceback: []string{"line 2, in __repr__\n"}},
	{
		name: "left at once", code: "import os\nprint('said')\nos._exit(3)", stdout: "said\n", errorName: "ProcessEnded",
		value: "the process ended with exit code 3 before the code had come to its end",
	},
	{
		name: "killed", code: "import os, signal\nprint('said')\nos.kill(os.getpid(), signal.SIGKILL)", stdout: "said\n", errorName: "ProcessEnded",
		value: "the process ended with exit code 137 (signal 9) before the code had come to its end",
	},
}

func TestPythonTellsWhatBecameOfTheCode(t *testing.T) {
	b := anyBridge(t)

	config := oneSandbox
	var state []statecheck.StateCheck
	for i, c := range pythonResults {
		name := fmt.Sprintf("result%d", i)
		config += "# " + c.name + "\n" + pythonBlock(name, c.code, c.attributes...)
		state = append(state, c.checks("data.cloudflaresandbox_python."+name)...)
	}
	for i, c := range pythonErrors {
		name := fmt.Sprintf("error%d", i)
		config += "# " + c.name + "\n" + pythonBlock(name, c.code, errorAllowed)
		state = append(state, c.checks("data.cloudflaresandbox_python."+name)...)
	}

	b.run(resource.TestStep{Config: b.config(config), ConfigStateChecks: state})
}

func TestPythonOutputThatIsNotTextIsNullAsText(t *testing.T) {
	b := anyBridge(t)
	const python = "data.cloudflaresandbox_python.test"

	b.run(resource.TestStep{
		Config: b.config(oneSandbox + pythonBlock("test", `import os
os.write(1, b"\xff\x00")
os.write(2, b"\xfe")
None`)),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(python, tfjsonpath.New("stdout"), knownvalue.Null()),
			statecheck.ExpectKnownValue(python, tfjsonpath.New("stderr"), knownvalue.Null()),
			statecheck.ExpectKnownValue(python, tfjsonpath.New("stdout_base64"), knownvalue.StringExact(base64Of([]byte{0xff, 0}))),
			statecheck.ExpectKnownValue(python, tfjsonpath.New("stderr_base64"), knownvalue.StringExact(base64Of([]byte{0xfe}))),
		},
	})
}

func TestPythonTakesTheProvidersDefaultsAndItsOwnWin(t *testing.T) {
	b := anyBridge(t)
	const code = `import os
os.getcwd(), os.environ["SHARED"], os.environ["OWN"], "DROPPED" in os.environ, os.environ.get("INTERPRETER")`
	interpreter := fileBlock("interpreter", `path = "own-python"`, `mode = "0755"`,
		set("content", "#!/bin/sh\nINTERPRETER=own exec python3 \"$@\"\n"))

	b.run(resource.TestStep{
		Config: b.config(oneSandbox+interpreter+
			pythonBlock("defaults", code, `depends_on = [cloudflaresandbox_file.interpreter]`, `python_executable = ""`)+
			pythonBlock("own", code, `environment = { OWN = "own", DROPPED = null }`, `working_dir = "/tmp"`, `python_executable = "python3"`),
			`working_dir = "/usr"`, `environment = { SHARED = "shared", OWN = "provider", DROPPED = "dropped" }`,
			`python_executable = "/workspace/own-python"`),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("data.cloudflaresandbox_python.defaults", tfjsonpath.New("result_json"),
				knownvalue.StringExact(`["/usr", "shared", "provider", true, "own"]`)),
			statecheck.ExpectKnownValue("data.cloudflaresandbox_python.own", tfjsonpath.New("result_json"),
				knownvalue.StringExact(`["/tmp", "shared", "own", false, null]`)),
		},
	})
}

func TestPythonFailuresAreErrorsAtTheirAttribute(t *testing.T) {
	cases := map[string]struct {
		code       string
		attributes []string
		settings   []string
		want       string
	}{
		"exception": {
			"def f():\n  raise ValueError('broken')\nprint('almost')\nf()", nil, nil,
			`(?s)ended with ValueError.*code\s+=.*line 4, in <module>\s+f\(\).*line 2, in f\s+raise ValueError\('broken'\).*ValueError: broken.*stdout:\s+almost.*allow_error`,
		},
		"syntax":     {"x = 1\nif x\n  y", nil, nil, `(?s)ended with SyntaxError.*code\s+=.*File "<code>", line 2.*if x`},
		"exit code":  {"import sys\nsys.exit(4)", nil, nil, `(?s)ended with SystemExit.*SystemExit: 4`},
		"killed":     {"import os\nos.kill(os.getpid(), 9)", nil, nil, `(?s)process ended early.*The process ended with exit code 137 \(signal 9\)`},
		"long trace": {"raise ValueError('x' * 9000 + 'last')", nil, nil, `(?s)The last 4096 bytes of traceback:.*xxxlast`},
		"timeout": {
			"import time\nprint('so far')\ntime.sleep(300)",
			[]string{`timeout = "10s"`, errorAllowed},
			nil,
			`(?s)ran longer than 10s.*timeout\s+=.*so far`,
		},
		"timeout of the provider": {"import time\ntime.sleep(300)", nil, []string{`timeout = "700ms"`}, `(?s)ran longer than 700ms`},
		"too much output": {
			"print('x' * 1000)",
			[]string{"max_output_bytes = 1000", errorAllowed},
			nil,
			`(?s)Too much output.*max_output_bytes\s+=.*stdout\s+has\s+1001\s+bytes`,
		},
		"too large a result": {"'x' * 1000", []string{"max_output_bytes = 1000"}, nil, `(?s)Too much output.*result\s+has\s+1002\s+bytes`},
		"no Python": {
			"1", nil,
			[]string{`python_executable = "no-such-python"`},
			`(?s)No Python to run.*code\s+=.*There\s+is\s+no\s+no-such-python\s+in\s+the\s+sandbox.*-python.*set\s+python_executable`,
		},
		"no Python here": {"1", []string{`environment = { PATH = "/none" }`}, nil, `(?s)No Python to run.*There\s+is\s+no\s+python3`},
		"not a Python":   {"1", []string{`python_executable = "/bin/false"`, errorAllowed}, nil, `(?s)No Python to run.*python_executable\s+=.*exit\s+code\s+1`},
		"no directory":   {"1", []string{`working_dir = "/no/such"`}, nil, `(?s)could not be started.*/no/such`},
		"bad max":        {"1", []string{"max_output_bytes = 4194305"}, nil, `(?s)max_output_bytes.*between 1 and 4194304`},
		"bad timeout":    {"1", []string{`timeout = "soon"`}, nil, `(?s)"soon" is not a duration`},
		"secrets in code": {
			"import os, sys\nraise ValueError('token is ' + os.environ['TOKEN'] + ', input is ' + sys.stdin.read())",
			[]string{`environment = { TOKEN = "tok-123456" }`, `stdin = "input-7890"`},
			nil,
			`(?s)ValueError: token is \(sensitive value\), input is \(sensitive\s+value\)`,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(
				resource.TestStep{
					Config:      b.config(oneSandbox+pythonBlock("test", c.code, c.attributes...), c.settings...),
					ExpectError: regexp.MustCompile(c.want),
				},
				// So that it can be destroyed.
				resource.TestStep{Config: b.config(oneSandbox)},
			)
		})
	}
}

func TestPythonCodeIsInNoCommandLine(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	secrets := []string{"code-secret-1", "env-secret-2", "stdin-secret-3"}

	b.run(resource.TestStep{
		Config: b.config(oneSandbox + pythonBlock("test", `# code-secret-1
import subprocess
subprocess.run("cat /proc/[0-9]*/cmdline", shell=True, capture_output=True, text=True).stdout`, `environment = { TOKEN = "env-secret-2" }`, `stdin = "stdin-secret-3"`)),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("data.cloudflaresandbox_python.test", tfjsonpath.New("result"),
				knownvalue.StringFunc(func(processes string) error { return lacksAny(processes, secrets...) })),
			onState(func(*tfjson.State) error { return lacksAny(strings.Join(b.local.CommandLog(), "\n"), secrets...) }),
		},
	})
}

func TestPythonWaitsForTheFilesItRefersTo(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var sandboxID string
	const python = "data.cloudflaresandbox_python.test"

	config := func(content string) string {
		return b.config(oneFile(`path = "numbers.json"`, set("content", content)) +
			pythonBlock("test", "import json\nsum(json.load(open('numbers.json')))", "environment = { REVISION = "+file+".revision }"))
	}

	b.run(
		resource.TestStep{
			Config: config("[1, 2]"),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				statecheck.ExpectKnownValue(python, tfjsonpath.New("result"), knownvalue.StringExact("3")),
			},
		},
		resource.TestStep{
			// The container is replaced: it must not run in the empty one.
			PreConfig:        func() { b.local.Kill(sandboxID) },
			Config:           config("[1, 2]"),
			ConfigPlanChecks: before(action(file, plancheck.ResourceActionCreate), action(python, plancheck.ResourceActionRead)),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(python, tfjsonpath.New("result"), knownvalue.StringExact("3")),
			},
		},
	)
}
