package provider_test

import (
	"context"
	"errors"
	"fmt"
)

// operation is a row of the matrix.
type operation struct {
	object, name string
	// needs says that the object lives in a sandbox that is there before it.
	needs bool
	// alone says that it is about the bridge, which nobody else may use then.
	alone bool
	// setup, if set, makes what is needed on this machine.
	setup func(w *world) error
	// prepare brings the world to where the operation starts.
	prepare func(ctx context.Context, c *core, w *world) error
	// act is the operation.
	act func(ctx context.Context, c *core, w *world) error
	// proves checks what a success has promised.
	proves func(ctx context.Context, w *world) error
	// truth checks that what is known of the object is what is there, whatever
	// became of the operation. The bridge is healed, and it is another run.
	truth func(ctx context.Context, c *core, w *world) error
	// finish brings the object to where it should be, checks that, and removes it.
	finish func(ctx context.Context, c *core, w *world) error
	// known are the sandboxes that the state has.
	known func(w *world) []string
	// once is the line that its command writes to the log, and may write once
	// only; "" if it runs none.
	once string
}

func (o operation) String() string { return o.object + " " + o.name }

// resourceSubject is a resource and how to see in the sandbox what it is about.
type resourceSubject struct {
	// kind is its type without the provider's name.
	kind  string
	needs bool
	// first and second are two configurations, of which the second is an update
	// of the first; nil if there is none.
	first, second func(w *world) arguments
	// setup, if set, makes what is needed on this machine.
	setup func(w *world) error
	// before, if set, happens between create and the operation update.
	before func(ctx context.Context, c *core, w *world) error
	// importID is nil for what cannot be imported.
	importID func(w *world) string
	// check compares the state with what is there.
	check func(ctx context.Context, w *world) error
	// gone checks that nothing is left of it after a successful delete.
	gone func(ctx context.Context, w *world) error
	// once is, by operation, the line that its command writes to the log.
	once map[string]string
	// known are the sandboxes that the state has.
	known func(w *world) []string
	// unmarked says that its state has no place for a doubt, which only a refresh
	// resolves.
	unmarked bool
}

// operations are the rows of a resource.
func (s resourceSubject) operations() []operation {
	row := func(name string, prepare, act func(context.Context, *core, *world) error, proves func(context.Context, *world) error) operation {
		return operation{
			object: s.kind, name: name, needs: s.needs, prepare: prepare, act: act, proves: proves,
			truth: s.truth, finish: s.finish, known: s.known, once: s.once[name], setup: s.setup,
		}
	}
	// What is known of the world's object when nothing is prepared.
	nothing := func(_ context.Context, c *core, w *world) error {
		w.state = c.noState(s.kind)
		return nil
	}
	rows := []operation{
		row("create", nothing, s.create, s.present),
		row("read", s.create, func(ctx context.Context, c *core, w *world) (err error) {
			w.state, err = c.refresh(ctx, s.kind, w.state)
			return err
		}, nil),
	}
	if s.second != nil {
		rows = append(rows, row("update", s.beforeUpdate, func(ctx context.Context, c *core, w *world) (err error) {
			w.state, err = c.apply(ctx, s.kind, w.state, s.second(w))
			return err
		}, s.present))
	}
	rows = append(rows, row("delete", s.create, s.remove, s.gone))
	if s.importID != nil {
		rows = append(rows, row("import", s.create, func(ctx context.Context, c *core, w *world) error {
			imported, err := c.adopt(ctx, s.kind, s.importID(w))
			if err == nil && imported.exists() {
				w.state = imported
			}
			return err
		}, nil))
	}
	return rows
}

func (s resourceSubject) create(ctx context.Context, c *core, w *world) (err error) {
	w.state, err = c.apply(ctx, s.kind, c.noState(s.kind), s.first(w))
	return err
}

