package scripts

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythonRun is what the program did with a snippet.
type pythonRun struct {
	code           int
	stdout, stderr string
	// reply is noReply if there is no such file.
	reply string
}

const noReply = "none"

// runPython runs the program as it is run in a sandbox, with the python3 of this machine or the one that PYTHON names.
func runPython(t *testing.T, snippet string, limit int64) pythonRun {
	t.Helper()
	interpreter := os.Getenv("PYTHON")
	if interpreter == "" {
		interpreter = "python3"
	}
	if _, err := exec.LookPath(interpreter); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("needs an interpreter of Python: ", err)
	}
	dir := t.TempDir()
	program, reply := filepath.Join(dir, "script"), filepath.Join(dir, "reply")
	if err := os.WriteFile(program, []byte(Python(snippet, limit)), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(interpreter, program, reply)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	run := pythonRun{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), reply: noReply}
	if content, err := os.ReadFile(reply); err == nil {
		run.reply = string(content)
	}
	return run
}

const plentyForPython = 1 << 20

func TestPythonTellsTheResult(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code, reply string
	}{
		"nothing":                  {"", "end\n"},
		"comment":                  {"# nothing", "end\n"},
		"statement":                {"x = 5", "end\n"},
		"statement after value":    {"5\nx = 6", "end\n"},
		"None":                     {"None", "end\n"},
		"number":                   {"x = 20\nx + 1", "result 2\n21\nresult_json 2\n21\nend\n"},
		"semicolon":                {"x = 20; x;", "result 2\n20\nresult_json 2\n20\nend\n"},
		"walrus":                   {"(x := 3) + 1", "result 1\n4\nresult_json 1\n4\nend\n"},
		"docstring":                {`"text"`, "result 6\n'text'\nresult_json 6\n\"text\"\nend\n"},
		"unicode":                  {`"grüße 👩"`, "result 14\n'grüße 👩'\nresult_json 14\n\"grüße 👩\"\nend\n"},
		"lone surrogate":           {`"\ud800"`, "result 8\n'\\ud800'\nend\n"},
		"lone surrogate of a repr": {"class A:\n  def __repr__(self): return '\\ud800'\nA()", "result 6\n\\ud800\nend\n"},
		"lines":                    {"class A:\n  def __repr__(self): return 'a\\nend\\n'\nA()", "result 6\na\nend\n\nend\n"},
		"NaN":                      {"[float('nan')]", "result 5\n[nan]\nend\n"},
		"infinity":                 {"-float('inf')", "result 4\n-inf\nend\n"},
		"set":                      {"{1}", "result 3\n{1}\nend\n"},
		"bytes":                    {"b'a'", "result 4\nb'a'\nend\n"},
		"tuple":                    {"(1, None, True)", "result 15\n(1, None, True)\nresult_json 15\n[1, null, true]\nend\n"},
		"key that is a number":     {"{1: 2}", "result 6\n{1: 2}\nresult_json 8\n{\"1\": 2}\nend\n"},
		"keys that would be one":   {"{1: 2, '1': 3}", "result 14\n{1: 2, '1': 3}\nend\n"},
		"itself":                   {"x = []; x.append(x); x", "result 7\n[[...]]\nend\n"},
		"future": {
			"from __future__ import annotations\nx: Unknown = 1\n(lambda: __annotations__['x'])()",
			"result 9\n'Unknown'\nresult_json 9\n\"Unknown\"\nend\n",
		},
		"names in functions and classes": {
			"n = 1\ndef f(): return n + g()\ndef g(): return n\nclass A:\n  m = n\n  def f(self): return f() + A.m\n[A().f() for _ in range(n)]",
			"result 3\n[3]\nresult_json 3\n[3]\nend\n",
		},
		"main":              {"x = 0\nif __name__ == '__main__': x = 1\nx", "result 1\n1\nresult_json 1\n1\nend\n"},
		"namespace":         {"sorted(n for n in globals() if n[0] != '_')", "result 2\n[]\nresult_json 2\n[]\nend\n"},
		"surroundings":      {"import sys\nsys.argv, sys.path[0], '__file__' in globals()", "result 23\n(['<code>'], '', False)\nresult_json 23\n[[\"<code>\"], \"\", false]\nend\n"},
		"exit":              {"import sys\nsys.exit()\n1", "end\n"},
		"exit 0":            {"import sys\nsys.exit(0)\n1", "end\n"},
		"changed directory": {"import os\nos.chdir('/')\nos.umask(0o777)\n1", "result 1\n1\nresult_json 1\n1\nend\n"},
		"without builtins":  {"import builtins\nbuiltins.open = builtins.print = None\n1", "result 1\n1\nresult_json 1\n1\nend\n"},
		"closed streams":    {"import os, sys\nsys.stdout.close()\nos.close(1)\nos.close(2)\n1", "result 1\n1\nresult_json 1\n1\nend\n"},
		"closes everything": {"import os\nos.closerange(0, 1000)\n1", "result 1\n1\nresult_json 1\n1\nend\n"},
		"a fork that goes on for longer": {
			"import os\nparent = os.getpid()\nchild = os.fork()\nwhile not child and os.getppid() == parent: pass\nchild == 0",
			"result 5\nFalse\nresult_json 5\nfalse\nend\n",
		},
		"byte order mark":        {"\ufeff1", "result 1\n1\nresult_json 1\n1\nend\n"},
		"carriage returns":       {"x = '''a\r\nb'''\r\nx\r\n", "result 6\n'a\\nb'\nresult_json 6\n\"a\\nb\"\nend\n"},
		"coding of another kind": {"# -*- coding: latin-1 -*-\n'ü'", "result 4\n'ü'\nresult_json 4\n\"ü\"\nend\n"},
		"300 KiB":                {strings.Repeat("# padding ü\n", 25<<10) + "import inspect\ninspect.currentframe().f_lineno", "result 5\n25602\nresult_json 5\n25602\nend\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := runPython(t, test.code, plentyForPython)
			if run.code != 0 || run.stdout != "" || run.stderr != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q", run.code, run.stdout, run.stderr)
			}
			if run.reply != test.reply {
				t.Errorf("got reply %q, want %q", run.reply, test.reply)
			}
		})
	}
}

