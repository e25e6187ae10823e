package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

const (
	// moment is the patience with what is silent for certain.
	moment = 50 * time.Millisecond
	// patience is more than anything takes, also on a busy machine.
	patience = 3 * time.Minute
)

// behindFaults is a client behind a proxy that tries three times, and has patience.
func behindFaults(t *testing.T, on *testBridge) (*faultproxy.Proxy, *bridge.Client) {
	t.Helper()
	proxy, err := faultproxy.Start(on.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	client, err := bridge.New(bridge.Config{
		URL: proxy.URL, Key: on.key, RetryMax: 2, RetryWaitMin: time.Millisecond, RetryWaitMax: 2 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return proxy, client
}

// everyRoute is one request of each kind that the client sends.
func everyRoute(client *bridge.Client, id string) map[string]func(ctx context.Context) error {
	sandbox, _ := client.Sandbox(id)
	return map[string]func(ctx context.Context) error{
		"health":  func(ctx context.Context) error { _, err := client.Health(ctx); return err },
		"stats":   func(ctx context.Context) error { _, err := client.PoolStats(ctx); return err },
		"prime":   client.PrimePool,
		"create":  func(ctx context.Context) error { _, err := client.CreateSandbox(ctx); return err },
		"destroy": func(ctx context.Context) error { return client.DestroySandbox(ctx, id) },
		"exec":    func(ctx context.Context) error { _, err := sandbox.Instance(ctx); return err },
		"put": func(ctx context.Context) error {
			_, err := sandbox.Write(ctx, bridge.WriteRequest{Path: "x", Content: strings.NewReader("x"), Size: 1, Mode: 0o644})
			return err
		},
		"tunnel": func(ctx context.Context) error { _, err := sandbox.OpenTunnel(ctx, 8080, ""); return err },
	}
}

func TestEveryRouteNoticesSilence(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	for name, point := range map[string]faultproxy.Point{"before": faultproxy.BeforeRequest, "within": faultproxy.WithinAnswer} {
		silent := func(int32) (head, body time.Duration) {
			if point == faultproxy.BeforeRequest {
				return moment, patience
			}
			return patience, moment
		}
		proxy, client := behindFaults(t, on)
		id := newSandbox(t, on.client(t)).ID()
		for route, do := range everyRoute(client, id) {
			if route == "destroy" && point == faultproxy.WithinAnswer {
				continue // its answer has no body
			}
			t.Run(route+" "+name, func(t *testing.T) {
				fault := faultproxy.Fault{Cut: &faultproxy.Cut{At: point, Way: faultproxy.Hold}}
				proxy.Set(faultproxy.Once(1, fault))
				client.SetSilence(func(exchange int32) (head, body time.Duration) {
					if exchange == 1 {
						return silent(1)
					}
					return patience, patience
				})
				err := do(inTime(t))
				skipWithoutTunnels(t, on, err)
				if err != nil {
					t.Errorf("silent once: %v", err)
				}
				proxy.Set(faultproxy.ForGood(1, fault))
				client.SetSilence(silent)
				if err := do(inTime(t)); err == nil || !strings.Contains(err.Error(), "nothing was received for too long") {
					t.Errorf("silent for good: %v", err)
				}
			})
		}
	}
}

func TestHalfAnAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	for name, way := range map[string]faultproxy.Way{"reset": faultproxy.Reset, "end": faultproxy.End} {
		proxy, client := behindFaults(t, on)
		id := newSandbox(t, on.client(t)).ID()
		for route, do := range everyRoute(client, id) {
			t.Run(route+" "+name, func(t *testing.T) {
				fault := faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer, Way: way}}
				proxy.Set(faultproxy.Once(1, fault))
				err := do(t.Context())
				skipWithoutTunnels(t, on, err)
				if err != nil {
					t.Errorf("once: %v", err)
				}
				proxy.Set(faultproxy.ForGood(1, fault))
				var refused *bridge.Error
				if err := do(t.Context()); err != nil && (!errors.As(err, &refused) || refused.Summary == "What answers is not a sandbox bridge") {
					t.Errorf("for good: %v", err)
				}
			})
		}
	}
}

