package bridge

import (
	"net/http"
	"sync/atomic"
	"time"
)

// SetGrace sets what the end of a command may take beyond its timeout, so that a test of one that never ends is short.
func (s *Sandbox) SetGrace(grace time.Duration) { s.grace = grace }

// SetCallLimit sets the end of what has none of its own.
func (s *Sandbox) SetCallLimit(limit time.Duration) { s.callLimit = limit }

// SetSilence sets how long each exchange from now on, counted from 1, may be silent until its answer begins, and after
// that. So a test can have little patience with what is made to be silent, and still as much as a busy machine needs with
// all else.
func (c *Client) SetSilence(limits func(exchange int32) (head, body time.Duration)) {
	next := c.http.HTTPClient.Transport
	if previous, ok := next.(*countedSilence); ok {
		next = previous.next
	} else {
		next = next.(*silenceTransport).next
	}
	c.http.HTTPClient.Transport = &countedSilence{next: next, limits: limits}
}

type countedSilence struct {
	next   http.RoundTripper
	limits func(exchange int32) (head, body time.Duration)
	count  atomic.Int32
}

func (t *countedSilence) RoundTrip(req *http.Request) (*http.Response, error) {
	head, body := t.limits(t.count.Add(1))
	resp, err := (&silenceTransport{next: t.next, limit: head}).RoundTrip(req)
	if err == nil {
		watch := resp.Body.(*watchedBody).watch
		watch.limit = body
		watch.timer.Reset(body)
	}
	return resp, err
}
