package localbridge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const execFailed = `error {"error":"exec failed: Command execution failed","code":"exec_transport_error"}`

// TestExecBodies: OBSERVED.md, d: non-string argv elements.
func TestExecBodies(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const noArgv = `{"error":"argv must be a non-empty array","code":"invalid_request"}`
	const badJSON = `{"error":"Invalid JSON body","code":"invalid_request"}`
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"argv":["echo",1,true,null]}`, 200, `stdout="1 true\n" stderr="" ` + exited(0)},
		{`{"argv":["echo",1.5,-2e3,1e21]}`, 200, `stdout="1.5 -2000 1e+21\n" stderr="" ` + exited(0)},
		{`{"argv":["echo",["x",["y",2]]]}`, 200, `stdout="x,y,2\n" stderr="" ` + exited(0)},
		{`{"argv":["echo",[]]}`, 500, "Internal Server Error"},
		{`{"argv":["echo",{"a":1}]}`, 500, "Internal Server Error"},
		{`{"argv":[]}`, 400, noArgv},
		{`{"argv":"echo hi"}`, 400, noArgv},
		{`{}`, 400, noArgv},
		{`[]`, 400, noArgv},
		{`null`, 500, "Internal Server Error"},
		{`not json`, 400, badJSON},
		{``, 400, badJSON},
		{`{"argv":["true"]} x`, 400, badJSON},
		{`{"argv":[""]}`, 200, `stdout="" stderr="/bin/bash: line 1: : command not found\n" ` + exited(127)},
		{`{"argv":[null]}`, 200, `stdout="" stderr="" ` + execFailed},
		{`{"argv":["echo","hi"],"cwd":5}`, 200, `stdout="hi\n" stderr="" ` + exited(0)},
		{`{"argv":["pwd"],"cwd":""}`, 200, `stdout="/workspace\n" stderr="" ` + exited(0)},
		{`{"argv":["pwd"],"cwd":"sub"}`, 200, `stdout="" stderr="" ` + execFailed},
		{`{"argv":["pwd"],"cwd":"/workspace/nope"}`, 200, `stdout="" stderr="" ` + execFailed},
		{`{"argv":["pwd"],"cwd":"/workspace/../tmp"}`, 403, `{"error":"cwd must resolve to a location within /workspace","code":"invalid_request"}`},
		{`{"argv":["pwd"],"cwd":"/etc"}`, 403, `{"error":"cwd must resolve to a location within /workspace","code":"invalid_request"}`},
		{`{"argv":["sh","-c","echo $X"],"env":{"X":"1"}}`, 200, `stdout="\n" stderr="" ` + exited(0)},
		{`{"argv":["cat"],"stdin":"aGk="}`, 200, `stdout="" stderr="" ` + exited(0)},
		{`{"argv":["echo","\ud800"]}`, 200, `stdout="` + "\ufffd" + `\n" stderr="" ` + exited(0)},
		{`{"argv":["echo","a\u0000b"]}`, 200, `stdout="" stderr="" ` + execFailed},
	} {
		var got string
		if row.status == 200 {
			r := c.execBody("a", row.body)
			got = fmt.Sprintf("stdout=%q stderr=%q %s", r.stdout, r.stderr, r.end())
		} else {
			a := c.do("POST", "/v1/sandbox/a/exec", row.body)
			got = a.body
			if a.status != row.status {
				t.Errorf("%s: status %d, want %d", row.body, a.status, row.status)
			}
		}
		if got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.body, got, row.want)
		}
	}
}

// TestExecResults: exit codes, bash words in front, signals (OBSERVED.md, d).
func TestExecResults(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.do("PUT", "/v1/sandbox/a/file/workspace/f", "x")
	for _, row := range []struct {
		argv           []string
		stdout, stderr string
		code           int
	}{
		{[]string{"sh", "-c", "echo out; exit 7"}, "out\n", "", 7},
		{[]string{"sh", "-c", "exit 300"}, "", "", 44},
		{[]string{"sh", "-c", "kill -9 $$"}, "", "", 137},
		{[]string{"sh", "-c", "kill -TERM $$"}, "", "", 143},
		{[]string{"bash", "-c", "kill -SEGV $$"}, "", "", 139},
		{[]string{"nosuchcmd"}, "", "/bin/bash: line 1: nosuchcmd: command not found\n", 127},
		{[]string{"/nosuch/cmd", "x"}, "", "/bin/bash: line 1: /nosuch/cmd: No such file or directory\n", 127},
		{[]string{"./f"}, "", "/bin/bash: line 1: ./f: Permission denied\n", 126},
		{[]string{"/tmp"}, "", "/bin/bash: line 1: /tmp: Is a directory\n", 126},
		{[]string{"FOO=1", "sh", "-c", "echo $FOO"}, "1\n", "", 0},
		{[]string{"cd"}, "", "", 0},
		{[]string{"exit", "3"}, "", "", 3},
		{[]string{"true", "&&", "false"}, "", "", 0},
		{[]string{"~/x"}, "", "/bin/bash: line 1: ~/x: No such file or directory\n", 127},
		{[]string{"{"}, "", "/bin/bash: line 1: {: command not found\n", 127},
		{[]string{"sh", "-c", "test -t 0 || echo not a tty; cat; readlink /proc/self/fd/0"}, "not a tty\n/dev/null\n", "", 0},
		{[]string{"sh", "-c", "ls /proc/self/fd | wc -l"}, "4\n", "", 0},
		{[]string{"sh", "-c", "id -un; id -u; umask; echo $HOME"}, "sandbox\n1000\n0022\n/home/sandbox\n", "", 0},
		{[]string{"printf", `\xff\xfe\x00a`}, "\ufffd\ufffd\x00a", "", 0},
		{[]string{"printf", `\xef\xbb\xbfhi`}, "hi", "", 0},
	} {
		got := c.exec("a", row.argv...)
		if got.stdout != row.stdout || got.stderr != row.stderr || got.end() != exited(row.code) {
			t.Errorf("%q: got %s, want stdout=%q stderr=%q exit %d", row.argv, got, row.stdout, row.stderr, row.code)
		}
	}
	if got := c.exec("a", "if"); !strings.Contains(got.stderr, "syntax error") || got.end() != exited(2) {
		t.Error("if:", got)
	}
}

// TestArgvArrivesExactly: OBSERVED.md, d2.
func TestArgvArrivesExactly(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	words := []string{
		"a b", "a\nb", "a\n", "\n", "a\tb", "a\rb", "a\r\nb", "it's", `"q"`, `back\slash`, `\`, `\n`, "$HOME", "${HOME}",
		"$(id)", "`id`", "!", "!!", "", "é", "日本", "🎉", "\x01\x01\x01", "\x07\x08\x0b\x0c\x1b", "\x7f", "*", "?", "[a]", "{a,b}",
		"~", "~root", "#c", ";", "&", "|", ">", "<", "(", ")", "-n", "--", "%s", "\ufeffx", "\u0085", "\u2028", "a=b", "a^b", "$'x'",
		`\'`, `\\'`, `\x41`, "%41",
	}
	got := c.exec("a", slices.Concat([]string{"printf", `%s\001`}, words)...)
	if want := strings.Join(words, "\x01") + "\x01"; got.stdout != want {
		t.Errorf("got %q\nwant %q", got.stdout, want)
	}
	if log := c.bridge.CommandLog(); len(log) != 1 || !strings.Contains(log[0], `$'back\\slash'`) {
		t.Errorf("log %q", log)
	}
}

func TestACommandLineOf128KiBIsAnErrorEvent(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for _, row := range []struct {
		size int
		want string
	}{{131000, exited(0)}, {131072, execFailed}, {1000000, execFailed}} {
		if got := c.exec("a", "true", strings.Repeat("x", row.size)); got.end() != row.want {
			t.Errorf("%d: %s", row.size, got.end())
		}
	}
}

// TestTimeouts: OBSERVED.md, d: timeout_ms.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for _, row := range []struct{ body, stdout, stderr, end string }{
		{`{"argv":["sh","-c","echo before; sleep 60; echo after"],"timeout_ms":300}`, "before\n", "Command timed out after 300ms\n", exited(124)},
		{`{"argv":["sleep","60"],"timeout_ms":0}`, "", "Command timed out after 0ms\n", exited(124)},
		{`{"argv":["sleep","60"],"timeout_ms":-5}`, "", "Command timed out after -5ms\n", exited(124)},
		{`{"argv":["sleep","60"],"timeout_ms":0.5}`, "", "Command timed out after 0.5ms\n", exited(124)},
		{`{"argv":["sleep","60"],"timeout_ms":1e12}`, "", "Command timed out after 1000000000000ms\n", exited(124)},
		{`{"argv":["sleep","60"],"timeout_ms":2147483648}`, "", "Command timed out after 2147483648ms\n", exited(124)},
		{`{"argv":["sleep","0.05"],"timeout_ms":2147483647}`, "", "", exited(0)},
		{`{"argv":["sleep","0.05"],"timeout_ms":"1"}`, "", "", exited(0)},
		{`{"argv":["sleep","0.05"],"timeout_ms":null}`, "", "", exited(0)},
		{
			`{"argv":["sh","-c","trap \"echo got-term; exit 5\" TERM; sleep 60 & wait"],"timeout_ms":300}`,
			"got-term\n", "Command timed out after 300ms\n", exited(124),
		},
	} {
		got := c.execBody("a", row.body)
		// A busy machine may not come to print in that time.
		for limit := 1200; row.stdout != "" && got.stdout == "" && limit < 30_000; limit *= 4 {
			told := fmt.Sprint(limit, "ms")
			got = c.execBody("a", strings.Replace(row.body, `"timeout_ms":300`, fmt.Sprint(`"timeout_ms":`, limit), 1))
			got.stderr = strings.Replace(got.stderr, told, "300ms", 1)
		}
		if got.stdout != row.stdout || got.stderr != row.stderr || got.end() != row.end {
			t.Errorf("%s: %s", row.body, got)
		}
	}
	if left, err := c.bridge.Processes("a"); err != nil || len(left) != 0 {
		t.Errorf("left running: %q %v", left, err)
	}
}

func TestACommandThatIgnoresTermIsKilledAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	// On a busy machine the command needs time to get to where it ignores the signal.
	for limit := 100; ; limit *= 4 {
		began := time.Now()
		got := c.execBody("a", fmt.Sprintf(`{"argv":["sh","-c","trap \"\" TERM; echo set; sleep 60"],"timeout_ms":%d}`, limit))
		if got.stdout == "" && limit < 10_000 {
			continue
		}
		if took := time.Since(began); got.end() != exited(124) || took < killGrace {
			t.Error(got, took)
		}
		return
	}
}

func TestACharacterMayBeSplitAcrossWrites(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	got := c.sh("a", `for b in 346 227 245 346 234 254 360 237 216 211; do printf "\\$b"; sleep 0.02; done`)
	if got.stdout != "日本🎉" || got.events > 4 {
		t.Error(got, got.events)
	}
}

// TestOutputOver32MiB: all bytes arrive, the exit event does not (OBSERVED.md, d).
func TestOutputOver32MiB(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for size, want := range map[string]string{
		"4194304": exited(0),
		"33554432": `error {"error":"exec failed: Serialized RPC arguments or return values are limited to 32MiB, ` +
			`but the size of this value was: 33554587 bytes.","code":"exec_transport_error"}`,
	} {
		got := c.exec("a", "head", "-c", size, "/dev/zero")
		if fmt.Sprint(len(got.stdout)) != size || got.end() != want {
			t.Errorf("%s: %d bytes, %s", size, len(got.stdout), got.end())
		}
	}
}

