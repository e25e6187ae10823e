package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// answering is a bridge that answers every request the same way, and counts.
func answering(t *testing.T, handler http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	client, err := New(Config{
		URL: server.URL + "/", Key: "Zq8-secret-key", Headers: map[string]string{"CF-Access-Client-Secret": "Zq9-secret-header"},
		UserAgent: "test/1", RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, &count
}

func status(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "https://login.example.com/x?token=Zq7")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestErrorsNameTheCauseAndTheNextStep(t *testing.T) {
	t.Parallel()
	const json, page = "application/json", "text/html; charset=utf-8"
	for name, test := range map[string]struct {
		handler  http.HandlerFunc
		requests int32
		summary  string
		words    []string
	}{
		"wrong key":    {status(401, json, `{"error":"Unauthorized","code":"unauthorized"}`), 1, "The bridge did not accept the API key", []string{"CLOUDFLARE_SANDBOX_API_KEY"}},
		"outside":      {status(403, json, `{"error":"cwd must resolve to a location within /workspace","code":"invalid_request"}`), 1, "The path is outside /workspace", nil},
		"edge":         {status(403, page, "<html><title>Access denied | 1010</title>"), 1, "Access to the bridge was denied on the way", []string{"Access denied | 1010", "CF-Access-Client-Id"}},
		"login page":   {status(302, page, ""), 1, "The bridge's address redirects elsewhere", []string{"login.example.com", "CF-Access-Client-Id"}},
		"not a bridge": {status(200, page, "<!doctype html><title>Hello</title>"), 1, "What answers is not a sandbox bridge", []string{"Hello", "api_url"}},
		"other JSON":   {status(200, json, `{"hello":"world"}`), 1, "What answers is not a sandbox bridge", []string{"api_url"}},
		"not found":    {status(404, "text/plain", "404 Not Found"), 1, "There is no sandbox bridge at this address", []string{"api_url"}},
		"too many":     {status(429, "text/plain", ""), 5, "The bridge is asked too often", nil},
		"plain 500":    {status(500, "text/plain", "Internal Server Error"), 5, "The bridge failed", []string{"Internal Server Error"}},
		"edge 521":     {status(521, page, "<title>down</title>"), 5, "Cloudflare's edge could not reach the bridge", nil},
		"capacity":     {status(503, json, `{"error":"instance limit reached (3/3)","code":"capacity_exceeded"}`), 5, "The bridge has reached its instance limit", []string{"3/3", "max_instances"}},
		"pool":         {status(502, json, `{"error":"pool error: x","code":"pool_error"}`), 5, "The bridge failed", []string{"pool error: x"}},
		"echoes secrets": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			_, _ = w.Write([]byte(r.Header.Get("Authorization") + r.Header.Get("CF-Access-Client-Secret") + strings.Repeat("long ", 1000) + "\x1b[31m"))
		}, 1, "The bridge refused a request", []string{"***"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, count := answering(t, test.handler)
			_, err := client.CreateSandbox(t.Context())
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Summary != test.summary || count.Load() != test.requests {
				t.Errorf("got %q after %d requests, want %q after %d", e.Summary, count.Load(), test.summary, test.requests)
			}
			text := err.Error()
			for _, word := range append(test.words, "POST /v1/sandbox") {
				if !strings.Contains(text, word) {
					t.Errorf("%q is not in %s", word, text)
				}
			}
			if strings.Contains(text, "Zq") || strings.ContainsAny(text, "\n\x1b") || len(text) > 2000 {
				t.Errorf("unfit to be shown: %q", text)
			}
		})
	}
}

