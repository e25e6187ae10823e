package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// Whatever happens to the connection, a command runs once and its result arrives.
func TestRunIsStartedOnceUnderBrokenConnections(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	falsify := func(old, replacement string) func(string) string {
		return func(stream string) string { return strings.ReplaceAll(stream, old, replacement) }
	}
	for name, plan := range map[string][]cut{
		"none":                        nil,
		"before it was passed on":     {{before: true}},
		"twice before":                {{before: true}, {before: true}},
		"at once":                     {{after: 1}},
		"after the first line":        {{after: 80}},
		"in the middle":               {{after: 150}},
		"just before the end":         {{after: 250}},
		"ends cleanly in the middle":  {{after: 150, clean: true}},
		"one after the other":         {{after: 100}, {before: true}, {after: 150}, {after: 30, clean: true}},
		"exit event missing":          {{replace: falsify("event: exit", "event: nothing")}},
		"exit code falsified":         {{replace: falsify(`{"exit_code":0}`, `{"exit_code":3}`)}},
		"error event instead of exit": {{replace: falsify("event: exit", "event: error")}},
		"empty answer":                {{replace: func(string) string { return "" }}},
		"every event twice": {{replace: func(stream string) string {
			var b strings.Builder
			for event := range strings.SplitAfterSeq(stream, "\n\n") {
				b.WriteString(event + event)
			}
			return b.String()
		}}},
		"carriage returns": {{replace: falsify("\n", "\r\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := newCutter(t, on)
			s := newSandbox(t, clientFor(t, proxy.URL, on.key))
			if _, err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			proxy.then(plan...)
			result, err := s.Run(t.Context(), shell("echo once >>/workspace/runs; echo out; printf '%.0se' {1..100} >&2; exit 5"))
			if err != nil {
				t.Fatal(err)
			}
			if result.ExitCode != 5 || string(result.Stdout) != "out\n" || string(result.Stderr) != strings.Repeat("e", 100) {
				t.Errorf("got %+v", result)
			}
			proxy.then()
			if runs := inside(t, s, "cat /workspace/runs"); runs != "once\n" {
				t.Errorf("it ran %d times", strings.Count(runs, "once"))
			}
		})
	}
}

func TestCallsAreRepeatedUntilProven(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	proxy.then(cut{before: true}, cut{after: 10}, cut{after: 60, clean: true})
	if _, err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]cut{
		"before": {before: true}, "after": {after: 120}, "clean": {after: 120, clean: true},
	} {
		proxy.then(step)
		write(t, s, "file", name, 0o644)
		proxy.then(step)
		infos, err := s.Inspect(t.Context(), "file")
		if err != nil || infos[0].SHA256 != sum(name) {
			t.Errorf("%s: got %+v, %v", name, infos, err)
		}
		proxy.then(step)
		if err := s.Remove(t.Context(), "file"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := inside(t, s, "ls -A"); left != "" {
		t.Errorf("left in /workspace: %s", left)
	}
}

// Several first requests would get a container each, and all but one would lose what they did.
func TestParallelFirstContactLosesNothing(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			name := fmt.Sprint("file", i)
			_, err := s.Write(t.Context(), bridge.WriteRequest{Path: name, Content: strings.NewReader(name), Size: 5, Mode: 0o644})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := strings.Fields(inside(t, s, "cat /workspace/*; echo")); len(got) != 1 || len(got[0]) != 50 {
		t.Errorf("got %v", got)
	}
	if on.local != nil && on.local.ContainersStarted() != 1 {
		t.Errorf("%d containers were started", on.local.ContainersStarted())
	}
}

func TestInstanceTellsContainersApart(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	first, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := handle(t, on.client(t), s.ID()).Instance(t.Context()); err != nil || again != first {
		t.Errorf("another process sees %s, %v, want %s", again, err, first)
	}
	on.local.Sleep(s.ID())
	if next, err := s.Instance(t.Context()); err != nil || next == first {
		t.Errorf("after sleep: %s, %v, want another than %s", next, err, first)
	}
}

// A change that was meant for the old container must not be made in a fresh one in silence.
func TestChangesRefuseAFreshContainer(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	for name, change := range map[string]func(ctx context.Context, s *bridge.Sandbox) error{
		"write": func(ctx context.Context, s *bridge.Sandbox) error {
			_, err := s.Write(ctx, bridge.WriteRequest{Path: "x", Content: strings.NewReader("x"), Size: 1, Mode: 0o644})
			return err
		},
		"run": func(ctx context.Context, s *bridge.Sandbox) error {
			_, err := s.Run(ctx, shell("echo x >x"))
			return err
		},
		"remove": func(ctx context.Context, s *bridge.Sandbox) error { return s.Remove(ctx, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, on.client(t))
			if _, err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			on.local.Kill(s.ID())
			var recycled *bridge.RecycledError
			if err := change(t.Context(), s); !errors.As(err, &recycled) {
				t.Fatalf("got %v, want a recycled container", err)
			}
			if got := inside(t, handle(t, on.client(t), s.ID()), "ls -A"); got != "" {
				t.Errorf("in the fresh container: %s", got)
			}
		})
	}
}

func TestRunWhoseContainerDiesSaysThatItMayHaveRun(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	observer := handle(t, on.client(t), s.ID())
	if _, err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Run(t.Context(), shell("echo >started; sleep 1000"))
		done <- err
	}()
	inside(t, observer, "until [ -e started ]; do sleep 0.01; done")
	on.local.Kill(s.ID())
	var unknown *bridge.UnknownOutcomeError
	if err := <-done; !errors.As(err, &unknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

func TestRunWhoseSupervisorIsKilledIsNoSuccess(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	// Everything of the sandbox's user, but for itself: wrapper and supervisor too.
	killer := shell(`for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || kill -9 $p 2>/dev/null; done; exit 0`)
	killer.Timeout = patience
	_, err := s.Run(t.Context(), killer)
	var unknown *bridge.UnknownOutcomeError
	if !errors.As(err, &unknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

// Where the process that was to start a command was killed before it could, nobody waits for one to end.
func TestRunWhoseStartWasKilledIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	inside(t, s, "true")
	for name, left := range map[string]string{
		"before it could say who it is": "",
		"after that":                    `true & wait; echo $! >"$run/maker"`,
		"once it had started another":   `true & wait; echo $! | tee "$run/maker" >"$run/supervisor"`,
	} {
		nonce := fmt.Sprintf("%032d", len(name))
		script := fmt.Sprintf("run=/tmp/.cloudflaresandbox/runs/%s; mkdir \"$run\"; %s\nbash -pc '%s' name %[1]s '' '' 0 1000 /workspace 0 0 1 0 0 0 true",
			nonce, left, strings.ReplaceAll(scripts.Run, "'", `'\''`))
		output, err := on.local.Inside(s.ID(), script)
		if want := fmt.Sprintf("%s end %d\n", nonce, scripts.StatusSupervisorGone); err != nil || !strings.HasSuffix(output, want) {
			t.Errorf("%s: got %q, %v", name, output, err)
		}
	}
}

func TestStartWaitsForRoom(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	on.local.SetMaxInstances(1)
	client := on.client(t)
	first := newSandbox(t, client)
	if _, err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := newSandbox(t, client)
	if _, err := second.Instance(t.Context()); !bridge.IsAsleep(err) {
		t.Errorf("got %v, want asleep", err)
	}
	started := make(chan error)
	go func() {
		_, err := second.Start(t.Context())
		started <- err
	}()
	if err := client.DestroySandbox(t.Context(), first.ID()); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Error(err)
	}
}

func TestStartGivesUpWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	on.local.SetMaxInstances(1)
	client := on.client(t)
	if _, err := newSandbox(t, client).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy, client := behindFaults(t, on)
	ctx, held := untilHeld(t)
	proxy.Set(faultproxy.ForGood(4, held))
	second := newSandbox(t, on.client(t))
	if _, err := handle(t, client, second.ID()).Start(ctx); !bridge.IsAsleep(err) {
		t.Errorf("got %v, want the instance limit", err)
	}
}

func TestDestroyOfASleepingSandboxAtTheLimitIsFine(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	client := on.client(t)
	asleep := newSandbox(t, client)
	if _, err := asleep.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	on.local.Sleep(asleep.ID())
	if _, err := newSandbox(t, client).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	on.local.SetMaxInstances(1)
	if err := client.DestroySandbox(t.Context(), asleep.ID()); err != nil {
		t.Error(err)
	}
}