// Where the marks under a line are, and whether there are any, is up to the version.
func TestPythonTellsTheException(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code, name, value string
		traceback         []string
	}{
		"raised": {
			"def f():\n\n  return 1 / 0\n\nf()", "ZeroDivisionError", "division by zero",
			[]string{
				"Traceback (most recent call last):\n  File \"<code>\", line 5, in <module>\n    f()\n",
				"  File \"<code>\", line 3, in f\n    return 1 / 0\n", "\nZeroDivisionError: division by zero\n",
			},
		},
		"in the last expression": {"x = {}\nx['key']", "KeyError", "'key'", []string{"line 2, in <module>\n    x['key']\n"}},
		"after a form feed":      {"a = 1\n\x0cb = 2\nc", "NameError", "name 'c' is not defined", []string{"line 3, in <module>\n    c\n"}},
		"chained": {
			"try:\n  1 / 0\nexcept Exception as e:\n  raise ValueError('second') from e", "ValueError", "second",
			[]string{"line 2, in <module>\n    1 / 0\n", "direct cause", "line 4, in <module>\n    raise ValueError('second') from e\n"},
		},
		"in other code": {"import json\njson.loads('{')", "JSONDecodeError", "Expecting property name", []string{"line 2, in <module>\n    json.loads('{')\n", "json/decoder.py"}},
		"wrong syntax":  {"x = 1\nif x\n  y", "SyntaxError", "(<code>, line 2)", []string{"  File \"<code>\", line 2\n    if x\n", "SyntaxError: "}},
		"wrong indent":  {"  x\n y", "IndentationError", "(<code>, line", []string{"  File \"<code>\", line "}},
		"misplaced return": {
			"x = 1\nreturn x", "SyntaxError", "'return' outside function (<code>, line 2)", []string{"  File \"<code>\", line 2\n    return x\n"},
		},
		"await outside":    {"x = 1\nawait x", "SyntaxError", "(<code>, line 2)", []string{"    await x\n"}},
		"exit code":        {"import sys\nsys.exit(4)", "SystemExit", "4", []string{"line 2, in <module>\n    sys.exit(4)\n"}},
		"exit text":        {"import sys\nsys.exit('enough')", "SystemExit", "enough", nil},
		"interrupt":        {"raise KeyboardInterrupt", "KeyboardInterrupt", "", nil},
		"repr":             {"class A:\n  def __repr__(self): raise ValueError('no')\nA()", "ValueError", "no", []string{"line 2, in __repr__\n"}},
		"repr of no text":  {"class A:\n  def __repr__(self): return 5\nA()", "TypeError", "non-string", nil},
		"repr that exits":  {"class A:\n  def __repr__(self): raise SystemExit(7)\nA()", "SystemExit", "7", nil},
		"no text":          {"class E(Exception):\n  def __str__(self): return 5\nraise E", "E", "", []string{"\nE: <"}},
		"surrogate":        {`raise ValueError("\ud800")`, "ValueError", `\ud800`, nil},
		"recursion":        {"def f(): f()\nf()", "RecursionError", "maximum recursion depth exceeded", []string{"more times]"}},
		"mutual recursion": {"def f(): return g()  # and the source of each line is shown as well\ndef g(): return f()\nf()", "RecursionError", "maximum recursion depth exceeded", []string{"characters are left out", "\nRecursionError: "}},
		"long text":        {"raise ValueError('a' * 100000 + 'z')", "ValueError", "aaa\n[... 83617 characters are left out here ...]\naaa", []string{"aaaz\n"}},
		"print to nowhere": {"import os\nos.close(1)\nprint('x')", "OSError", "[Errno 9]", []string{"line 3, in <module>\n    print('x')\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := runPython(t, test.code, plentyForPython)
			if run.code != 0 || run.stdout != "" || run.stderr != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q", run.code, run.stdout, run.stderr)
			}
			for _, part := range append(test.traceback, "\n"+test.name+"\nvalue ", test.value, "\nend\n") {
				if !strings.Contains("\n"+strings.TrimPrefix(run.reply, "name "), part) && !strings.Contains(run.reply, part) {
					t.Errorf("%q is not in %q", part, run.reply)
				}
			}
			if strings.Contains(run.reply, os.TempDir()) || strings.HasPrefix(run.reply, "result") {
				t.Errorf("got reply %q", run.reply)
			}
		})
	}
}

