package faultproxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Request is one that arrived, or would have if its connection had not been
// refused.
type Request struct {
	// Route is the method and the path below /v1, without what no test knows
	// beforehand: "POST sandbox/:id/exec", "PUT sandbox/:id/file".
	Route string
	// SandboxID is the id that Route leaves out.
	SandboxID string
	Header    http.Header
	// Size of the body.
	Size int64
}

// Proxy is a proxy in front of one bridge. Its methods may be called from any
// goroutine.
type Proxy struct {
	// URL is where clients reach the bridge.
	URL string

	target    *url.URL
	server    *httptest.Server
	transport *http.Transport
	closing   chan struct{}

	mu         sync.Mutex
	rules      []*countedRule
	requests   []Request
	hits       int
	forwarded  int
	downloaded int64
}

type countedRule struct {
	Rule

	seen int
}

// Start starts a proxy that passes everything on.
func Start(target string) (*Proxy, error) {
	parsed, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("faultproxy: %w", err)
	}
	p := &Proxy{target: parsed, transport: &http.Transport{DisableCompression: true}, closing: make(chan struct{})}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	p.URL = p.server.URL
	return p, nil
}

// Close ends the proxy and every connection through it.
func (p *Proxy) Close() {
	close(p.closing)
	p.server.CloseClientConnections()
	p.server.Close()
	p.transport.CloseIdleConnections()
}

// Set replaces the rules. The first that applies to a request decides.
func (p *Proxy) Set(rules ...Rule) {
	counted := make([]*countedRule, len(rules))
	for i, rule := range rules {
		counted[i] = &countedRule{Rule: rule}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = counted
}

// Forget starts the records anew.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.hits, p.downloaded = nil, 0, 0
}

// Requests are those since the last Forget.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Hits is how many of them a fault has changed the course of.
func (p *Proxy) Hits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits
}

// Downloaded is how many bytes of answers have passed since the last Forget.
func (p *Proxy) Downloaded() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.downloaded
}

// Dial connects a client to the proxy, unless the next request is to find
// nobody there. It is for a client whose requests shall be refused.
func (p *Proxy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.refuses() {
		// A port of this machine on which nothing listens, for a genuine refusal.
		address = "127.0.0.1:1"
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// refuses takes the next request as arrived if its connection is refused.
func (p *Proxy) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rule := range p.rules {
		if rule.Fault.Refuse && rule.applies(rule.seen+1) {
			for _, rule := range p.rules {
				rule.seen++
			}
			p.requests = append(p.requests, Request{Route: "refused"})
			p.hits++
			return true
		}
	}
	return false
}

// mayRefuse tells whether each request has to come on a connection of its own,
// so that it can be refused.
func (p *Proxy) mayRefuse() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.rules, func(rule *countedRule) bool { return rule.Fault.Refuse })
}

func (r *Rule) applies(n int) bool { return n >= r.From && (r.To == 0 || n <= r.To) }

func (r *Rule) matches(route string) bool {
	return r.Route == "" || r.Route == route || strings.HasPrefix(r.Route, "/") && strings.HasSuffix(route, r.Route)
}

var (
	idInPath   = regexp.MustCompile(`^/v1/sandbox/([a-z2-7]+)`)
	fileInPath = regexp.MustCompile(`/file/.*`)
)

// describe makes the record of a request.
func describe(r *http.Request, size int) Request {
	request := Request{Header: r.Header.Clone(), Size: int64(size)}
	if match := idInPath.FindStringSubmatch(r.URL.Path); match != nil {
		request.SandboxID = match[1]
	}
	route := idInPath.ReplaceAllString(r.URL.Path, "/v1/sandbox/:id")
	route = fileInPath.ReplaceAllString(route, "/file")
	request.Route = r.Method + " " + strings.TrimPrefix(route, "/v1/")
	return request
}

// arrived records a request and decides what becomes of it.
func (p *Proxy) arrived(request Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, request)
	var fault Fault
	decided := false
	for _, rule := range p.rules {
		if !rule.matches(request.Route) {
			continue
		}
		rule.seen++
		if !decided && !rule.Fault.Refuse && rule.applies(rule.seen) {
			fault, decided = rule.Fault, true
		}
	}
	return fault
}

// InFlight is how many requests the bridge is at work on. A client that has gone
// away does not end them.
func (p *Proxy) InFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forwarded
}

// forwarding counts a request as in flight until the function is called first.
func (p *Proxy) forwarding() (done func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forwarded += n
	}
	add(1)
	return sync.OnceFunc(func() { add(-1) })
}

func (p *Proxy) hit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hits++
}

func (p *Proxy) passed(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.downloaded += int64(bytes)
}
