package bridge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// cutter is a proxy before the bridge that breaks exec streams, in the order of a plan: one entry an exec request.
type cutter struct {
	*httptest.Server
	mu   sync.Mutex
	plan []cut
	// requests counts what arrived, by method and last part of the route.
	requests map[string]int
}

// cut says what happens to an exec request.
type cut struct {
	// before breaks the connection before the request is passed on.
	before bool
	// after, if positive, breaks it once that many bytes of the answer have passed; with clean, the answer just ends.
	after int
	clean bool
	// replace rewrites the answer's text, which is then sent as a whole.
	replace func(stream string) string
}

func newCutter(t *testing.T, to *testBridge, plan ...cut) *cutter {
	t.Helper()
	target, err := url.Parse(to.url)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{plan: plan, requests: map[string]int{}}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step := c.next(r)
		if step.before {
			panic(http.ErrAbortHandler)
		}
		switch {
		case step.after > 0:
			w = &cuttingWriter{ResponseWriter: w, left: step.after, clean: step.clean}
		case step.replace != nil:
			buffered := httptest.NewRecorder()
			proxy.ServeHTTP(buffered, r)
			w.Header().Set("Content-Type", buffered.Header().Get("Content-Type"))
			_, _ = io.WriteString(w, step.replace(buffered.Body.String()))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *cutter) next(r *http.Request) cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	route := r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if strings.Contains(r.URL.Path, "/file/") {
		route = r.Method + " file"
	}
	c.requests[route]++
	if !strings.HasSuffix(r.URL.Path, "/exec") || len(c.plan) == 0 {
		return cut{}
	}
	step := c.plan[0]
	c.plan = c.plan[1:]
	return step
}

func (c *cutter) count(route string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[route]
}

// then sets what happens to the exec requests from now on.
func (c *cutter) then(plan ...cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan = plan
}

type cuttingWriter struct {
	http.ResponseWriter
	left  int
	clean bool
}

func (w *cuttingWriter) Write(p []byte) (int, error) {
	if w.left >= len(p) {
		w.left -= len(p)
		return w.ResponseWriter.Write(p)
	}
	_, _ = w.ResponseWriter.Write(p[:w.left])
	w.left = 0
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	if w.clean {
		return 0, io.ErrClosedPipe
	}
	panic(http.ErrAbortHandler)
}

func (w *cuttingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
