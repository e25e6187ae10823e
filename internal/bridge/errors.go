package bridge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Codes of the bridge's errors (BRIDGE.md, "Errors") that something depends on.
const (
	codeCapacityExceeded = "capacity_exceeded"
	codePoolError        = "pool_error"
	codeUnauthorized     = "unauthorized"
	codeTunnelError      = "tunnel_error"
	codeMountError       = "mount_error"
	codeUnmountError     = "unmount_error"
)

// maxErrorBody is how much of an error's body is looked at.
const maxErrorBody = 64 << 10

// Error is a request that did not get its answer: the bridge refused, something in front of it did, or nobody answered.
type Error struct {
	// Method and Path of the request; the path holds no secret.
	Method, Path string
	// Status is the HTTP status, 0 where there was no answer.
	Status int
	// Code and Message as the bridge gave them, or a message of our own. Bounded, without secrets, one line.
	Code, Message string
	// Summary is a short headline.
	Summary string
	// NextStep says what to do; empty where nothing in particular helps.
	NextStep string
	// Err is the cause where there was no answer.
	Err error

	// raw is all of what the bridge said, to be recognised and never shown; text is the same without secrets.
	raw, text string
	// afterAnswer says that the answer had begun well, so that the request has had its effect, or a part of it.
	afterAnswer bool
}

// Error tells what was tried, what came back and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Method, e.Path)
	switch {
	case e.Status == 0 && e.afterAnswer:
		b.WriteString(" got a part of an answer")
	case e.Status == 0:
		b.WriteString(" got no answer")
	case e.Code != "":
		fmt.Fprintf(&b, " was answered %d (%s)", e.Status, e.Code)
	default:
		fmt.Fprintf(&b, " was answered %d", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.NextStep != "" {
		fmt.Fprintf(&b, ". %s", e.NextStep)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsAsleep tells whether the error proves that the sandbox has no container now: only for an id without one does the
// bridge answer that its instance limit is reached (BRIDGE.md, "Routes").
func IsAsleep(err error) bool { return hasCode(err, codeCapacityExceeded) }

// IsUnauthorized tells whether the bridge did not accept the key.
func IsUnauthorized(err error) bool {
	var e *Error
	return hasCode(err, codeUnauthorized) || (errors.As(err, &e) && e.Status == http.StatusUnauthorized)
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

type errorAnswer struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}