func TestPythonLeavesOutputToTheSnippet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code, stdout, stderr string
	}{
		"both":            {"import sys\nprint('out')\nprint('err', file=sys.stderr)", "out\n", "err\n"},
		"no final line":   {"print('a', end='')", "a", ""},
		"child processes": {"import os, subprocess\nprint('a', end='')\nsubprocess.run(['printf', 'b'])\nprint('c')\nos.system('echo d; echo e >&2')", "abc\nd\n", "e\n"},
		"descriptors":     {"import os\nprint('a', end='')\nos.write(1, b'\\xff\\x00')\nos.write(2, b'\\xfe')\nprint('b')", "a\xff\x00b\n", "\xfe"},
		"bytes":           {"import sys\nsys.stdout.buffer.write(b'\\xff')\nsys.__stdout__.write('b')", "\xffb", ""},
		"our own reply":   {"import sys\nprint('result 1\\n5\\nend')\nprint('end', file=sys.stderr)", "result 1\n5\nend\n", "end\n"},
		"unicode":         {"print('grüße 👩‍🚀')", "grüße 👩‍🚀\n", ""},
		"at exit":         {"import atexit, os\natexit.register(lambda: print('bye'))\natexit.register(os.write, 2, b'raw')\nprint('first')", "first\nbye\n", "raw"},
		"finalizer":       {"class A:\n  def __del__(self): print('gone')\na = A()\nprint('first')", "first\ngone\n", ""},
		"thread":          {"import threading\ne = threading.Event()\nthreading.Thread(target=lambda: (e.wait(), print('thread'))).start()\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\ne.set()", "thread\n", ""},
		"warning":         {"import warnings\n\nwarnings.warn('look out')", "", "<code>:3: UserWarning: look out\n  warnings.warn('look out')\n"},
		"source":          {"import inspect\ndef f():\n  return 1  # one\nprint(inspect.getsource(f), end='')", "def f():\n  return 1  # one\n", ""},
		"pickle": {
			"import dataclasses, pickle\n@dataclasses.dataclass\nclass P:\n  x: 'int'\nprint(pickle.loads(pickle.dumps(P(3))))", "P(x=3)\n", "",
		},
		"processes": {
			"import multiprocessing\ndef f(x): return x * x\nwith multiprocessing.get_context('fork').Pool(2) as p: print(p.map(f, [1, 2, 3]))", "[1, 4, 9]\n", "",
		},
		"a fork that goes on": {
			"import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nprint('parent' if child else 'child')", "child\nparent\n", "",
		},
		"a fork that fails": {
			"import os\nchild = os.fork()\nif not child: exec('raise ValueError(5)')\nos.waitpid(child, 0)[1]",
			"", "Traceback (most recent call last):\n  File \"<code>\", line 3, in <module>\n    if not child: exec('raise ValueError(5)')\n",
		},
		"a fork that exits": {"import os\nchild = os.fork()\nif not child: raise SystemExit('bye')\nos.waitpid(child, 0)[1]", "", "bye\n"},
		"pipe that does not block": {
			"import os, sys\nos.set_blocking(1, False)\nprint('x' * 300000, end='')\nos.set_blocking(1, True)", strings.Repeat("x", 300000), "",
		},
		"a signal while writing": {
			"import os, signal, threading\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)\n" +
				"print('x' * 3000000, end='')\nsignal.setitimer(signal.ITIMER_REAL, 0)", strings.Repeat("x", 3000000), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := runPython(t, test.code, plentyForPython)
			if run.code != 0 || run.stdout != test.stdout || !strings.HasPrefix(run.stderr, test.stderr) || (test.stderr == "") != (run.stderr == "") {
				t.Errorf("exit code %d, stdout %.200q, stderr %.200q, want %.200q, %.200q", run.code, run.stdout, run.stderr, test.stdout, test.stderr)
			}
			if strings.Contains(run.stderr, os.TempDir()) {
				t.Errorf("a frame of ours is in %q", run.stderr)
			}
			if !strings.HasSuffix(run.reply, "end\n") || strings.HasPrefix(run.reply, "name") {
				t.Errorf("got reply %q", run.reply)
			}
		})
	}
}

