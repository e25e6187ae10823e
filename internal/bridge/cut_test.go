package bridge_test

import (
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// cutter is a proxy before the bridge that breaks exec streams, in the order of a plan: one entry an exec request.
type cutter struct{ *faultproxy.Proxy }

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

func newCutter(t *testing.T, to *testBridge) *cutter {
	t.Helper()
	proxy, err := faultproxy.Start(to.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return &cutter{proxy}
}

// then sets what happens to the exec requests from now on.
func (c *cutter) then(plan ...cut) {
	var rules []faultproxy.Rule
	for i, step := range plan {
		rules = append(rules, faultproxy.Rule{Route: "POST sandbox/:id/exec", From: i + 1, To: i + 1, Fault: step.fault()})
	}
	c.Set(rules...)
}

func (c cut) fault() faultproxy.Fault {
	switch {
	case c.before:
		return faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.BeforeRequest}}
	case c.after > 0 && c.clean:
		return faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer, Way: faultproxy.End, After: c.after}}
	case c.after > 0:
		return faultproxy.Fault{Cut: &faultproxy.Cut{At: faultproxy.WithinAnswer, After: c.after}}
	case c.replace != nil:
		return faultproxy.Fault{Stream: &faultproxy.Stream{Rewrite: c.replace}}
	default:
		return faultproxy.Fault{}
	}
}

// count tells how many requests came, by method and last part of the route.
func (c *cutter) count(route string) int {
	n := 0
	for _, request := range c.Requests() {
		method, path, _ := strings.Cut(request.Route, " ")
		if method+" "+path[strings.LastIndex(path, "/")+1:] == route {
			n++
		}
	}
	return n
}
