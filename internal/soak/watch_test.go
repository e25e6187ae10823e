package soak_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"
)

// watch stands in front of a bridge and counts what happens there: requests that
// arrive, and answers that begin. At a given count it does something, so that
// schedules depend on what goes on and not on how fast this machine is.
type watch struct {
	url string

	mu       sync.Mutex
	count    int
	requests int
	due      []event
}

// event is what is done when something happens for the n-th time. It is told the
// sandbox to which that happened, "" for none.
type event struct {
	n  int
	do func(id string)
}

func newWatch(t *testing.T, bridge http.Handler) *watch {
	t.Helper()

	w := &watch{}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		id := ""
		if match := idInPath.FindStringSubmatch(request.URL.Path); match != nil {
			id = match[1]
		}
		w.enter(1)
		defer w.enter(-1)
		w.happened(id)
		bridge.ServeHTTP(&watchedAnswer{ResponseWriter: answer, begin: sync.OnceFunc(func() { w.happened(id) })}, request)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL

	return w
}

var idInPath = regexp.MustCompile(`^/v1/sandbox/([a-z2-7]+)`)

// expect starts a new count, with what is to be done at which.
func (w *watch) expect(events ...event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count, w.due = 0, events
}

// counted is how much has happened since.
func (w *watch) counted() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.count
}

// underWay is how many requests have no end yet. Some go on for a while when
// whoever made them is gone.
func (w *watch) underWay() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.requests
}

func (w *watch) enter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests += n
}

func (w *watch) happened(id string) {
	w.mu.Lock()
	w.count++
	var now []event
	w.due = slices.DeleteFunc(w.due, func(e event) bool {
		if e.n == w.count {
			now = append(now, e)
		}

		return e.n == w.count
	})
	w.mu.Unlock()

	for _, e := range now {
		e.do(id)
	}
}

// watchedAnswer tells when the first byte of a body is about to go out: where it
// is a command's, that is at work by then.
type watchedAnswer struct {
	http.ResponseWriter

	begin func()
}

func (a *watchedAnswer) Write(p []byte) (int, error) {
	a.begin()

	return a.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (a *watchedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