func TestPythonBoundsTheResult(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"'x' * 98": "result 100\n'" + strings.Repeat("x", 98) + "'\nresult_json 100\n\"" + strings.Repeat("x", 98) + "\"\nend\n",
		"'x' * 99": "oversize 10\nresult 101\nend\n",
		"'ü' * 50": "oversize 10\nresult 102\nend\n",
		"class A(dict):\n  def __repr__(self): return 'short'\nA(x='x' * 100)": "oversize 15\nresult_json 109\nend\n",
	} {
		if run := runPython(t, code, 100); run.reply != want {
			t.Errorf("%s: got reply %q, want %q", code, run.reply, want)
		}
	}
}

// An empty reply tells a snippet that did not come to its end from an interpreter that did not come to the snippet.
func TestPythonThatEndsEarlyLeavesAnEmptyReply(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"import os\nprint('said')\nos._exit(3)":                      3,
		"import os\nprint('said')\nos.kill(os.getpid(), 9)":          -1,
		"import os\nprint('said')\nos.execvp('false', ['false'])":    1,
		"import os\nprint('said')\nif os.fork(): os._exit(0)":        0,
		"import os, signal\nprint('said')\nos.kill(os.getpid(), 15)": -1,
	} {
		run := runPython(t, code, plentyForPython)
		if run.code != want || run.stdout != "said\n" || run.reply != "" {
			t.Errorf("%s: got %+v", code, run)
		}
	}
}