func TestConnectionErrorsNameTheCause(t *testing.T) {
	t.Parallel()
	tls := httptest.NewTLSServer(nil)
	t.Cleanup(tls.Close)
	for name, test := range map[string]struct{ url, summary string }{
		"refused":               {"http://127.0.0.1:1", "Nothing listens at the bridge's address"},
		"unknown certificate":   {tls.URL, "The bridge's certificate or protocol cannot be accepted"},
		"http spoken to as TLS": {strings.Replace(newPlain(t), "http:", "https:", 1), "The bridge's certificate or protocol cannot be accepted"},
	} {
		client, err := New(Config{URL: test.url, RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CreateSandbox(t.Context())
		var e *Error
		if !errors.As(err, &e) || e.Summary != test.summary {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func newPlain(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return server.URL
}

func TestRetryRecovers(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	client, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
		case 3:
			w.WriteHeader(522)
		default:
			if r.Header.Get("Authorization") != "Bearer Zq8-secret-key" || r.UserAgent() != "test/1" || r.URL.Path != "/v1/sandbox" {
				t.Errorf("got %s with %v", r.URL, r.Header)
			}
			_, _ = w.Write([]byte(`{"id":"abc"}`))
		}
	})
	if id, err := client.CreateSandbox(t.Context()); err != nil || id != "abc" {
		t.Errorf("got %q, %v", id, err)
	}
}

func TestDestroyTellsGoneFromNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		gone    bool
	}{
		"204":          {status(204, "", ""), true},
		"capacity":     {status(503, "application/json", `{"error":"instance limit reached (3/3)","code":"capacity_exceeded"}`), true},
		"pool error":   {status(502, "application/json", `{"error":"x","code":"pool_error"}`), false},
		"other 503":    {status(503, "text/plain", "busy"), false},
		"200 of a web": {status(200, "text/html", "<!doctype html>"), false},
		"wrong key":    {status(401, "application/json", `{"error":"Unauthorized","code":"unauthorized"}`), false},
		"not found":    {status(404, "text/plain", ""), false},
	} {
		client, _ := answering(t, test.handler)
		if err := client.DestroySandbox(t.Context(), "abc"); (err == nil) != test.gone {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPoolStatsAreNotReadOutOfSomethingElse(t *testing.T) {
	t.Parallel()
	client, _ := answering(t, status(200, "application/json", `{"warm":1,"assigned":2,"total":3,"config":{"warmTarget":1,"refreshInterval":10000,"maxInstances":0,"scaleBatchSize":5},"maxInstances":7}`))
	stats, err := client.PoolStats(t.Context())
	if err != nil || stats.Warm != 1 || stats.Assigned != 2 || stats.Total != 3 || *stats.MaxInstances != 7 || stats.Config.ScaleBatchSize != 5 {
		t.Errorf("got %+v, %v", stats, err)
	}
	client, _ = answering(t, status(200, "application/json", `{}`))
	if stats, err := client.PoolStats(t.Context()); err == nil {
		t.Errorf("got %+v", stats)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		ok      bool
		errors  int
	}{
		"well":   {status(200, "application/json", `{"ok":true}`), true, 0},
		"unwell": {status(503, "application/json", `{"ok":false,"errors":["Sandbox binding missing"]}`), false, 1},
	} {
		client, count := answering(t, test.handler)
		health, err := client.Health(t.Context())
		if err != nil || health.OK != test.ok || len(health.Errors) != test.errors || count.Load() != 1 {
			t.Errorf("%s: got %+v, %v after %d requests", name, health, err, count.Load())
		}
	}
	client, _ := answering(t, status(200, "application/json", `{"status":"up"}`))
	if health, err := client.Health(t.Context()); err == nil {
		t.Errorf("something else: got %+v", health)
	}
}

func TestPoolRequestsAreDoneOnlyIfTheBridgeSaysSo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		done    bool
	}{
		"done":           {status(200, "application/json", `{"ok":true}`), true},
		"something else": {status(200, "application/json", `{"status":"up"}`), false},
		"wrong key":      {status(401, "application/json", `{"error":"Unauthorized","code":"unauthorized"}`), false},
	} {
		client, count := answering(t, test.handler)
		for request, err := range map[string]error{
			"prime": client.PrimePool(t.Context()), "shut down": client.ShutdownPrewarmed(t.Context()),
		} {
			if (err == nil) != test.done {
				t.Errorf("%s, %s: got %v", name, request, err)
			}
		}
		if count.Load() != 2 {
			t.Errorf("%s: %d requests", name, count.Load())
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]Config{
		"no URL":            {},
		"no scheme":         {URL: "bridge.example.com"},
		"other scheme":      {URL: "ftp://bridge.example.com"},
		"no host":           {URL: "https://"},
		"password":          {URL: "https://u:Zq8@bridge.example.com"},
		"query":             {URL: "https://bridge.example.com/?key=Zq8"},
		"broken":            {URL: "https://Zq8 x"},
		"newline in key":    {URL: "https://x", Key: "Zq8\n"},
		"non-ASCII key":     {URL: "https://x", Key: "Zq8é"},
		"control character": {URL: "https://x", Key: "Zq8\x01"},
		"header name":       {URL: "https://x", Headers: map[string]string{"a b": "Zq8"}},
		"header value":      {URL: "https://x", Headers: map[string]string{"a": "Zq8\r\nX: y"}},
		"header of ours":    {URL: "https://x", Headers: map[string]string{"user-agent": "Zq8"}},
		"connection header": {URL: "https://x", Headers: map[string]string{"Transfer-Encoding": "Zq8"}},
		"key's header":      {URL: "https://x", Key: "k", Headers: map[string]string{"authorization": "Zq8"}},
	} {
		if _, err := New(config); err == nil || strings.Contains(err.Error(), "Zq8") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What is in front of a bridge without a key of its own may want credentials.
func TestAuthorizationMayBeSetWhereThereIsNoKey(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status(200, "application/json", fmt.Sprintf(`{"id":%q}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")))(w, r)
	}))
	t.Cleanup(server.Close)
	client, err := New(Config{URL: server.URL, Headers: map[string]string{"Authorization": "Basic abc"}})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := client.CreateSandbox(t.Context()); id != "abc" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
}

func TestIsLocalURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"http://localhost:8787": true, "http://127.0.0.1": true, "http://127.9.9.9": true, "http://[::1]:1": true, "http://10.1.2.3": true,
		"http://192.168.0.1": true, "http://172.16.0.1": true, "http://bridge": true, "http://x.localhost": true, "http://nas.local": true,
		"http://x.internal": true, "http://[fd00::1]": true, "http://[::ffff:127.0.0.1]": true,
		"https://x.workers.dev": false, "http://8.8.8.8": false, "http://172.32.0.1": false, "http://localhost.example.com": false,
		"http://[2606:4700::1]": false, "http://[::ffff:8.8.8.8]": false, "http://10.example.com": false, "http://0.0.0.0": false, "": false, "://": false,
	} {
		if got := IsLocalURL(url); got != want {
			t.Errorf("%s: got %v", url, got)
		}
	}
}

func TestIsLocalURLPassesOverWhiteSpace(t *testing.T) {
	t.Parallel()
	if !IsLocalURL(" http://localhost\n") {
		t.Error("not local")
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	const low, high = 100 * time.Millisecond, time.Second
	for n, limit := range map[int]time.Duration{1: low, 2: 2 * low, 3: 4 * low, 4: 8 * low, 5: high, 100: high} {
		for range 50 {
			if got := backoff(low, high, n, nil); got < limit/2 || got > limit {
				t.Errorf("retry %d: got %s, want between %s and %s", n, got, limit/2, limit)
			}
		}
	}
	asked := &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}}
	if got := backoff(low, high, 1, asked); got != 7*time.Second {
		t.Errorf("got %s, want what was asked for", got)
	}
}

// A silent connection is given up; the operation goes on with a new one.
func TestSilenceCountsAsALostConnection(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	client, count := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	client.SetSilence(func(int32) (head, body time.Duration) { return time.Minute, 50 * time.Millisecond })
	s, err := client.Sandbox("abc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Instance(t.Context()); !errors.Is(err, errSilent) || count.Load() != 5 {
		t.Errorf("got %v after %d requests", err, count.Load())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := s.Instance(ctx); err == nil {
		t.Error("a cancelled context is no obstacle")
	}
}

// An upload over a slow line is no silence, although nothing comes back for longer than the limit. One that gets stuck is.
func TestSlowUploadIsNoSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = time.Minute
		for name, test := range map[string]struct {
			pause time.Duration
			want  error
		}{"slow": {limit - 1, nil}, "stuck": {limit + 1, errSilent}} {
			transport := &silenceTransport{limit: limit, next: roundTripper(func(req *http.Request) (*http.Response, error) {
				for range 10 {
					select {
					case <-time.After(test.pause):
					case <-req.Context().Done():
						return nil, req.Context().Err()
					}
					if _, err := req.Body.Read(make([]byte, 1)); err != nil {
						return nil, err
					}
				}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
			})}
			client, err := New(Config{URL: "http://x", RetryMax: 1, SilenceLimit: limit})
			if err != nil {
				t.Fatal(err)
			}
			client.http.HTTPClient.Transport = transport
			content := strings.Repeat("x", 10)
			resp, err := client.do(t.Context(), request{
				method: http.MethodPut, path: "/x", size: 10, newBody: func() io.Reader { return strings.NewReader(content) },
			})
			if !errors.Is(err, test.want) {
				t.Errorf("%s: got %v", name, err)
			}
			if err == nil {
				resp.Body.Close()
			}
		}
	})
}

type roundTripper func(req *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// After five minutes without a word the container may be gone, so the next request goes alone again.
func TestHeardLatelyLastsFiveMinutes(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := newSandbox(nil, "abc")
	s.now = func() time.Time { return now }
	if s.HeardLately() {
		t.Error("heard lately, before anything was heard")
	}
	s.answered(testInstance)
	now = now.Add(freshFor - 1)
	if !s.HeardLately() {
		t.Error("not heard lately after 5 minutes less a moment")
	}
	now = now.Add(1)
	if s.HeardLately() {
		t.Error("heard lately after 5 minutes")
	}
}
