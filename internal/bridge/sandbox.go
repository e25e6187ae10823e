package bridge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// freshFor is how long after its last word a container is taken to be there still. It sleeps after 10 idle minutes
// (BRIDGE.md, "Life of a container"); half of that leaves room for clocks and queues.
const freshFor = 5 * time.Minute

// Sandbox is the handle for one sandbox: an id at the bridge, and whichever container stands behind it. Get it from
// [Client.Sandbox]. It is safe for concurrent use.
//
// The bridge gives an idle or crashed sandbox a fresh, empty container without any sign of it, and several first
// requests a container each, of which one survives. So the first contact goes alone, every container carries a token,
// its instance, and every later request names the instance that it is meant for.
type Sandbox struct {
	client *Client
	id     string

	// first is held by the request that makes the first contact.
	first chan struct{}
	// mounting is held by the mount or unmount that is at work.
	mounting chan struct{}
	// grace is graceTime, and callLimit the constant of that name, but for tests.
	grace, callLimit time.Duration

	mu       sync.Mutex
	now      func() time.Time
	heard    time.Time
	instance string
	// firstHeard is the instance that this process has started with.
	firstHeard string
	// finished are the nonces of runs whose results have arrived, to be cleared away by the next request.
	finished []string
}

func newSandbox(c *Client, id string) *Sandbox {
	return &Sandbox{
		client: c, id: id, first: make(chan struct{}, 1), mounting: make(chan struct{}, 1), grace: graceTime, callLimit: callLimit, now: time.Now,
	}
}

// ID is the sandbox's id at the bridge.
func (s *Sandbox) ID() string { return s.id }

// HeardLately tells whether the container has answered this process within the last 5 minutes.
func (s *Sandbox) HeardLately() bool {
	_, fresh := s.known()
	return fresh
}

// known gives the instance that this process is working with, and whether it was heard of lately.
func (s *Sandbox) known() (instance string, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.instance != "" && s.now().Sub(s.heard) < freshFor
}

// answered notes that a container has spoken. It reports whether that container is the known one, or the first; if not,
// nothing is known any more, since several unknown ones may have been started at once.
func (s *Sandbox) answered(instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.instance != "" && s.instance != instance {
		s.instance = ""
		return false
	}
	s.instance, s.heard = instance, s.now()
	if s.firstHeard == "" {
		s.firstHeard = instance
	}
	return true
}

// lastHeard is when the container last gave a sign of life.
func (s *Sandbox) lastHeard() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// enter lets a request pass. While the container is not known to be there, one passes at a time; it calls leave as soon
// as it has heard from the container, or has failed.
func (s *Sandbox) enter(ctx context.Context) (leave func(), err error) {
	if _, fresh := s.known(); fresh {
		return func() {}, nil
	}
	select {
	case s.first <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the first contact with sandbox %s: %w", s.id, context.Cause(ctx))
	}
	leave = sync.OnceFunc(func() { <-s.first })
	if _, fresh := s.known(); fresh {
		leave()
	}
	return leave, nil
}

// Start wakes the sandbox, starting a container if there is none, and returns its instance. While the bridge's instance
// limit is reached it waits, until the context ends.
func (s *Sandbox) Start(ctx context.Context) (string, error) {
	var full error
	for n := 1; ; n++ {
		instance, err := s.Instance(ctx)
		switch {
		case IsAsleep(err):
			full = err
		case full == nil || ctx.Err() == nil:
			return instance, err
		}
		if s.client.wait(ctx, n) != nil {
			return "", fmt.Errorf("the time for starting sandbox %s is up, and there was no room for it: %w", s.id, full)
		}
	}
}

// Instance asks the sandbox for its instance. That starts a container if there is none and one may be started; at the
// instance limit the error proves that there is none ([IsAsleep]).
func (s *Sandbox) Instance(ctx context.Context) (string, error) {
	answer, err := s.call(ctx, helloCall)
	if err != nil {
		return "", err
	}
	return answer.instance, nil
}

// reach returns the instance to work with, and makes the first contact if there was none lately. At the instance limit
// it tries a few times before it fails.
func (s *Sandbox) reach(ctx context.Context) (string, error) {
	if instance, fresh := s.known(); fresh {
		return instance, nil
	}
	hello := helloCall
	hello.needsContainer = true
	answer, err := s.call(ctx, hello)
	if err != nil {
		return "", err
	}
	return answer.instance, nil
}

// confirm tells by a [*RecycledError] that the container is not the one any more that a request was meant for. It is for
// requests that cannot name their container and so cannot be refused by another.
func (s *Sandbox) confirm(ctx context.Context, instance string) error {
	hello := helloCall
	hello.expected = instance
	_, err := s.call(ctx, hello)
	return err
}

// finish notes that a run's result has arrived.
func (s *Sandbox) finish(nonces ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(s.finished, nonces...)
}

// takeFinished hands over what finish has noted, a bounded number at a time.
func (s *Sandbox) takeFinished() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.finished), 100)
	taken := s.finished[:n:n]
	s.finished = s.finished[n:]
	return taken
}

// newNonce makes a name that nothing else has.
func newNonce() string {
	b := make([]byte, nonceLength/2)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