func (s resourceSubject) beforeUpdate(ctx context.Context, c *core, w *world) (err error) {
	if err := s.create(ctx, c, w); err != nil || s.before == nil {
		return err
	}
	if err := s.before(ctx, c, w); err != nil {
		return err
	}
	w.state, err = c.refresh(ctx, s.kind, w.state)
	return err
}

func (s resourceSubject) remove(ctx context.Context, c *core, w *world) (err error) {
	w.state, err = c.apply(ctx, s.kind, w.state, nil)
	if err == nil && w.state.exists() {
		return errors.New("the delete left a state")
	}
	return err
}

// present is what a success promises: the state has the object, and it is there.
func (s resourceSubject) present(ctx context.Context, w *world) error {
	if !w.state.exists() {
		return errors.New("a success, and nothing in the state")
	}
	return s.check(ctx, w)
}

// truth is a refresh, after which the state must tell what is there.
func (s resourceSubject) truth(ctx context.Context, c *core, w *world) (err error) {
	if !w.state.exists() {
		// What the state does not have must not be there.
		return s.gone(ctx, w)
	}
	if err := s.believed(ctx, c, w); err != nil {
		return fmt.Errorf("without a refresh: %w", err)
	}
	if w.state, err = c.refresh(ctx, s.kind, w.state); err != nil {
		return fmt.Errorf("healed refresh: %w", err)
	}
	if !w.state.exists() || w.state.tainted {
		return nil
	}
	return s.check(ctx, w)
}

// believed checks that what a plan without a refresh takes for done is done, as
// long as the container is the one that the operation found: that it is lost
// shows in a refresh only.
func (s resourceSubject) believed(ctx context.Context, c *core, w *world) error {
	container, err := w.instance(ctx, w.sandbox)
	if err != nil || container == "" || container != w.container || w.state.tainted || s.unmarked {
		return err
	}
	for _, given := range []func(*world) arguments{s.first, s.second} {
		if given == nil {
			continue
		}
		change, err := c.plan(ctx, s.kind, w.state, given(w))
		if err == nil && change.planned.Equal(w.state.value) {
			err = s.check(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish applies until the plan is empty, and destroys.
func (s resourceSubject) finish(ctx context.Context, c *core, w *world) (err error) {
	if w.state, err = c.converge(ctx, s.kind, w.state, s.first(w)); err != nil {
		return fmt.Errorf("healed: %w", err)
	}
	if err := s.present(ctx, w); err != nil {
		return fmt.Errorf("healed apply: %w", err)
	}
	if err := s.remove(ctx, c, w); err != nil {
		return fmt.Errorf("healed destroy: %w", err)
	}
	return s.gone(ctx, w)
}

// readSubject is a data source, an action, or an ephemeral resource without an end.
type readSubject struct {
	object, name string
	needs, alone bool
	prepare      func(ctx context.Context, w *world) error
	act          func(ctx context.Context, c *core, w *world) error
	// check looks at the result of a success.
	check func(ctx context.Context, w *world) error
	// once is the line that its command writes to the log.
	once string
	// always, if set, holds whatever became of it.
	always func(w *world) error
}

func (s readSubject) operations() []operation {
	return []operation{{
		object: s.object, name: s.name, needs: s.needs, alone: s.alone, act: s.act, proves: s.check,
		prepare: func(ctx context.Context, _ *core, w *world) error {
			if s.prepare == nil {
				return nil
			}
			return s.prepare(ctx, w)
		},
		once: s.once,
		truth: func(_ context.Context, _ *core, w *world) error {
			if s.always == nil {
				return nil
			}
			return s.always(w)
		},
		finish: func(ctx context.Context, c *core, w *world) error {
			if s.prepare != nil {
				if err := s.prepare(ctx, w); err != nil {
					return err
				}
			}
			if err := s.act(ctx, c, w); err != nil {
				return fmt.Errorf("healed: %w", err)
			}
			return s.check(ctx, w)
		},
		known: func(*world) []string { return nil },
	}}
}