func TestALongRetryAfterIsToldAndNotObeyed(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy, client := behindFaults(t, on)
	ask := func(seconds string) error {
		proxy.Set(faultproxy.Once(1, faultproxy.Fault{Answer: &faultproxy.Answer{
			Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {seconds}},
		}}))
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		_, err := client.CreateSandbox(ctx)
		return err
	}
	if err := ask("1"); err != nil {
		t.Errorf("a second is worth waiting: %v", err)
	}
	for _, seconds := range []string{"60", "86400"} {
		if err := ask(seconds); err == nil || !strings.Contains(err.Error(), "run it again in "+map[string]string{"60": "1m0s", "86400": "24h0m0s"}[seconds]) {
			t.Errorf("%s s: %v", seconds, err)
		}
	}
}

// A command that has ended is not followed for the rest of its time limit when its result never comes through.
func TestRunGivesUpOnAResultThatNeverArrives(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	proxy, client := behindFaults(t, on)
	behind := handle(t, client, s.ID())
	if _, err := behind.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.Set(faultproxy.ForGood(1, faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer}}))
	ctx := inTime(t)
	var unknown *bridge.UnknownOutcomeError
	if _, err := behind.Run(ctx, shell("echo once >>runs")); !errors.As(err, &unknown) || ctx.Err() != nil {
		t.Errorf("got %v, want an unknown outcome", err)
	}
	if runs := inside(t, s, "cat runs"); runs != "once\n" {
		t.Errorf("it ran %d times", strings.Count(runs, "once"))
	}
}

// What a process that lost the bridge has left on its way is cleared away by whoever comes an hour later.
func TestLeftoversOnTheWayAreSweptAway(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	inside(t, s, "mkdir -p .cloudflaresandbox/old .cloudflaresandbox/new; echo x | tee .cloudflaresandbox/{old,new}/1; touch -d '61 minutes ago' .cloudflaresandbox/old")
	if _, err := s.Instance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := inside(t, s, "ls .cloudflaresandbox"); left != "new\n" {
		t.Errorf("left: %q", left)
	}
	inside(t, s, "touch -d '61 minutes ago' .cloudflaresandbox/new")
	write(t, s, "x", "x", 0o644)
	if left := inside(t, s, "ls -A"); left != "x\n" {
		t.Errorf("left: %q", left)
	}
}

func TestStartNamesTheLimitWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy, client := behindFaults(t, on)
	full := faultproxy.Fault{Answer: &faultproxy.Answer{
		Status: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"application/json"}},
		Body: `{"error":"instance limit reached (1/1)","code":"capacity_exceeded"}`,
	}}
	ctx, hold := untilHeld(t)
	proxy.Set(faultproxy.Once(1, full), faultproxy.ForGood(2, hold))
	if _, err := handle(t, client, "aaaa").Start(ctx); !bridge.IsAsleep(err) {
		t.Errorf("got %v, want the instance limit", err)
	}
}

// untilHeld is a context whose time is up in the middle of the request that suffers the fault, which holds it.
func untilHeld(t *testing.T) (context.Context, faultproxy.Fault) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, faultproxy.Fault{
		Before: func() { cancel(context.DeadlineExceeded) },
		Cut:    &faultproxy.Cut{At: faultproxy.BeforeRequest, Way: faultproxy.Hold},
	}
}

