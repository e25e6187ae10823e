package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestRunReturnsExactOutputAndExitCode(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	allBytes := make([]byte, 256)
	for i := range allBytes {
		allBytes[i] = byte(i)
	}
	multibyte := strings.Repeat("日本🎉é", 1<<20/12)
	input := func(text string) *string { return &text }
	for name, test := range map[string]struct {
		command bridge.Command
		code    int
		out     string
		err     string
	}{
		"both streams":          {command: shell("echo out; echo err >&2; exit 7"), code: 7, out: "out\n", err: "err\n"},
		"no output":             {command: shell("true")},
		"every byte":            {command: shell(`for i in {0..255}; do printf "\\x$(printf %x $i)"; done`), out: string(allBytes)},
		"byte order mark":       {command: shell(`printf '\xef\xbb\xbfhi'`), out: "\xef\xbb\xbfhi"},
		"no final newline":      {command: shell("printf x"), out: "x"},
		"multi-byte text":       {command: bridge.Command{Argv: []string{"cat"}, Stdin: &multibyte}, out: multibyte},
		"killed by a signal":    {command: shell("kill -9 $$"), code: 137},
		"not found":             {command: bridge.Command{Argv: []string{"nosuchprogram"}}, code: 127, err: "nosuchprogram: command not found\n"},
		"exit status above 255": {command: shell("exit 300"), code: 44},
		"background child":      {command: shell("sleep 300 & echo x"), out: "x\n"},
		"words of bash":         {command: bridge.Command{Argv: []string{"if"}}, code: 127, err: "if: command not found\n"},
		"an assignment":         {command: bridge.Command{Argv: []string{"FOO=1", "env"}}, code: 127, err: "FOO=1: command not found\n"},
		"cd is a program":       {command: bridge.Command{Argv: []string{"cd", "/"}}, code: 127, err: "cd: command not found\n"},
		"no standard input":     {command: bridge.Command{Argv: []string{"cat"}}},
		"empty standard input":  {command: bridge.Command{Argv: []string{"cat"}, Stdin: input("")}},
		"standard input":        {command: bridge.Command{Argv: []string{"cat"}, Stdin: input("a\r\nb")}, out: "a\r\nb"},
		"environment":           {command: bridge.Command{Argv: []string{"printenv", "A", "RANDOM", "arguments"}, Environment: map[string]string{"A": "x\n'\"$y", "RANDOM": "r", "arguments": "z"}}, out: "x\n'\"$y\nr\nz\n"},
		"names of our own":      {command: bridge.Command{Argv: []string{"printenv", "CANCELLED", "NO_HOME"}, Environment: map[string]string{"CANCELLED": "a", "NO_HOME": "b"}}, out: "a\nb\n"},
		"empty variable":        {command: bridge.Command{Argv: []string{"printenv", "A"}, Environment: map[string]string{"A": ""}}, out: "\n"},
		"PATH of the user":      {command: bridge.Command{Argv: []string{"bash", "-c", "echo $PATH"}, Environment: map[string]string{"PATH": "/usr/bin:/x"}}, out: "/usr/bin:/x\n"},
		"directory":             {command: bridge.Command{Argv: []string{"pwd"}, Dir: "/tmp"}, out: "/tmp\n"},
		"default directory":     {command: bridge.Command{Argv: []string{"pwd"}}, out: "/workspace\n"},
		"script":                {command: bridge.Command{Argv: []string{"bash", "-e"}, Script: "echo a\nfalse\necho b\n"}, code: 1, out: "a\n"},
		"script of 200 KiB":     {command: bridge.Command{Argv: []string{"bash"}, Script: strings.Repeat("# 日本語\n", 20<<10) + "echo $0 | wc -l"}, out: "1\n"},
		"script with all at once": {
			command: bridge.Command{
				Argv: []string{"bash", "-e"}, Script: "cat; echo $A; pwd", Stdin: input("in\n"), Dir: "/",
				Environment: map[string]string{"A": "b"},
			},
			out: "in\nb\n/\n",
		},
		"argument of 120 KiB": {command: bridge.Command{Argv: []string{"bash", "-c", "echo ${#1}", "_", strings.Repeat("'", 120<<10)}}, out: "122880\n"},
		"prints our own frames": {
			command: shell("echo 00000000000000000000000000000000 end 0 0 0 0 0 0 0; cat /proc/$PPID/cmdline | tr '\\0' ' ' >/dev/null"),
			out:     "00000000000000000000000000000000 end 0 0 0 0 0 0 0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.command.MaxOutputBytes == 0 {
				test.command.MaxOutputBytes = 2 << 20
			}
			result, err := s.Run(t.Context(), test.command)
			if err != nil {
				t.Fatal(err)
			}
			if result.ExitCode != test.code || string(result.Stdout) != test.out || string(result.Stderr) != test.err {
				t.Errorf("got exit code %d, stdout %.200q, stderr %.200q, want %d, %.200q, %.200q",
					result.ExitCode, result.Stdout, result.Stderr, test.code, test.out, test.err)
			}
		})
	}
}

