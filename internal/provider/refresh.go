package provider

import (
	"context"
	"errors"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// mayAsk reports whether a refresh may send a request that starts a container
// if there is none.
func (c *connection) mayAsk(sandbox *bridge.Sandbox) bool {
	return c.wakeOnRefresh || sandbox.HeardLately()
}

// nothingRuns reports whether the bridge can prove, without starting anything,
// that no sandbox has a container. The pool's figures count containers and name
// none, so only zero says something about a particular sandbox.
func (c *connection) nothingRuns(ctx context.Context) (bool, error) {
	stats, err := c.client.PoolStats(ctx)
	if err != nil {
		return false, err
	}

	return stats.Assigned == 0, nil
}

// refreshed is what a refresh finds out about something in a sandbox. Where it
// may not ask, since that starts a container, only the pool's figures can prove
// something: without a container all that was in it is gone. Else it is unknown.
func refreshed[T any](ctx context.Context, conn *connection, mayAsk bool, gone, unknown T, ask func() (T, error)) (T, error) {
	if !mayAsk {
		none, err := conn.nothingRuns(ctx)
		if none && err == nil {
			return gone, nil
		}

		return unknown, err
	}

	found, err := ask()
	if bridge.IsAsleep(err) {
		return gone, nil
	}

	return found, err
}

// containerLost reports whether what was done in a container is gone with it: the
// sandbox has another one now, or none. Where it may not ask, only the latter can
// be known, if at all.
func (c *connection) containerLost(ctx context.Context, sandbox *bridge.Sandbox, mayAsk bool, instance string) (bool, error) {
	return refreshed(ctx, c, mayAsk, true, false, func() (bool, error) {
		found, err := sandbox.Instance(ctx)

		return err == nil && found != instance, err
	})
}

// provenAsleep reports, before something is removed, whether it certainly went
// with its container: starting one in order to remove something from it would be
// absurd. If the figures cannot be had, the removal itself tells what is wrong.
func (c *connection) provenAsleep(ctx context.Context, sandbox *bridge.Sandbox) bool {
	if sandbox.HeardLately() {
		return false
	}

	none, err := c.nothingRuns(ctx)

	return none && err == nil
}

// isRecycled recognises that the sandbox has another container than the one that
// was meant.
func isRecycled(err error) bool {
	var recycled *bridge.RecycledError

	return errors.As(err, &recycled)
}

// inDoubt recognises a change that may have been made in spite of the error.
func inDoubt(err error) bool {
	var doubt *bridge.DoubtError

	return errors.As(err, &doubt)
}