// Why there was a need to wait is what helps, and not that the time is up.
func TestTheLastFailureIsToldWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	hold := func(at faultproxy.Point) faultproxy.Fault {
		return faultproxy.Fault{Cut: &faultproxy.Cut{At: at, Way: faultproxy.Hold}}
	}
	for name, c := range map[string]struct {
		fault      faultproxy.Fault
		head, body time.Duration
		want       string
	}{
		"before": {hold(faultproxy.BeforeRequest), moment, patience, "nothing was received for too long"},
		"within": {hold(faultproxy.WithinAnswer), patience, moment, "nothing was received for too long"},
		"502":    {faultproxy.Fault{Answer: &faultproxy.Answer{Status: 502}}, patience, patience, "it was answered 502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, on.client(t))
			proxy, client := behindFaults(t, on)
			client.SetSilence(func(exchange int32) (head, body time.Duration) {
				if exchange == 1 {
					return c.head, c.body
				}
				return patience, patience
			})
			ctx, held := untilHeld(t)
			proxy.Set(faultproxy.Once(1, c.fault), faultproxy.ForGood(2, held))
			_, err := handle(t, client, s.ID()).Instance(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What is mounted and can neither be proven nor taken down while the bridge is away can be taken down later.
func TestAMountInDoubtCanBeTakenDownLater(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	proxy, client := behindFaults(t, on)
	proxy.Set(faultproxy.Rule{Route: "/mount", From: 1, To: 1, Fault: faultproxy.Fault{Before: func() {
		proxy.Set(faultproxy.ForGood(1, faultproxy.Fault{Answer: &faultproxy.Answer{Status: 502}}))
	}}})
	doubtful, err := handle(t, client, s.ID()).Mount(t.Context(), bridge.MountRequest{
		Path: "data", Bucket: "bucket", Endpoint: "https://s3.example",
		Credentials: &bridge.MountCredentials{AccessKeyID: "key", SecretAccessKey: "secret"},
	})
	if err == nil || doubtful == nil {
		t.Fatalf("got %+v, %v", doubtful, err)
	}
	proxy.Set()
	if there, err := s.LookAtMount(t.Context(), "data"); err != nil || there.Source != doubtful.Source {
		t.Fatalf("mounted is %+v, %v", there, err)
	}
	if err := s.Unmount(t.Context(), "data", doubtful.Source, doubtful.Instance); err != nil {
		t.Error(err)
	}
	if there, err := s.LookAtMount(t.Context(), "data"); err != nil || there.Mounted {
		t.Errorf("mounted is %+v, %v", there, err)
	}
}

// A tunnel whose making was not confirmed can be closed later, by what came with the error.
func TestATunnelInDoubtCanBeClosedLater(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	for name, fault := range map[string]faultproxy.Fault{
		"answer lost":      {Cut: &faultproxy.Cut{At: faultproxy.AfterRequest}},
		"answer cut short": {Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer}},
	} {
		s := newSandbox(t, on.client(t))
		proxy, client := behindFaults(t, on)
		proxy.Set(faultproxy.Rule{Route: "/tunnel/8080", Fault: fault})
		doubtful, err := handle(t, client, s.ID()).OpenTunnel(t.Context(), 8080, "")
		var doubt *bridge.DoubtError
		if !errors.As(err, &doubt) || doubtful == nil {
			t.Errorf("%s: got %+v, %v", name, doubtful, err)
			continue
		}
		if open := on.local.Tunnels(s.ID()); !slices.Equal(open, []int{8080}) {
			t.Errorf("%s: open are %d", name, open)
		}
		// That it was closed is not confirmed either.
		proxy.Set(faultproxy.Rule{Route: "/tunnel/8080", Fault: faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.AfterRequest}}})
		if err := handle(t, client, s.ID()).CloseTunnel(t.Context(), 8080, doubtful.Instance); !errors.As(err, &doubt) {
			t.Errorf("%s: closing: %v", name, err)
		}
		proxy.Set()
		if err := s.CloseTunnel(t.Context(), 8080, doubtful.Instance); err != nil {
			t.Errorf("%s: closing: %v", name, err)
		}
		if open := on.local.Tunnels(s.ID()); len(open) > 0 {
			t.Errorf("%s: open are %d", name, open)
		}
	}
}