func TestABackgroundChildHoldsTheStreamOpen(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.sh("a", "mkfifo p")
	stream := c.open("a", argvBody("sh", "-c", "(read x <p; echo late) & echo early"))
	defer stream.close()
	stream.next()
	if got := stream.out.String(); got != "early\n" {
		t.Errorf("first event: %q", got)
	}
	c.sh("a", "echo x >p") // only this lets the child end
	stream.rest()
	if stream.stdout != "early\nlate\n" || stream.end() != exited(0) {
		t.Error(stream.result)
	}
	// A process that is just becoming another program has no command line.
	const become = `sleep 4711 >/dev/null 2>&1 & until [ "$(tr '\0' ' ' </proc/$!/cmdline)" = "sleep 4711 " ]; do :; done; echo done`
	if got := c.sh("a", become); got.stdout != "done\n" {
		t.Error(got)
	}
	if left, err := c.bridge.Processes("a"); err != nil || !slices.Equal(left, []string{"sleep 4711"}) {
		t.Errorf("%q %v", left, err)
	}
}

// TestOutputsAreSockets: as in the published container, they cannot be opened
// by name (OBSERVED.md, d: stdin).
func TestOutputsAreSockets(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	if got := c.sh("a", "echo x >/dev/stdout"); !strings.Contains(got.stderr, "No such device or address") {
		t.Error(got)
	}
}

func TestInsideRunsPastTheLog(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	if output, err := c.bridge.Inside("a", "echo no"); err == nil {
		t.Errorf("without a container: %q", output)
	}
	c.exec("a", "true")
	if output, err := c.bridge.Inside("a", "pwd; echo to >&2"); output != "/workspace\n" || err != nil {
		t.Errorf("got %q, %v", output, err)
	}
	if _, err := c.bridge.Inside("a", "echo why >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit code 3: why") {
		t.Errorf("got %v", err)
	}
	if log := c.bridge.CommandLog(); len(log) != 1 {
		t.Errorf("logged: %q", log)
	}
}
