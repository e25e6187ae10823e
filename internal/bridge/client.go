package bridge

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Config says where the bridge is and how to talk to it.
type Config struct {
	// URL of the bridge, http or https. Trailing slashes do not matter.
	URL string
	// Key is the bearer token; empty for a bridge that checks none.
	Key string
	// Headers go with every request, for example those of a Cloudflare Access service token. What the client or the
	// connection sets itself cannot be among them: Accept, Content-Type, User-Agent and the like, and with a key also
	// Authorization.
	Headers map[string]string
	// UserAgent of every request.
	UserAgent string

	// Log, if set, is told of every request by method, path, status and duration; never of a header or a body.
	Log func(ctx context.Context, message string, fields map[string]any)

	// RetryMax is how often a request or an operation that is safe to repeat is tried again. Default 4.
	RetryMax int
	// RetryWaitMin and RetryWaitMax bound the wait before a retry, which doubles each time. Defaults 200 ms and 10 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// SilenceLimit is how long the bridge may send nothing at all while an answer is due, before the connection counts
	// as lost. A command that runs says something every 10 seconds. Default 100 s, the time that Cloudflare's edge
	// itself gives a connection.
	SilenceLimit time.Duration
	// Dial makes connections in place of a [net.Dialer], for tests of what happens when that fails.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultRetryMax     = 4
	defaultRetryWaitMin = 200 * time.Millisecond
	defaultRetryWaitMax = 10 * time.Second
	defaultSilenceLimit = 100 * time.Second
)

// Client speaks the routes of one bridge. It is safe for concurrent use.
type Client struct {
	config Config
	base   *url.URL
	http   *retryablehttp.Client

	mu        sync.Mutex
	sandboxes map[string]*Sandbox
}

// New checks the configuration and makes a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := parseURL(config.URL)
	if err != nil {
		return nil, err
	}
	if err := validateHeaderValue(config.Key); err != nil {
		return nil, fmt.Errorf("the API key %w", err)
	}
	for name, value := range config.Headers {
		if err := validateHeader(name, value, config.Key != ""); err != nil {
			return nil, err
		}
	}
	if config.RetryMax == 0 {
		config.RetryMax = defaultRetryMax
	}
	if config.RetryWaitMin == 0 {
		config.RetryWaitMin = defaultRetryWaitMin
	}
	if config.RetryWaitMax == 0 {
		config.RetryWaitMax = max(defaultRetryWaitMax, config.RetryWaitMin)
	}
	if config.SilenceLimit == 0 {
		config.SilenceLimit = defaultSilenceLimit
	}
	c := &Client{config: config, base: base, sandboxes: map[string]*Sandbox{}}
	c.http = newRetryingClient(config)
	return c, nil
}

// Sandbox returns the handle for a sandbox. There is one per id, since what makes the first contact safe is that all
// of this process's requests for an id know of each other.
func (c *Client) Sandbox(id string) (*Sandbox, error) {
	if err := ValidateSandboxID(id); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.sandboxes[id]
	if !ok {
		s = newSandbox(c, id)
		c.sandboxes[id] = s
	}
	return s, nil
}

// request is one call of a route.
type request struct {
	method string
	// path below the base URL, already encoded as the bridge expects it.
	path string
	// body is sent as it is; newBody, if set, gives a body of size bytes anew for each attempt.
	body    []byte
	newBody func() io.Reader
	size    int64
	accept  string
	// alsoStatus is a status besides 2xx that is an answer and not an error.
	alsoStatus int
	// secrets that the body holds, which no error shall show.
	secrets []string
}

// do sends a request, retries what is safe, and returns the answer if its status is 2xx (or alsoStatus) and an *Error
// otherwise. The caller closes the answer's body.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	started := time.Now()
	ctx, last := watchFailures(ctx)
	req, err := c.newHTTPRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	c.log(ctx, "bridge request", map[string]any{
		"method": r.method, "path": r.path, "status": status, "milliseconds": time.Since(started).Milliseconds(),
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = timeUp(cause, last())
		}
		return nil, c.transportError(r, err)
	}
	if resp.StatusCode/100 != 2 && resp.StatusCode != r.alsoStatus {
		defer resp.Body.Close()
		return nil, c.responseError(r, resp)
	}
	return resp, nil
}

func (c *Client) newHTTPRequest(ctx context.Context, r request) (*retryablehttp.Request, error) {
	var body any
	switch {
	case r.newBody != nil:
		body = retryablehttp.ReaderFunc(func() (io.Reader, error) { return r.newBody(), nil })
	case r.body != nil:
		body = r.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.method, c.base.String(), body)
	if err != nil {
		return nil, fmt.Errorf("building the request: %w", err)
	}
	if r.newBody != nil {
		req.ContentLength = r.size
	}
	// The path is set as it shall stand on the wire: the bridge decodes it by rules of its own (BRIDGE.md, "Files").
	path := strings.TrimRight(c.base.EscapedPath(), "/") + r.path
	req.URL.Path, err = url.PathUnescape(path)
	if err != nil {
		return nil, fmt.Errorf("building the request's path: %w", err)
	}
	req.URL.RawPath = path
	for name, value := range c.config.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	if c.config.UserAgent != "" {
		req.Header.Set("User-Agent", c.config.UserAgent)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else if r.newBody != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	accept := r.accept
	if accept == "" {
		accept = "application/json"
	}
	req.Header.Set("Accept", accept)
	return req, nil
}

func (c *Client) log(ctx context.Context, message string, fields map[string]any) {
	if c.config.Log != nil {
		c.config.Log(ctx, message, fields)
	}
}

// wait sleeps before attempt n (1 for the first retry) of an operation, or returns early with the context's error.
func (c *Client) wait(ctx context.Context, n int) error {
	timer := time.NewTimer(backoff(c.config.RetryWaitMin, c.config.RetryWaitMax, n, nil))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
