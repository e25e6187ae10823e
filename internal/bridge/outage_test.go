package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// behindFaults is a client behind a proxy, with little patience.
func behindFaults(t *testing.T, on *testBridge) (*faultproxy.Proxy, *bridge.Client) {
	t.Helper()
	proxy, err := faultproxy.Start(on.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	client, err := bridge.New(bridge.Config{
		URL: proxy.URL, Key: on.key, RetryWaitMin: time.Millisecond, RetryWaitMax: 2 * time.Millisecond, SilenceLimit: 300 * time.Millisecond,
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
		proxy, client := behindFaults(t, on)
		id := newSandbox(t, on.client(t)).ID()
		for route, do := range everyRoute(client, id) {
			t.Run(route+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				proxy.Set(faultproxy.Once(1, faultproxy.Fault{Cut: &faultproxy.Cut{At: point, Way: faultproxy.Hold}}))
				if err := do(ctx); err != nil {
					t.Errorf("silent once: %v", err)
				}
				if route == "destroy" && point == faultproxy.WithinAnswer {
					return // its answer has no body
				}
				proxy.Set(faultproxy.ForGood(1, faultproxy.Fault{Cut: &faultproxy.Cut{At: point, Way: faultproxy.Hold}}))
				if err := do(ctx); err == nil || !strings.Contains(err.Error(), "nothing was received for too long") {
					t.Errorf("silent for good: %v", err)
				}
			})
		}
	}
}

// An upload over a slow line is no silence, although nothing comes back for longer than the limit.
func TestSlowUploadIsNoSilence(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	_, client := behindFaults(t, on)
	content := strings.Repeat("slow", 256<<10)
	slow := &slowContent{Reader: strings.NewReader(content)}
	_, err := handle(t, client, s.ID()).Write(t.Context(), bridge.WriteRequest{Path: "x", Content: slow, Size: int64(len(content)), Mode: 0o644})
	if err != nil {
		t.Fatal(err)
	}
	if infos, err := s.Inspect(t.Context(), "x"); err != nil || infos[0].SHA256 != sum(content) {
		t.Errorf("got %+v, %v", infos, err)
	}
}

// slowContent takes a second for each MiB.
type slowContent struct{ *strings.Reader }

func (c *slowContent) ReadAt(p []byte, offset int64) (int, error) {
	<-time.After(time.Second * time.Duration(len(p)) / (1 << 20))
	return c.Reader.ReadAt(p, offset)
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
				if err := do(t.Context()); err != nil {
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
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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
	began := time.Now()
	var unknown *bridge.UnknownOutcomeError
	if _, err := behind.Run(t.Context(), shell("echo once >>runs")); !errors.As(err, &unknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
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
	// The time is up in the middle of a request.
	proxy.Set(faultproxy.Once(1, full), faultproxy.ForGood(2, faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.BeforeRequest, Way: faultproxy.Hold}}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := handle(t, client, "aaaa").Start(ctx); !bridge.IsAsleep(err) {
		t.Errorf("got %v, want the instance limit", err)
	}
}

// Why there was a need to wait is what helps, and not that the time is up.
func TestTheLastFailureIsToldWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	for name, c := range map[string]struct {
		fault faultproxy.Fault
		time  time.Duration
		want  string
	}{
		"before": {faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.BeforeRequest, Way: faultproxy.Hold}}, time.Second, "nothing was received for too long"},
		"within": {faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer, Way: faultproxy.Hold}}, time.Second, "nothing was received for too long"},
		"502":    {faultproxy.Fault{Answer: &faultproxy.Answer{Status: 502}}, 200 * time.Millisecond, "it was answered 502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, on.client(t))
			proxy, client := behindFaults(t, on)
			hold := faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.BeforeRequest, Way: faultproxy.Hold}}
			proxy.Set(faultproxy.Once(1, c.fault), faultproxy.ForGood(2, hold))
			ctx, cancel := context.WithTimeout(t.Context(), c.time)
			defer cancel()
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
