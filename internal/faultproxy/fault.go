package faultproxy

import (
	"net/http"
	"time"
)

// Fault is what becomes of a request. The zero value passes it on.
type Fault struct {
	// Before, if set, is called before the request is passed on.
	Before func()
	// Refuse has nobody listen when the client connects for this request.
	Refuse bool
	// Answer, if set, is given instead of the bridge's. The bridge does not see
	// the request.
	Answer *Answer
	// After, if set, is called when the bridge has carried out the request, before
	// a Cut at AfterRequest.
	After func()
	// Cut ends the exchange early.
	Cut *Cut
	// Stream, if set, changes an answer that is a stream of events. Any other
	// answer passes as it is.
	Stream *Stream
}

// Answer is one that the bridge did not give.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Point is where in an exchange something happens.
type Point int

const (
	// BeforeRequest is before the request is passed on: the bridge never sees it.
	BeforeRequest Point = iota
	// AfterRequest is when the bridge has done what was asked and answered, and
	// nothing of the answer has passed.
	AfterRequest
	// WithinAnswer is when a part of the answer has passed.
	WithinAnswer
)

// Way is how an exchange ends.
type Way int

const (
	// Reset breaks the connection.
	Reset Way = iota
	// End ends the answer as if all of it were there.
	End
	// Hold leaves the connection open, and nothing comes.
	Hold
)

// Cut ends an exchange early.
type Cut struct {
	At  Point
	Way Way
	// After is how many bytes of the answer's body pass, for WithinAnswer; 0:
	// half of them.
	After int
}

// Stream changes a stream of events.
type Stream struct {
	// Rewrite, if set, gets the whole stream and returns the one to send.
	Rewrite func(stream string) string
	// Piece, if positive, sends the stream in pieces of that many bytes.
	Piece int
	// Pause, if positive, passes before each piece, or else before each event.
	Pause time.Duration
}

// Rule applies a fault to some requests.
type Rule struct {
	// Route is that of [Request], or its end if it starts with a slash; "" for
	// any.
	Route string
	// From and To are the first and the last request with this route to which
	// it applies, counted from 1 when the rule is set. From 0 means 1, To 0 means
	// for good.
	From, To int
	Fault    Fault
}

// Once is a rule for the nth request alone.
func Once(n int, fault Fault) Rule { return Rule{From: n, To: n, Fault: fault} }

// ForGood is a rule for the nth request and all after it.
func ForGood(n int, fault Fault) Rule { return Rule{From: n, Fault: fault} }
