// Package await lets tests wait for what happens elsewhere: in another
// goroutine, another process or a sandbox.
package await

import (
	"context"
	"errors"
	"testing"
	"time"
)

const (
	// interval is the time between two looks.
	interval = 10 * time.Millisecond
	// patience is more than anything takes, also on a busy machine.
	patience = 3 * time.Minute
)

// That waits until it has happened, and fails the test if it does not within 3
// minutes.
func That(tb testing.TB, what string, happened func() bool) {
	tb.Helper()

	ctx, cancel := context.WithTimeoutCause(tb.Context(), patience, errors.New("it takes too long"))
	defer cancel()
	if err := Until(ctx, happened); err != nil {
		tb.Fatalf("waited in vain until %s: %v", what, err)
	}
}

// Until waits until it has happened. When the context ends before that, the
// error is the context's cause.
func Until(ctx context.Context, happened func() bool) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}

	return nil
}