func shell(line string) bridge.Command {
	return bridge.Command{Argv: []string{"bash", "-c", line}}
}

// Every string reaches the program as it is, whether it travels in the request or staged.
func TestRunHandsOverArgumentsExactly(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	arguments := []string{
		"", "a b", "a\nb", "a\n", "\n", "\t\r", "it's", `"q"`, `back\slash`, `\`, `\n`, "$HOME", "${HOME}", "$(id)", "`id`", "!", "!!",
		"é", "日本", "🎉", "\x01\x02\x07\x1b\x7f", "*", "?", "[a]", "{a,b}", "~", "~root", "#c", ";", "&", "|", ">", "<", "(", ")", "-n", "--",
		"%s", "%41", "a=b", "$'x'", `\'`, `\\'`, `\x41`, "\ufeffx", "\u2028", "\u200b", "a\\", "'", "''", `\u0041`,
	}
	for name, environment := range map[string]map[string]string{"in the request": nil, "staged": {"A": "b"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := s.Run(t.Context(), bridge.Command{
				Argv: append([]string{"printf", `%s\0`}, arguments...), Environment: environment,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSuffix(string(result.Stdout), "\x00"), "\x00")
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", arguments) {
				t.Errorf("got  %q\nwant %q", got, arguments)
			}
		})
	}
}

func TestRunGivesTheCommandNothingOfOurs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	plain := inside(t, s, "env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | tr '\\n' ' '; umask; trap; set -o | grep monitor")
	for _, unwanted := range []string{"LC_ALL ", "OLDPWD ", "nonce", " 10 ", " 63 "} {
		if strings.Contains(plain, unwanted) {
			t.Errorf("the command's surroundings have %q: %s", unwanted, plain)
		}
	}
}

func TestRunTimeoutEndsTheWholeGroupAndKeepsTheOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	t.Run("group", func(t *testing.T) { timeoutCases(t, s) })
	assertNoProcess(t, s, "sleep 100[1-4]")
}

func timeoutCases(t *testing.T, s *bridge.Sandbox) {
	t.Helper()
	for name, test := range map[string]struct {
		line, out string
	}{
		"obedient":         {"echo before; sleep 1001; echo after", "before\n"},
		"with children":    {"echo before; sleep 1002 & sleep 1003 & wait", "before\n"},
		"says a last word": {"trap 'echo last; exit 5' TERM; echo before; sleep 1004 & wait", "before\nlast\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := untilTimeout(t, s, shell(test.line), 300*time.Millisecond); got != test.out {
				t.Errorf("got output %q, want %q", got, test.out)
			}
		})
	}
}

// untilTimeout runs a command that prints something and goes on, and returns what it has printed when its time is up. It
// is given more time where it has not come to print yet, as on a busy machine.
func untilTimeout(t *testing.T, s *bridge.Sandbox, command bridge.Command, limit time.Duration) string {
	t.Helper()
	for ; ; limit *= 4 {
		command.Timeout = limit
		_, err := s.Run(t.Context(), command)
		var timeout *bridge.TimeoutError
		if !errors.As(err, &timeout) {
			t.Fatalf("got %v, want a timeout", err)
		}
		if len(timeout.Result.Stdout) > 0 || limit > 10*time.Second {
			return string(timeout.Result.Stdout)
		}
	}
}

func TestRunTimeoutKillsWhatIgnoresTheSignal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	if got := untilTimeout(t, s, shell("trap '' TERM; echo before; sleep 1005"), 300*time.Millisecond); got != "before\n" {
		t.Errorf("got output %q", got)
	}
	assertNoProcess(t, s, "sleep 1005")
}

func TestRunCancelledEndsTheCommand(t *testing.T) {
	t.Parallel()
	client := startBridge(t).client(t)
	s := newSandbox(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Run(ctx, shell("sleep 1006 & echo started >/workspace/started; sleep 1007"))
		done <- err
	}()
	inside(t, s, "until [ -s started ]; do sleep 0.01; done")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
	assertNoProcess(t, s, "sleep 100[67]")
}

func assertNoProcess(t *testing.T, s *bridge.Sandbox, pattern string) {
	t.Helper()
	// The brackets keep grep from finding itself; zombies stay where the container's first process collects none.
	left := inside(t, s, "for p in /proc/[0-9]*; do grep -q '^State:.Z' $p/status 2>/dev/null || tr '\\0' ' ' 2>/dev/null <$p/cmdline; echo; done | "+
		"grep -E '^"+pattern+"' || true")
	if left != "" {
		t.Errorf("left running: %s", left)
	}
}

func TestRunOverTheOutputLimitIsAnError(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			command := shell("head -c 100000 /dev/zero | tr '\\0' x >/dev/" + stream + "; echo end >/dev/" + stream)
			command.MaxOutputBytes = 10000
			_, err := s.Run(t.Context(), command)
			var limit *bridge.OutputLimitError
			if !errors.As(err, &limit) {
				t.Fatalf("got %v, want an output limit error", err)
			}
			end := slices.Concat(limit.Result.Stdout, limit.Result.Stderr)
			if limit.Stream != stream || limit.Size != 100004 || !bytes.HasSuffix(end, []byte("xend\n")) {
				t.Errorf("got %+v ending in %q", limit, end[max(0, len(end)-10):])
			}
		})
	}
}

func TestRunCarriesTheLargestOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	command := shell("head -c 8388608 /dev/urandom >data; cat data; cat data >&2")
	command.MaxOutputBytes = bridge.MaxOutputBytes
	result, err := s.Run(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(inside(t, s, "sha256sum data"))[0]
	if sum(string(result.Stdout)) != want || sum(string(result.Stderr)) != want {
		t.Error("the output is not what was printed")
	}
}

// What ends at once has nothing to say in between.
func TestRunOfAQuickCommandHasNoHeartbeat(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	for _, line := range []string{"true", "echo out", "echo err >&2"} {
		command := shell(line)
		command.Heartbeat = func() { t.Errorf("%q: a heartbeat", line) }
		if _, err := s.Run(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunRefusesWhatCannotBeRun(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	nul, long := "a\x00b", strings.Repeat("a", bridge.MaxCommandBytes+1)
	half := long[:bridge.MaxCommandBytes/2]
	for name, command := range map[string]bridge.Command{
		"no program":         {},
		"empty program":      {Argv: []string{""}},
		"NUL in an argument": {Argv: []string{"echo", nul}},
		"NUL in the input":   {Argv: []string{"cat"}, Stdin: &nul},
		"long argument":      {Argv: []string{"true", long[:bridge.MaxArgumentBytes+1]}},
		"long variable":      {Argv: []string{"true"}, Environment: map[string]string{"A": long[:bridge.MaxArgumentBytes-1]}},
		"long script":        {Argv: []string{"true"}, Script: long},
		"long input":         {Argv: []string{"true"}, Stdin: &long},
		"long altogether":    {Argv: []string{"true"}, Script: half, Stdin: &half},
		"name with a dash":   {Argv: []string{"env"}, Environment: map[string]string{"A-B": "x"}},
		"read-only variable": {Argv: []string{"env"}, Environment: map[string]string{"UID": "x"}},
		"relative directory": {Argv: []string{"pwd"}, Dir: "x"},
		"too much output":    {Argv: []string{"pwd"}, MaxOutputBytes: bridge.MaxOutputBytes + 1},
		"missing directory":  {Argv: []string{"pwd"}, Dir: "/workspace/nope"},
		"another container":  {Argv: []string{"pwd"}, Instance: strings.Repeat("0", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if result, err := s.Run(t.Context(), command); err == nil {
				t.Errorf("got %+v, want an error", result)
			}
		})
	}
}

// The limits are those of what works.
func TestRunTakesTheLongestOfEverything(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	long := strings.Repeat("a", bridge.MaxCommandBytes)
	input := long[:bridge.MaxCommandBytes-2*bridge.MaxArgumentBytes-1000]
	result, err := s.Run(t.Context(), bridge.Command{
		Argv:        []string{"bash", "-c", `printf '%s %s ' "${#A}" "${#0}"; wc -c`, long[:bridge.MaxArgumentBytes]},
		Environment: map[string]string{"A": long[:bridge.MaxArgumentBytes-2]}, Stdin: &input, Timeout: time.Minute,
	})
	want := fmt.Sprintf("%d %d %d\n", bridge.MaxArgumentBytes-2, bridge.MaxArgumentBytes, len(input))
	if err != nil || result.ExitCode != 0 || string(result.Stdout) != want {
		t.Errorf("got %+v, %v, want %s", result, err, want)
	}
	script := "exit 3 # " + long[:bridge.MaxCommandBytes-100]
	if result, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash"}, Script: script, Timeout: time.Minute}); err != nil || result.ExitCode != 3 {
		t.Errorf("script: got %+v, %v", result, err)
	}
}

func TestRunLeavesNoResultsBehindOnceTheyHaveArrived(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	for range 3 {
		inside(t, s, "true")
	}
	if _, err := s.Inspect(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	// Only the command that looks is there.
	if runs := strings.Fields(inside(t, s, "ls /tmp/.cloudflaresandbox/runs")); len(runs) != 1 {
		t.Errorf("result directories: %v", runs)
	}
	if staged := inside(t, s, "ls -A /workspace"); staged != "" {
		t.Errorf("in /workspace: %s", staged)
	}
}

// What a command leaves in the background may print for ever; it must not fill the sandbox's disk by that.
func TestRunKeepsALimitedPartOfAFlood(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "(until [ -e go ]; do sleep 0.01; done; exec yes) & echo $! >flood")
	// A dd for each of its streams, and for each of this command's own; the one that has enough goes, the flood goes on.
	inside(t, s, "readers() { grep -lx dd /proc/[0-9]*/comm 2>/dev/null | wc -l; }; [ $(readers) = 4 ]; touch go; "+
		"until [ $(readers) = 3 ]; do sleep 0.01; done; kill -0 $(cat flood)")
	inside(t, s, "kill $(cat flood)")
}

// comeAndGo makes runs that are always just about to end: their status comes and goes, thousands of times in a second.
// It ends
// when /workspace/enough is there, well if all of them are.
const comeAndGo = `
cd /tmp/.cloudflaresandbox/runs
for ((i = 0; i < 50; i++)); do printf -v runs[i] %032d "$i"; done
mkdir "${runs[@]}"
for run in "${runs[@]}"; do ln -s "/proc/$$/fd/9" "$run/status"; done
mkdir /workspace/ready
until [[ -d /workspace/enough ]]; do
  exec 9</proc/self/cmdline
  exec 9<&-
done
[[ $(ls -d "${runs[@]}" | wc -l) == 50 ]]`

// What clears away results that nobody has fetched must not take one that has just come.
func TestRunLeavesAloneWhatEndsAtThatMoment(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "true")

	ended := make(chan error, 1)
	go func() {
		result, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash", "-c", comeAndGo}, Timeout: patience})
		if err == nil && result.ExitCode != 0 {
			err = fmt.Errorf("runs of others were removed: %s", result.Stderr)
		}
		ended <- err
	}()
	awaitInside(t, s, "/workspace/ready")
	for range 20 {
		inside(t, s, "true")
	}
	inside(t, s, "mkdir /workspace/enough")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
