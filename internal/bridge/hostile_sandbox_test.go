package bridge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// The code in a sandbox runs as the user that the provider's scripts run as. It can spoil what is in the sandbox, and
// lie about it. These tests are about the rest: the provider comes to an end in time, and believes nothing that it can
// know better.

// impatient is a client that tries twice. It has patience, since what a test does not wait for on purpose shall end by itself.
func impatient(t *testing.T, on *testBridge) *bridge.Client {
	t.Helper()
	client, err := bridge.New(bridge.Config{
		URL: on.url, Key: on.key, RetryMax: 1, RetryWaitMin: 10 * time.Millisecond, RetryWaitMax: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// hostileTime is for what does no harm any more when it is over.
const hostileTime = time.Second

// hostile runs a script in the sandbox whose result does not matter.
func hostile(t *testing.T, s *bridge.Sandbox, script string) (*bridge.Result, error) {
	t.Helper()
	s.SetGrace(10 * time.Second)
	return s.Run(inTime(t), bridge.Command{Argv: []string{"bash"}, Script: script, Timeout: hostileTime, MaxReplyBytes: 1000})
}

// ownNonce is bash that finds the nonce of the script that has started it.
const ownNonce = `
	for p in /proc/[0-9]*; do
		mapfile -d '' -t argv 2>/dev/null <"$p/cmdline"
		[[ ${argv[3]-} != cloudflaresandbox ]] || nonce=${argv[4]}
	done
	[[ $nonce ]] || exit 9
`

func TestForgedFramesInOutputAreOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	result, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash"}, Script: ownNonce + `
		for to in 1 2; do
			printf '%s begin %s\n\n%s end 0 0 0 0 0 0 0\n' "$nonce" ffffffffffffffffffffffffffffffff "$nonce" >&$to
		done
		for fd in /proc/[0-9]*/fd/[12]; do
			[[ $fd == /proc/$$/* ]] || printf '%s end 0 0 0 0 0 0 0\n' "$nonce" 2>/dev/null >"$fd"
		done 2>/dev/null
		exit 7`})
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 7 || strings.Count(string(result.Stdout), " end 0") < 1 || strings.Count(string(result.Stderr), " end 0") < 1 {
		t.Errorf("got exit code %d, %q, %q", result.ExitCode, result.Stdout, result.Stderr)
	}
}

// plants are what may stand in the place of a file, as bash that has the place in $at.
var plants = map[string]string{
	"nothing":            `rm -rf "$at"`,
	"garbage":            `rm -rf "$at"; echo 'garbage $(touch /workspace/pwned) a[$(touch /workspace/pwned)]' >"$at"`,
	"an empty file":      `rm -rf "$at"; : >"$at"`,
	"a pipe":             `rm -rf "$at"; mkfifo "$at"`,
	"a directory":        `rm -rf "$at"; mkdir "$at"`,
	"a closed directory": `rm -rf "$at"; mkdir -m 0 "$at"`,
	"a closed file":      `rm -rf "$at"; (umask 777; : >"$at")`,
	"a loop":             `rm -rf "$at"; ln -s "$at" "$at"`,
	"zeros":              `rm -rf "$at"; ln -s /dev/zero "$at"`,
	"a full device":      `rm -rf "$at"; ln -s /dev/full "$at"`,
	"a dangling link":    `rm -rf "$at"; ln -s /nowhere/x "$at"`,
	"a link to /etc":     `rm -rf "$at"; ln -s /etc "$at"`,
	"a large file":       `rm -rf "$at"; head -c 20M /dev/zero | tr '\0' x >"$at"`,
	"a sparse file":      `rm -rf "$at"; truncate -s 1T "$at"`,
}

// worst are those that are tried everywhere.
var worst = []string{"nothing", "a pipe", "a sparse file", "a closed directory"}

// places that the scripts use between one command and the next, with what uses them in the end; nil: everything.
var places = map[string][]string{
	"/tmp/.cloudflaresandbox":          nil,
	"/tmp/.cloudflaresandbox/instance": nil,
	"/tmp/.cloudflaresandbox/runs":     {"run", "python", "write"},
	"/tmp/.cloudflaresandbox/trees":    {"look at a tree", "write a tree", "remove a tree", "write"},
	"/workspace/.cloudflaresandbox":    nil,
}

func TestWhatIsPlantedInOurPlacesHoldsNothingUp(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	tree := newTree().file("x", "x", 0o644)
	tests := map[string]func(t *testing.T){}
	for place, users := range places {
		for name, plant := range plants {
			if place != "/tmp/.cloudflaresandbox/instance" && !slices.Contains(worst, name) {
				continue
			}
			tests[place+"/"+name] = func(t *testing.T) {
				t.Helper()
				s := newSandbox(t, impatient(t, on))
				write(t, s, "file", "hello", 0o644)
				upload(t, s, "a", tree, nil)
				_, _ = hostile(t, s, "at="+place+"\n"+plant)

				// Another process, which knows nothing of the sandbox yet.
				later := handle(t, impatient(t, on), s.ID())
				for what, ask := range asked {
					if users != nil && !slices.Contains(users, what) || !slices.Contains(worst, name) && what != "run" && what != "write" {
						continue
					}
					ctx := inTime(t)
					if _, err := ask(ctx, later); ctx.Err() != nil || err != nil && strings.Contains(err.Error(), "nothing was received for too long") {
						t.Errorf("%s is held up: %v", what, err)
					}
				}
				infos, err := later.Inspect(inTime(t), "file", "pwned")
				if err == nil && (infos[1].Kind != bridge.KindMissing || infos[0].Kind == bridge.KindFile && infos[0].SHA256 != sum("x")) {
					t.Errorf("got %+v", infos)
				}
			}
		}
	}
	together(t, tests)
}

// A command can find the files of its own run. It can spoil its own result by them, and nothing else.
func TestWhatACommandPlantsInItsRunSpoilsOnlyItself(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	tests := map[string]func(t *testing.T){}
	for _, file := range []string{"", "status", "group", "supervisor", "out", "err", "reply", "stdin", "script", "timed_out", "room", "maker"} {
		for name, plant := range plants {
			if file != "status" && !slices.Contains(worst, name) {
				continue
			}
			tests[file+"/"+name] = func(t *testing.T) {
				t.Helper()
				s := newSandbox(t, impatient(t, on))
				script := "at=$(echo /tmp/.cloudflaresandbox/runs/*)/" + file + "\nat=${at%/}\n" + plant + "\necho out; echo err >&2\n"
				result, err := hostile(t, s, script)
				expectTheCommandsFault(t, result, err)
				// The same, of a command that has to be ended.
				result, err = hostile(t, s, script+"sleep 60")
				expectTheCommandsFault(t, result, err)
				if got := inside(t, s, "echo fine"); got != "fine\n" {
					t.Errorf("afterwards: %q", got)
				}
			}
		}
	}
	together(t, tests)
}

// expectTheCommandsFault wants a result, or an error that says what is known.
func expectTheCommandsFault(t *testing.T, result *bridge.Result, err error) {
	t.Helper()
	var (
		timeout *bridge.TimeoutError
		unknown *bridge.UnknownOutcomeError
		output  *bridge.OutputLimitError
	)
	switch {
	case err == nil && result.ExitCode >= 0 && result.ExitCode <= 255:
	case errors.As(err, &timeout), errors.As(err, &unknown), errors.As(err, &output):
	default:
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestCommandThatKillsWhatWatchesItIsReported(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	tests := map[string]func(t *testing.T){}
	for name, script := range map[string]string{
		"its supervisor":         `kill -9 $PPID; sleep 60`,
		"all that there is":      `kill -9 -1`,
		"everything but itself":  `for p in /proc/[0-9]*; do p=${p#/proc/}; ((p == $$ || p == 1)) || kill -9 $p; done; sleep 60`,
		"stopping all":           `for p in /proc/[0-9]*; do p=${p#/proc/}; ((p == $$ || p == 1)) || kill -STOP $p; done; sleep 60`,
		"its timer and readers":  `kill -9 $(pgrep -P $PPID | grep -vx $$); sleep 60`,
		"leaving its group":      `setsid sleep 60 & sleep 60`,
		"answering for itself":   `cd /tmp/.cloudflaresandbox/runs/*; echo 0 0 >status; sleep 60`,
		"an exit code of 10000":  `cd /tmp/.cloudflaresandbox/runs/*; kill -9 $PPID; echo 10000 0 >status`,
		"ending with a negative": `cd /tmp/.cloudflaresandbox/runs/*; kill -9 $PPID; echo -1 0 >status`,
		"saying it was late":     `cd /tmp/.cloudflaresandbox/runs/*; kill -9 $PPID; echo 0 1 >status`,
		"saying it was stopped":  `cd /tmp/.cloudflaresandbox/runs/*; kill -9 $PPID; echo cancelled 0 >status`,
		"output without end":     `yes & yes >&2 & setsid yes & wait`,
	} {
		tests[name] = func(t *testing.T) {
			t.Helper()
			s := newSandbox(t, impatient(t, on))
			result, err := hostile(t, s, script)
			expectTheCommandsFault(t, result, err)
			if got := inside(t, s, "pkill -9 sleep; pkill -9 yes; echo fine"); got != "fine\n" {
				t.Errorf("afterwards: %q", got)
			}
		}
	}
	together(t, tests)
}

func TestFullDiskIsSaidAndHarmsNothingElse(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, impatient(t, limited(t, localbridge.Config{DiskBytes: 4 << 20})))
	write(t, s, "kept", "hello", 0o644)
	fill := func(dir string) (*bridge.Result, error) {
		return s.Run(inTime(t), bridge.Command{Argv: []string{"bash", "-c", "cat /dev/zero >" + dir + "/filler; exit 3"}})
	}
	if result, err := fill("/workspace"); err != nil || result.ExitCode != 3 || !strings.Contains(string(result.Stderr), "No space left") {
		t.Errorf("got %+v, %v", result, err)
	}
	// Of a command that takes the room for its own output no more is known than how it ended.
	if result, err := fill("/tmp"); err == nil || !strings.Contains(err.Error(), "ended with exit code 3") || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %+v, %v", result, err)
	}
	for what, ask := range asked {
		ctx := inTime(t)
		_, err := ask(ctx, s)
		if ctx.Err() != nil {
			t.Errorf("%s: %v", what, context.Cause(ctx))
		}
		if strings.HasPrefix(what, "write") && (err == nil || !strings.Contains(err.Error(), "no space left")) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
	if infos, err := s.Inspect(inTime(t), "kept"); err != nil || infos[0].SHA256 != sum("hello") {
		t.Errorf("got %+v, %v", infos, err)
	}
	// What cannot be kept whole is no result.
	result, err := s.Run(inTime(t), bridge.Command{Argv: []string{"head", "-c", "1000000", "/dev/zero"}})
	if err == nil || !strings.Contains(err.Error(), "disk is full") && !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %+v, %v", result, err)
	}
	if err := s.Remove(inTime(t), "filler"); err != nil {
		t.Error(err)
	}
	if result, err := s.Run(inTime(t), bridge.Command{Argv: []string{"rm", "/tmp/filler"}}); err != nil {
		t.Errorf("got %+v, %v", result, err)
	}
	write(t, s, "kept", "again", 0o644)
	expectNothingStaged(t, s)
}

// limited is a bridge whose containers have less than everything.
func limited(t *testing.T, config localbridge.Config) *testBridge {
	t.Helper()
	startLocalBridge(t)
	local := startLocalWith(t, config)
	return &testBridge{url: local.URL(), key: local.Key(), local: local}
}

func TestForkBombEndsWithItsTime(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, impatient(t, limited(t, localbridge.Config{MaxProcesses: 100})))
	s.SetGrace(10 * time.Second)
	result, err := s.Run(inTime(t), bridge.Command{
		Argv: []string{"bash"}, Script: "bomb() { bomb & bomb & sleep 1; }; bomb; wait", Timeout: hostileTime,
	})
	expectTheCommandsFault(t, result, err)
	// Whatever the bomb has left, a question is answered or fails in time.
	tests := map[string]func(t *testing.T){}
	for what, ask := range asked {
		tests[what] = func(t *testing.T) {
			t.Helper()
			ctx := inTime(t)
			if _, err := ask(ctx, s); ctx.Err() != nil {
				t.Errorf("%v, %v", err, context.Cause(ctx))
			}
		}
	}
	together(t, tests)
}
