package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// bench tries operations under faults.
type bench struct {
	local  *localbridge.Bridge
	schema *tfprotov6.GetProviderSchemaResponse
	// newDir makes a directory for a cell.
	newDir func() string
}

// cell is one operation under one fault.
type cell struct {
	operation operation
	fault     fault
	forGood   bool
	// n is the request from which on, or at which, the fault takes place; 0: never.
	n int
	// usual is how many requests the operation takes without a fault.
	usual int
}

func (c cell) String() string {
	how := "once"
	if c.forGood {
		how = "for good"
	}
	return fmt.Sprintf("%s, %s %s at request %d", c.operation, c.fault.name, how, c.n)
}

// result is what became of a cell.
type result struct {
	// requests that the operation took, and how many of them the fault changed.
	requests, hits int
	// err is the operation's own.
	err error
	// asleep says that the operation found its object gone with the container.
	asleep bool
	// violation is what must never be.
	violation error
}

// cellLimit is the time after which a cell counts as hanging.
const cellLimit = 3 * time.Minute

// quick makes a healthy client fast.
func quick(config *bridge.Config) {
	config.RetryWaitMin, config.RetryWaitMax = time.Millisecond, 4*time.Millisecond
}

// try runs a cell: the operation with the fault, then everything that must hold
// after it, with the fault gone and in another run of the provider.
func (b *bench) try(ctx context.Context, c cell) result {
	ctx, cancel := context.WithTimeout(ctx, cellLimit)
	defer cancel()
	local := b.local
	if c.operation.alone {
		own, err := localbridge.Start(ctx, localbridge.Config{WarmTarget: poolTarget})
		if err != nil {
			return result{violation: err}
		}
		defer own.Close()
		local = own
	}
	w, err := newWorld(ctx, local, b.schema, b.newDir())
	if err != nil {
		return result{violation: err}
	}
	defer w.close()
	w.turn, w.line = len(c.String()), c.operation.once
	if c.operation.needs {
		if err := w.settle(ctx); err != nil {
			return result{violation: fmt.Errorf("setting up: %w", err)}
		}
	}
	if c.operation.setup != nil {
		if err := c.operation.setup(w); err != nil {
			return result{violation: err}
		}
	}
	healthy, err := w.run(ctx, quick)
	if err == nil {
		err = c.operation.prepare(ctx, healthy, w)
	}
	w.proxy.Set()
	if err == nil {
		w.container, err = w.instance(ctx, w.sandbox)
	}
	if err != nil {
		return result{violation: fmt.Errorf("preparing: %w", err)}
	}

	r := b.act(ctx, c, w)
	if r.violation != nil {
		return r
	}
	if err := b.verify(ctx, c, w, r); err != nil {
		r.violation = err
	}
	return r
}

// act is the operation under its fault.
func (b *bench) act(ctx context.Context, c cell, w *world) result {
	tune := quick
	if c.n > 0 {
		tune = c.fault.tune(w)
		rule := faultproxy.Once(c.n, c.fault.make(w))
		if c.forGood {
			rule = faultproxy.ForGood(c.n, c.fault.make(w))
		}
		w.proxy.Set(rule)
	}
	faulty, err := w.run(ctx, tune)
	if err != nil {
		return result{violation: err}
	}
	before, hits, existed := len(w.proxy.Requests()), w.proxy.Hits(), w.state.exists()
	r := result{err: c.operation.act(ctx, faulty, w)}
	r.requests, r.hits = len(w.proxy.Requests())-before, w.proxy.Hits()-hits
	r.asleep = c.fault.sleeps && r.hits > 0 && existed && !w.state.exists()
	w.proxy.Set()
	if ctx.Err() != nil {
		r.violation = errors.New("it hangs")
	}
	return r
}

// verify checks what must hold.
func (b *bench) verify(ctx context.Context, c cell, w *world, r result) error {
	o := c.operation
	if err := w.quiet(ctx); err != nil {
		return err
	}
	if err := w.checkOrphans(o.known(w)...); err != nil {
		return err
	}
	if o.once != "" {
		if err := w.checkOnce(ctx, o.once, r); err != nil {
			return err
		}
	}
	if err := b.checkOutcome(ctx, c, w, r); err != nil {
		return err
	}
	if err := w.checkStaging(ctx, c.forGood || c.fault.refused); err != nil {
		return err
	}

	healed, err := w.run(ctx, quick)
	if err != nil {
		return err
	}
	if err := o.truth(ctx, healed, w); err != nil {
		return fmt.Errorf("truth: %w", err)
	}
	if err := o.finish(ctx, healed, w); err != nil {
		return err
	}
	if err := w.quiet(ctx); err != nil {
		return err
	}
	if err := w.checkStaging(ctx, false); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	return w.checkOrphans(o.known(w)...)
}

// checkOutcome wants a success to have done what it says, and an error to name
// its cause.
func (b *bench) checkOutcome(ctx context.Context, c cell, w *world, r result) error {
	if r.err == nil {
		if c.operation.proves == nil || r.asleep {
			return nil
		}
		if err := c.operation.proves(ctx, w); err != nil {
			return fmt.Errorf("a success that is none: %w", err)
		}
		return nil
	}
	var diagnosed *diagnosedError
	switch {
	case r.hits == 0:
		return fmt.Errorf("it fails without a fault: %w", r.err)
	case !errors.As(r.err, &diagnosed):
		return fmt.Errorf("no diagnostic: %w", r.err)
	case !c.fault.cause.MatchString(r.err.Error()):
		return fmt.Errorf("the error does not name its cause: %w", r.err)
	default:
		return nil
	}
}

// checkOnce wants a command to have run once, or not at all if it failed; and
// where it ran and failed, the error to say that it may have.
func (w *world) checkOnce(ctx context.Context, line string, r result) error {
	n, err := w.logged(ctx, line)
	n = max(n, w.ranBefore)
	switch {
	case err != nil:
		return err
	case n > 1:
		return fmt.Errorf("the command ran %d times", n)
	case n == 0 && r.err == nil && !r.asleep:
		return errors.New("a success, and the command did not run")
	case n == 1 && r.err != nil && !strings.Contains(r.err.Error(), "may have run"):
		return fmt.Errorf("the command ran, and the error does not say so: %w", r.err)
	default:
		return nil
	}
}

// checkStaging wants nothing to be left on its way. While the bridge cannot be
// reached it may be left, to be cleared away at a contact an hour later.
func (w *world) checkStaging(ctx context.Context, unreachable bool) error {
	left, err := w.stagingLeft(ctx)
	if err != nil || left == "" {
		return err
	}
	if !unreachable {
		return fmt.Errorf("staged files are left: %s", left)
	}
	_, err = w.inside(ctx, "find /workspace -path '*/.cloudflaresandbox*' -exec touch -d '2 hours ago' {} +")
	return err
}
