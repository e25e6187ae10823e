package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
)

// recorder is a reverse proxy that counts requests by route, so that a test can
// say what was sent, and what was not.
type recorder struct {
	url string

	mu         sync.Mutex
	requests   map[string]int
	uploaded   int64
	downloaded int64
	last       http.Header
	answer     int
	suffix     string
	then       func()
}

func newRecorder(t *testing.T, target string) *recorder {
	t.Helper()

	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}

	r := &recorder{requests: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(parsed) },
		FlushInterval: -1,
		ModifyResponse: func(response *http.Response) error {
			response.Body = &countedBody{ReadCloser: response.Body, recorder: r}
			return nil
		},
		// A provider or a container that goes away in the middle is a part of some tests.
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.record(request)
		// All of the body first: a proxy that still reads it when the answer is
		// there already cuts off the answer now and then.
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		r.interfere(request)
		if status := r.answered(); status != 0 {
			w.WriteHeader(status)
			return
		}
		proxy.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL

	return r
}

// Routes have the sandbox's id and the file's path in them, which no test knows.
var (
	idInPath   = regexp.MustCompile(`^/v1/sandbox/[a-z2-7]+`)
	fileInPath = regexp.MustCompile(`/file/.*`)
)

func (r *recorder) record(request *http.Request) {
	route := idInPath.ReplaceAllString(request.URL.Path, "/v1/sandbox/:id")
	route = fileInPath.ReplaceAllString(route, "/file")

	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[request.Method+" "+strings.TrimPrefix(route, "/v1/")]++
	if request.ContentLength > 0 {
		r.uploaded += request.ContentLength
	}
	r.last = request.Header.Clone()
}

// answerWith has all requests answered with a status instead of by the bridge;
// 0 ends that.
func (r *recorder) answerWith(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = status
}

func (r *recorder) answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.answer
}

// beforeNext runs a function when the next request whose path ends in suffix
// has arrived, and before it is passed on.
func (r *recorder) beforeNext(suffix string, then func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suffix, r.then = suffix, then
}

func (r *recorder) interfere(request *http.Request) {
	r.mu.Lock()
	then := r.then
	if then == nil || !strings.HasSuffix(request.URL.Path, r.suffix) {
		r.mu.Unlock()
		return
	}
	r.then = nil
	r.mu.Unlock()

	then()
}

// lastHeader is the header of the last request.
func (r *recorder) lastHeader() http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.last
}

// forget starts a new count.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = map[string]int{}
	r.uploaded, r.downloaded = 0, 0
}

// sent lists the requests since the last forget, as "2 POST sandbox, ...".
func (r *recorder) sent() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	var sent []string
	for _, route := range slices.Sorted(maps.Keys(r.requests)) {
		sent = append(sent, fmt.Sprintf("%d %s", r.requests[route], route))
	}

	return strings.Join(sent, ", ")
}

// transferred is how many bytes bodies had since the last forget.
func (r *recorder) transferred() (uploaded, downloaded int64) {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.uploaded, r.downloaded
}

// countedBody counts what is read of a response.
type countedBody struct {
	io.ReadCloser

	recorder *recorder
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)

	b.recorder.mu.Lock()
	defer b.recorder.mu.Unlock()
	b.recorder.downloaded += int64(n)

	return n, err
}

// forgetAtPlan starts a new count once the plan is made, so that what follows
// is the apply's.
func (r *recorder) forgetAtPlan() onPlan {
	return func(*tfjson.Plan) error {
		r.forget()
		return nil
	}
}

// expectSent checks the requests since the last forget, and starts a new count.
func (r *recorder) expectSent(want string) error {
	got := r.sent()
	r.forget()
	if got != want {
		return fmt.Errorf("requests: %q, want %q", got, want)
	}

	return nil
}

func (r *recorder) sentAtPlan(want string) onPlan {
	return func(*tfjson.Plan) error { return r.expectSent(want) }
}

func (r *recorder) sentAtState(want string) onState {
	return func(*tfjson.State) error { return r.expectSent(want) }
}

// changedAttributes names the attributes that a change touches, sorted. Only
// unknown ones appear in AfterUnknown.
func changedAttributes(change *tfjson.Change) string {
	before, _ := change.Before.(map[string]any)
	after, _ := change.After.(map[string]any)
	unknown, _ := change.AfterUnknown.(map[string]any)

	names := map[string]bool{}
	for name := range before {
		names[name] = fmt.Sprint(before[name]) != fmt.Sprint(after[name])
	}
	for name := range after {
		names[name] = fmt.Sprint(before[name]) != fmt.Sprint(after[name])
	}
	for name, value := range unknown {
		if value == true {
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(_ string, changed bool) bool { return !changed })

	return strings.Join(slices.Sorted(maps.Keys(names)), " ")
}
