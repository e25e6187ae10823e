package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// recorder is what a test sees of the requests: a proxy that counts them by
// route, so that a test can say what was sent, and what was not.
type recorder struct {
	proxy *faultproxy.Proxy
}

func newRecorder(t *testing.T, target string) *recorder {
	t.Helper()

	proxy, err := faultproxy.Start(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)

	return &recorder{proxy: proxy}
}

// answerWith has all requests answered with a status instead of by the bridge;
// 0 ends that.
func (r *recorder) answerWith(status int) {
	if status == 0 {
		r.proxy.Set()
		return
	}

	r.proxy.Set(faultproxy.ForGood(1, faultproxy.Fault{Answer: &faultproxy.Answer{Status: status}}))
}

// beforeNext runs a function when the next request whose path ends in suffix
// has arrived, and before it is passed on.
func (r *recorder) beforeNext(suffix string, then func()) {
	r.proxy.Set(faultproxy.Rule{Route: suffix, From: 1, To: 1, Fault: faultproxy.Fault{Before: then}})
}

// makeRoom ends a sandbox's container once another one has been told that there
// is no room for it, and asks again.
func (b *testBridge) makeRoom(by string) {
	b.proxy.Set(faultproxy.Rule{Route: "/exec", From: 2, To: 2, Fault: faultproxy.Fault{Before: func() { b.local.Kill(by) }}})
}

// lastHeader is the header of the last request.
func (r *recorder) lastHeader() http.Header {
	requests := r.proxy.Requests()
	if len(requests) == 0 {
		return nil
	}

	return requests[len(requests)-1].Header
}

// forget starts a new count.
func (r *recorder) forget() {
	r.proxy.Forget()
}

// sent lists the requests since the last forget, as "2 POST sandbox, ...".
func (r *recorder) sent() string {
	requests := map[string]int{}
	for _, request := range r.proxy.Requests() {
		requests[request.Route]++
	}

	var sent []string
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		sent = append(sent, fmt.Sprintf("%d %s", requests[route], route))
	}

	return strings.Join(sent, ", ")
}

// transferred is how many bytes bodies had since the last forget.
func (r *recorder) transferred() (uploaded, downloaded int64) {
	for _, request := range r.proxy.Requests() {
		uploaded += request.Size
	}

	return uploaded, r.proxy.Downloaded()
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
