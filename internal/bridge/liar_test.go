package bridge_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// liar is a bridge whose sandbox says what it likes, also under the nonces of others: what code in a sandbox can bring
// about that has taken the place of a script.
type liar struct {
	*httptest.Server

	// exec answers every script, and get every GET of a file.
	exec func(ask liarAsk)
	get  func(w io.Writer)

	// sent are the bytes of output that were taken from it.
	sent atomic.Int64

	mu   sync.Mutex
	gets []string
}

// liarAsk is a script that was sent.
type liarAsk struct {
	program, nonce string
	out, err       io.Writer
	// gone ends when nobody listens any more.
	gone context.Context
}

const liarInstance = "ffffffffffffffffffffffffffffffff"

// frame is what a script says that ends with a status.
func (a liarAsk) frame(payload string, status int) string {
	line := base64.StdEncoding.EncodeToString([]byte(payload))
	return a.begin() + line + "\n" + a.nonce + " end " + strconv.Itoa(status) + " " + strconv.Itoa(len(line)) + "\n"
}

func (a liarAsk) begin() string { return a.nonce + " begin " + liarInstance + "\n" }

// honest answers a first contact as it should be, so that the lie comes after it.
func (a liarAsk) honest() bool {
	if a.program == scripts.Hello {
		_, _ = io.WriteString(a.out, a.frame("", 0))
	}
	return a.program == scripts.Hello
}

func newLiar(t *testing.T) *liar {
	t.Helper()
	l := &liar{get: func(io.Writer) {}}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /v1/sandbox/{id}/file/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	mux.HandleFunc("GET /v1/sandbox/{id}/file/", func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.gets = append(l.gets, r.URL.Path)
		l.mu.Unlock()
		l.get(w)
	})
	mux.HandleFunc("POST /v1/sandbox/{id}/mount", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	mux.HandleFunc("POST /v1/sandbox/{id}/exec", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Argv []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Argv) < 5 {
			http.Error(w, "no argv", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		event := func(name string) io.Writer { return liarEvents{w: w, name: name, sent: &l.sent} }
		l.exec(liarAsk{program: body.Argv[2], nonce: body.Argv[4], out: event("stdout"), err: event("stderr"), gone: r.Context()})
		_, _ = io.WriteString(w, "event: exit\ndata: {\"exit_code\":0}\n\n")
	})
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

// sandbox is a handle that has not heard of its sandbox yet, of a client that bears silence for that long.
func (l *liar) sandbox(t *testing.T, silence time.Duration) *bridge.Sandbox {
	t.Helper()
	return handle(t, l.client(t, silence), "abc")
}

func (l *liar) client(t *testing.T, silence time.Duration) *bridge.Client {
	t.Helper()
	client, err := bridge.New(bridge.Config{
		URL: l.URL, RetryMax: 1, RetryWaitMin: time.Microsecond, RetryWaitMax: time.Microsecond, SilenceLimit: silence,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (l *liar) gotten() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.gets...)
}

// liarEvents writes each piece as an event.
type liarEvents struct {
	w    http.ResponseWriter
	name string
	sent *atomic.Int64
}

func (e liarEvents) Write(p []byte) (int, error) {
	_, err := io.WriteString(e.w, "event: "+e.name+"\ndata: "+base64.StdEncoding.EncodeToString(p)+"\n\n")
	if err != nil {
		return 0, err
	}
	e.sent.Add(int64(len(p)))
	return len(p), http.NewResponseController(e.w).Flush()
}

// forEver writes a text again and again until nobody takes it.
func forEver(w io.Writer, text string) {
	piece := []byte(strings.Repeat(text, 1+(64<<10)/len(text)))
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// trickle writes a text now and then until nobody takes it.
func trickle(w io.Writer, text string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}
