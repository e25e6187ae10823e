package bridge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// python is the interpreter, with a time limit in case it never ends.
func python() bridge.Command {
	return bridge.Command{Argv: []string{"python3"}, Timeout: time.Minute}
}

// told is a result as text, for comparison.
func told(result *bridge.PythonResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", result.Stdout, result.Stderr)
	for _, value := range []*string{result.Repr, result.JSON} {
		if value != nil {
			fmt.Fprintf(&b, " %q", *value)
		}
	}
	if result.Exception != nil {
		fmt.Fprintf(&b, " %s: %s", result.Exception.Name, result.Exception.Value)
	}
	return b.String()
}

func TestPythonTellsWhatBecameOfTheSnippet(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	input := "line\n"
	for name, test := range map[string]struct {
		code    string
		command bridge.Command
		want    string
	}{
		"value":              {code: "print('out')\n{'a': [1, 'ü']}", want: `"out\n" "" "{'a': [1, 'ü']}" "{\"a\": [1, \"ü\"]}"`},
		"no value":           {code: "print('out')", want: `"out\n" ""`},
		"value without JSON": {code: "{1}", want: `"" "" "{1}"`},
		"exception":          {code: "print('out')\n1 / 0", want: `"out\n" "" ZeroDivisionError: division by zero`},
		"environment and input": {
			code:    "import os, sys\nos.environ['A'], sys.stdin.read(), os.getcwd()",
			command: bridge.Command{Environment: map[string]string{"A": "b\nc"}, Stdin: &input, Dir: "/tmp"},
			want:    `"" "" "('b\\nc', 'line\\n', '/tmp')" "[\"b\\nc\", \"line\\n\", \"/tmp\"]"`,
		},
		"module beside it": {code: "open('helper.py', 'w').write('x = 5')\nimport helper\nhelper.x", want: `"" "" "5" "5"`},
		"bytes":            {code: "import os\nos.write(1, b'\\xff\\x00')\nos.write(2, b'\\xfe')\nNone", want: `"\xff\x00" "\xfe"`},
		"300 KiB":          {code: strings.Repeat("# ü\n", 75<<10) + "1", want: `"" "" "1" "1"`},
		"the longest":      {code: strings.Repeat("#", bridge.MaxPythonCodeBytes-2) + "\n1", want: `"" "" "1" "1"`},
		"exits at once":    {code: "import os\nprint('out')\nos._exit(3)", want: `"out\n" "" ProcessEnded: the process ended with exit code 3 before the code had come to its end`},
		"exits with 0":     {code: "import os\nos._exit(0)", want: `"" "" ProcessEnded: the process ended with exit code 0 before the code had come to its end`},
		"killed": {
			code: "import os\nprint('out')\nos.kill(os.getpid(), 9)",
			want: `"out\n" "" ProcessEnded: the process ended with exit code 137 (signal 9) before the code had come to its end`,
		},
		"exits at exit": {
			code: "import atexit, os\natexit.register(os._exit, 4)\n5",
			want: `"" "" ProcessEnded: the code came to its end, but its process then ended with exit code 4`,
		},
		"fails, and exits at exit": {code: "import atexit, os\natexit.register(os._exit, 4)\n1 / 0", want: `"" "" ZeroDivisionError: division by zero`},
		"removes its reply":        {code: "import os, sys\np = [p for p in open('/proc/self/cmdline').read().split('\\0') if p.endswith('/reply')][0]\nos.remove(p)\n5", want: `"" "" "5" "5"`},
		"spoils its reply": {
			code: "import atexit\np = [p for p in open('/proc/self/cmdline').read().split('\\0') if p.endswith('/reply')][0]\natexit.register(lambda: open(p, 'w').write('result 1000000'))\n5",
			want: `"" "" ProcessEnded: the process ended with exit code 0 before the code had come to its end`,
		},
		"leaves a process": {code: "import subprocess\nsubprocess.Popen(['sleep', '300'])\n5", want: `"" "" "5" "5"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.command.Argv, test.command.Timeout = python().Argv, python().Timeout
			result, err := s.RunPython(t.Context(), test.code, test.command)
			if err != nil {
				t.Fatal(err)
			}
			if got := told(result); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPythonThatIsMissingIsToldFromASnippetThatFails(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "touch plain; printf '#!/bin/sh\nexit 0\n' >other; chmod +x other")
	for interpreter, want := range map[string]string{
		"no-such-python": "there is no no-such-python in the sandbox",
		"/no/python3":    "there is no /no/python3 in the sandbox",
		"./plain":        "./plain in the sandbox cannot be executed",
		"./other":        "./other in the sandbox ended with exit code 0, without having started the code",
		"bash":           "bash in the sandbox ended with exit code 2, without having started the code",
	} {
		_, err := s.RunPython(t.Context(), "import os\nos._exit(127)", bridge.Command{Argv: []string{interpreter}})
		var missing *bridge.InterpreterError
		if !errors.As(err, &missing) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", interpreter, err, want)
		}
	}
	result, err := s.RunPython(t.Context(), "import os\nos._exit(127)", python())
	if err != nil || result.Exception == nil {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestPythonTimeoutKeepsTheOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	command := python()
	// Where python has not come to print within that time, as on a busy machine, it is given more.
	for command.Timeout = time.Second; ; command.Timeout *= 4 {
		_, err := s.RunPython(t.Context(), "import time\nprint('so far', end='')\ntime.sleep(1008)", command)
		var timeout *bridge.TimeoutError
		if errors.As(err, &timeout) && len(timeout.Result.Stdout) == 0 && command.Timeout < 10*time.Second {
			continue
		}
		if !errors.As(err, &timeout) || string(timeout.Result.Stdout) != "so far" {
			t.Errorf("got %v, want a timeout with the output so far", err)
		}
		return
	}
}

func TestPythonCarriesTheLargestResult(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	command := python()
	command.MaxOutputBytes = bridge.MaxPythonOutputBytes
	const code = "import sys\ntext = 'ü' * ((4 << 19) - 1)\nprint(text + 'x')\nprint(text + 'y', file=sys.stderr)\ntext"
	result, err := s.RunPython(t.Context(), code, command)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("ü", 4<<19-1)
	if string(result.Stdout) != text+"x\n" || string(result.Stderr) != text+"y\n" || *result.Repr != "'"+text+"'" || *result.JSON != `"`+text+`"` {
		t.Errorf("got %d bytes of stdout, %d of stderr, a repr of %d, JSON of %d",
			len(result.Stdout), len(result.Stderr), len(*result.Repr), len(*result.JSON))
	}
	var limit *bridge.OutputLimitError
	if _, err := s.RunPython(t.Context(), strings.Repeat("#", bridge.MaxPythonCodeBytes+1), python()); err == nil {
		t.Error("a longer snippet than can be sent was run")
	}
	if _, err := s.RunPython(t.Context(), "'x' * 9999", bridge.Command{Argv: []string{"python3"}, MaxOutputBytes: 10000}); !errors.As(err, &limit) ||
		limit.Stream != "result" || limit.Size != 10001 || limit.Limit != 10000 {
		t.Errorf("got %v, want an output limit error", err)
	}
	command.MaxOutputBytes++
	if _, err := s.RunPython(t.Context(), "1", command); err == nil {
		t.Error("more was asked for than the bridge can carry")
	}
}
