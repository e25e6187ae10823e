package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// call is a script to run in the sandbox. Running one twice must do no harm: a call whose end is not proven is made
// again.
type call struct {
	// what is done, for errors: "reading ...".
	what    string
	program string
	args    []string
	// nonce of the request; "" for a new one each time.
	nonce string
	// expected is the instance this is meant for; "" for the one that this process works with.
	expected string
	// changes says that it must not be done in another container than that, even if none is expected by the caller.
	// What only looks is done again in the new one.
	changes bool
	// needsContainer says that the instance limit is a hindrance, worth a few retries; else it is an answer: it proves
	// that there is no container.
	needsContainer bool
	// limit bounds the answer in bytes of base64; 0: maxAnswer.
	limit int
	// heartbeat, if set, is called at every sign of life.
	heartbeat func()
	// within, if not 0, bounds the call's time, whatever the context allows.
	within time.Duration
}

// maxAnswer bounds an answer of which nothing larger is expected.
const maxAnswer = 1 << 20

// maxComplaints bounds what the sandbox's shell may say on its standard error, which is next to nothing.
const maxComplaints = 1 << 20

// callLimit bounds what is waited for where the context has no end of its own. Code in a sandbox could keep it alive for
// ever.
const callLimit = time.Hour

// helloLimit is more than the start of any container takes.
const helloLimit = 10 * time.Minute

var helloCall = call{what: "waking the sandbox", program: scripts.Hello, within: helloLimit}

// errNoProof is the cause when a stream ended as if all were well, but without the script's last line.
var errNoProof = errors.New("the answer ended without the proof that it is complete")

// answer is what a script had to say.
type answer struct {
	// status is 0 for success; what the others mean is up to the script.
	status   int
	data     []byte
	instance string
}

// call runs a script that ends with "answer" and returns that, once it is proven to be whole.
func (s *Sandbox) call(ctx context.Context, c call) (*answer, error) {
	ctx, cancel := s.bounded(ctx, c.within)
	defer cancel()
	if !c.needsContainer {
		ctx = takeForAnswer(ctx, isCapacityExceeded)
	}
	var last error
	for n := 1; ; n++ {
		a, err := s.ask(ctx, c)
		switch {
		case err == nil:
			return a, nil
		case ctx.Err() != nil:
			return nil, timeUp(err, last)
		case isRecycled(err) && !c.changes && c.expected == "":
		case errors.Is(err, errReplyTooLarge):
			// The next one would cost as much, and say no more.
			return nil, fmt.Errorf("%s in sandbox %s: %w", c.what, s.id, errReplyTooLarge)
		case !isUnproven(err):
			return nil, err
		}
		if n > s.client.config.RetryMax {
			var unproven *unprovenError
			if errors.As(err, &unproven) {
				// Not to be tried as often again by whoever has called this.
				err = unproven.err
			}
			return nil, fmt.Errorf("%s in sandbox %s, tried %d times: %w", c.what, s.id, n, err)
		}
		last = err
		if err := s.client.wait(ctx, n); err != nil {
			return nil, fmt.Errorf("%s in sandbox %s: %w", c.what, s.id, timeUp(err, last))
		}
	}
}

// bounded gives a context the end that it lacks, and within, if not 0, in any case.
func (s *Sandbox) bounded(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	if _, ends := ctx.Deadline(); !ends && within == 0 {
		within = s.callLimit
	}
	if within == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, within)
}

// ask sends the script once and decodes what it says.
func (s *Sandbox) ask(ctx context.Context, c call) (*answer, error) {
	r, err := s.attempt(ctx, c)
	if err != nil {
		return nil, err
	}
	data, err := r.answer()
	if err != nil {
		return nil, &unprovenError{s.incomplete(err)}
	}
	return &answer{status: r.status, data: data, instance: r.instance}, nil
}

// attempt sends a script once and returns its reply, proven to have come to its end.
func (s *Sandbox) attempt(ctx context.Context, c call) (*reply, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	expected := c.expected
	if expected == "" {
		expected, _ = s.known()
	}
	nonce := c.nonce
	if nonce == "" {
		nonce = newNonce()
	}
	limit := c.limit
	if limit == 0 {
		limit = maxAnswer
	}
	known := true
	r := &reply{nonce: nonce, limit: limit, heartbeat: c.heartbeat, begun: func(instance string) {
		known = s.answered(instance)
		leave()
	}}
	finished := s.takeFinished()
	// -p, so that neither $BASH_ENV nor functions from the image's environment take the place of what the script calls.
	argv := append([]string{"/bin/bash", "-pc", c.program, "cloudflaresandbox", nonce, expected, strings.Join(finished, " ")}, c.args...)
	if err := s.exec(ctx, argv, r); err != nil {
		s.finish(finished...)
		return nil, err
	}
	switch {
	case r.status == scripts.StatusOtherInstance, !known:
		return nil, &RecycledError{ID: s.id, Expected: expected, Actual: r.instance}
	case r.status == scripts.StatusNoHome:
		return nil, fmt.Errorf("sandbox %s has no room in /tmp for the provider's own small files; its disk is full, "+
			"/tmp is not writable, or something else stands in the place of %s", s.id, scriptsHome)
	}
	return r, nil
}

// unprovenError is a stream that broke, or ended without proof: the script may have run, wholly, in part or not at all.
type unprovenError struct{ err error }

func (e *unprovenError) Error() string { return e.err.Error() }
func (e *unprovenError) Unwrap() error { return e.err }

func isUnproven(err error) bool {
	var e *unprovenError
	return errors.As(err, &e)
}

// drainLimit is how long a stream may take to end after the script's last line. It is read to its end so that the
// connection can be used again; the script's process ends at once, so that nothing but a fault takes longer.
const drainLimit = 2 * time.Second

// exec feeds a reply with what argv prints, until the reply is complete. What bash itself complains about is added to
// the error of one that is not.
func (s *Sandbox) exec(ctx context.Context, argv []string, r *reply) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var complaints bytes.Buffer
	complained := 0
	err := s.client.exec(ctx, s.id, argv, func(data []byte) error {
		if r.ended {
			return nil
		}
		if err := r.feed(data); err != nil {
			return err
		}
		s.stillThere(r.instance)
		if r.ended {
			time.AfterFunc(drainLimit, cancel)
		}
		return nil
	}, func(data []byte) error {
		if room := maxErrorBody - complaints.Len(); room > 0 {
			complaints.Write(data[:min(room, len(data))])
		}
		if complained += len(data); complained > maxComplaints {
			return errReplyTooLarge
		}
		return nil
	})
	if r.ended {
		return nil
	}
	var refused *Error
	if errors.As(err, &refused) && !refused.afterAnswer {
		return err
	}
	if err == nil {
		err = errNoProof
	}
	if refused == nil {
		err = s.incomplete(err)
	}
	if text := s.client.readable(complaints.String()); text != "" {
		err = fmt.Errorf("the sandbox's shell said %q: %w", text, err)
	}
	return &unprovenError{err}
}

// incomplete makes the error of a script's answer that makes no whole.
func (s *Sandbox) incomplete(cause error) *Error {
	return s.client.incomplete(request{method: http.MethodPost, path: sandboxPath(s.id) + "/exec"}, cause)
}

// stillThere notes a sign of life of the known container.
func (s *Sandbox) stillThere(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if instance != "" && instance == s.instance {
		s.heard = s.now()
	}
}
