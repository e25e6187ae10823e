package provider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// What is neither in a state nor in a sandbox that is there before it: a sandbox
// for one run, and the bridge's pool.

// sandboxEphemeralRows are a sandbox for one run. Nothing of it is in a state, so
// nothing may be left once it is closed, or could not be opened.
func sandboxEphemeralRows() []operation {
	const kind = "sandbox"
	given := arguments{"timeouts": arguments{"open": "15s"}}
	known := func(w *world) []string { return []string{attribute(w.open.value, "id")} }
	open := func(ctx context.Context, c *core, w *world) (err error) {
		w.open, err = c.open(ctx, kind, given)
		return err
	}
	end := func(ctx context.Context, c *core, w *world) error {
		if err := c.close(ctx, kind, w.open); err != nil {
			return err
		}
		w.result = attribute(w.open.value, "id")
		w.open = openedObject{}
		return nil
	}
	lives := func(ctx context.Context, w *world) error {
		id, instance := attribute(w.open.value, "id"), attribute(w.open.value, "instance_id")
		running, err := w.instance(ctx, id)
		if err == nil && (instance == "" || running != instance) {
			err = fmt.Errorf("container %q of sandbox %q was opened, and %q runs", instance, id, running)
		}
		return err
	}
	gone := func(_ context.Context, w *world) error {
		if w.result == "" || slices.Contains(w.local.Running(), w.result) {
			return fmt.Errorf("sandbox %q was closed, and has a container", w.result)
		}
		return nil
	}
	finish := func(ctx context.Context, c *core, w *world) error {
		if w.open.private == nil && w.result == "" {
			if err := errors.Join(open(ctx, c, w), lives(ctx, w)); err != nil {
				return fmt.Errorf("healed open: %w", err)
			}
		}
		if w.open.private != nil {
			if err := end(ctx, c, w); err != nil {
				return fmt.Errorf("healed close: %w", err)
			}
		}
		return gone(ctx, w)
	}
	row := func(name string, prepare, act func(context.Context, *core, *world) error, proves func(context.Context, *world) error) operation {
		return operation{
			object: "ephemeral sandbox", name: name, prepare: prepare, act: act, proves: proves, finish: finish, known: known,
			// What could not be opened is nowhere, and checkOrphans looks for it.
			truth: func(context.Context, *core, *world) error { return nil },
		}
	}

	return []operation{
		row("open", func(context.Context, *core, *world) error { return nil }, open, lives),
		row("renew", open, func(ctx context.Context, c *core, w *world) error { return c.renew(ctx, kind, w.open) }, lives),
		row("close", open, end, gone),
	}
}

// poolTarget is how many containers wait on a bridge whose pool is primed.
const poolTarget = 2

// poolRows are the actions that change the bridge's pool.
func poolRows() []operation {
	row := func(kind string, prepare, check func(context.Context, *world) error) []operation {
		return readSubject{
			object: "action " + kind, name: "invoke", alone: true, prepare: prepare, check: check,
			act: func(ctx context.Context, c *core, _ *world) error { return c.invoke(ctx, kind, arguments{}) },
		}.operations()
	}
	primed := func(ctx context.Context, w *world) error { return w.waiting(ctx, poolTarget) }

	return slices.Concat(
		row("prime_pool", nil, primed),
		row("shutdown_prewarmed", func(ctx context.Context, w *world) error {
			client, err := w.client()
			if err == nil {
				err = client.PrimePool(ctx)
			}
			if err != nil {
				return err
			}
			return primed(ctx, w)
		}, func(ctx context.Context, w *world) error {
			stats, err := w.pool(ctx)
			if err == nil && stats.Warm != 0 {
				err = fmt.Errorf("%d containers wait after they were shut down", stats.Warm)
			}
			return err
		}),
	)
}

// pool is the state of the bridge's pool, past the proxy.
func (w *world) pool(ctx context.Context) (*bridge.PoolStats, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	return client.PoolStats(ctx)
}

// waiting waits until so many containers wait: the bridge answers before they do.
func (w *world) waiting(ctx context.Context, want int) error {
	var failure error
	err := await.Until(ctx, func() bool {
		stats, err := w.pool(ctx)
		failure = err
		return err != nil || stats.Warm == want
	})
	if err != nil {
		return fmt.Errorf("%d containers are to wait: %w", want, err)
	}
	return failure
}
