package faultproxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

const stream = "event: stdout\ndata: YQ==\n\nevent: exit\ndata: {\"exit_code\":0}\n\n"

// start starts a proxy before a server that answers every request with the
// stream, and counts them.
func start(t *testing.T) (*faultproxy.Proxy, *atomic.Int32) {
	t.Helper()
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	t.Cleanup(server.Close)
	proxy, err := faultproxy.Start(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy, &seen
}

// get sends one request on a connection of its own and gives what came of it. It gives up when the answer has got as far as
// a silence lets it, if one is to come: to silentAfter bytes, of which none need a request that has arrived; -1 for never.
func get(t *testing.T, proxy *faultproxy.Proxy, silentAfter int) (string, error) {
	t.Helper()
	ctx, giveUp := context.WithTimeout(t.Context(), time.Minute)
	defer giveUp()
	if silentAfter == 0 {
		go func() {
			for proxy.Hits() == 0 && ctx.Err() == nil {
				runtime.Gosched()
			}
			giveUp()
		}()
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: proxy.Dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, proxy.URL+"/v1/sandbox/abc/exec", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if silentAfter < 0 {
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	body := make([]byte, silentAfter+1)
	n, err := io.ReadFull(resp.Body, body[:silentAfter])
	if err == nil {
		giveUp()
		_, err = resp.Body.Read(body[n:])
	}
	return string(body[:n]), err
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cut := func(at faultproxy.Point, way faultproxy.Way, after int) faultproxy.Fault {
		return faultproxy.Fault{Cut: &faultproxy.Cut{At: at, Way: way, After: after}}
	}
	rewrite := func(f func(string) string) faultproxy.Fault {
		return faultproxy.Fault{Stream: &faultproxy.Stream{Rewrite: f}}
	}
	half := stream[:len(stream)/2]
	for name, c := range map[string]struct {
		fault faultproxy.Fault
		body  string
		err   error // io.EOF stands for any
		// seen is how many requests reach the server.
		seen int32
	}{
		"none":          {faultproxy.Fault{}, stream, nil, 1},
		"answer":        {faultproxy.Fault{Answer: &faultproxy.Answer{Status: 502, Body: "no"}}, "no", nil, 0},
		"refused":       {faultproxy.Fault{Refuse: true}, "", syscall.ECONNREFUSED, 0},
		"reset before":  {cut(faultproxy.BeforeRequest, faultproxy.Reset, 0), "", syscall.ECONNRESET, 0},
		"reset after":   {cut(faultproxy.AfterRequest, faultproxy.Reset, 0), "", syscall.ECONNRESET, 1},
		"reset within":  {cut(faultproxy.WithinAnswer, faultproxy.Reset, 0), half, io.EOF, 1},
		"reset after 9": {cut(faultproxy.WithinAnswer, faultproxy.Reset, 9), stream[:9], io.EOF, 1},
		"cut short":     {cut(faultproxy.WithinAnswer, faultproxy.End, 0), half, nil, 1},
		"silent before": {cut(faultproxy.BeforeRequest, faultproxy.Hold, 0), "", io.EOF, 0},
		"silent within": {cut(faultproxy.WithinAnswer, faultproxy.Hold, 0), half, io.EOF, 1},
		"split":         {faultproxy.Fault{Stream: &faultproxy.Stream{Piece: 3}}, stream, nil, 1},
		"delayed":       {faultproxy.Fault{Stream: &faultproxy.Stream{Pause: time.Millisecond}}, stream, nil, 1},
		"doubled": {
			rewrite(faultproxy.Twice), "event: stdout\ndata: YQ==\n\nevent: stdout\ndata: YQ==\n\n" +
				"event: exit\ndata: {\"exit_code\":0}\n\nevent: exit\ndata: {\"exit_code\":0}\n\n", nil, 1,
		},
		"last event": {rewrite(faultproxy.WithLast("event: x\n\n")), "event: stdout\ndata: YQ==\n\nevent: x\n\n", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, seen := start(t)
			proxy.Set(faultproxy.Once(1, c.fault))
			silentAfter := -1
			if strings.HasPrefix(name, "silent") {
				silentAfter = len(c.body)
			}
			body, err := get(t, proxy, silentAfter)
			if body != c.body || !errors.Is(err, c.err) && (!errors.Is(c.err, io.EOF) || err == nil) {
				t.Errorf("got %q, %v", body, err)
			}
			if seen.Load() != c.seen {
				t.Errorf("the server saw %d requests, want %d", seen.Load(), c.seen)
			}
			if name != "none" && proxy.Hits() != 1 {
				t.Errorf("%d hits", proxy.Hits())
			}
			if body, err := get(t, proxy, -1); body != stream || err != nil {
				t.Errorf("healed: %q, %v", body, err)
			}
			requests := proxy.Requests()
			if len(requests) != 2 || requests[1].Route != "POST sandbox/:id/exec" || requests[1].SandboxID != "abc" || requests[1].Size != 2 {
				t.Errorf("recorded %+v", requests)
			}
		})
	}
}

func TestTwiceDoesNotDependOnWhatIsInOneEvent(t *testing.T) {
	t.Parallel()
	// "a\nb" in one event, and in two.
	const end = "event: exit\ndata: {\"exit_code\":0}\n\n"
	const first, second = "event: stdout\ndata: YQo=\n\n", "event: stdout\ndata: Yg==\n\n"
	for _, stream := range []string{"event: stdout\ndata: YQpi\n\n" + end, first + second + end} {
		if got, want := faultproxy.Twice(stream), first+first+second+second+end+end; got != want {
			t.Errorf("%q twice is %q, want %q", stream, got, want)
		}
	}
}

func TestRulesCountByRoute(t *testing.T) {
	t.Parallel()
	proxy, _ := start(t)
	refusal := faultproxy.Fault{Answer: &faultproxy.Answer{Status: 500, Body: "refused"}}
	other := faultproxy.Rule{Route: "PUT sandbox/:id/file", Fault: refusal}
	proxy.Set(other, faultproxy.Rule{Route: "/exec", From: 2, To: 3, Fault: refusal}, faultproxy.ForGood(5, refusal))
	for i, want := range []string{stream, "refused", "refused", stream, "refused", "refused"} {
		if body, err := get(t, proxy, -1); body != want || err != nil {
			t.Errorf("request %d: %q, %v", i+1, body, err)
		}
	}
}
