package provider_test

import (
	"fmt"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// losses are the ways in which a container goes, before a request is passed on.
func losses() []fault {
	lost := func(name, means string, lose func(w *world)) fault {
		return fault{
			name: name, means: means, sleeps: true, onceOnly: true, cause: anyCause(),
			make: func(w *world) faultproxy.Fault { return faultproxy.Fault{Before: func() { lose(w) }} },
		}
	}

	return []fault{
		lost("put to sleep", "The container sleeps. The next request starts a fresh, empty one.", (*world).sleep),
		lost("killed", "The container crashes. For a moment requests fail, then the next one starts a fresh, empty one.", func(w *world) {
			for _, id := range w.ids() {
				// For a moment after a crash requests fail.
				if w.local.Kill(id) {
					w.local.FailNext(id, 2)
				}
			}
		}),
		{
			name:  "killed after",
			means: "The request is carried out, then the container crashes, and the answer is lost.", sleeps: true, onceOnly: true, cause: anyCause(),
			make: func(w *world) faultproxy.Fault {
				return faultproxy.Fault{After: w.loseAfter, Cut: &faultproxy.Cut{At: faultproxy.AfterRequest, Way: faultproxy.Reset}}
			},
		},
		lost("recycled", "The container was replaced by a fresh, empty one, which is there already.", func(w *world) {
			for _, id := range w.ids() {
				if w.local.Kill(id) {
					// Somebody else's request has started the next one already.
					if sandbox, err := w.direct(id); err == nil {
						_, _ = sandbox.Instance(w.ctx)
					}
				}
			}
		}),
	}
}

// loseAfter is the end of the containers, of which nobody could tell afterwards
// what has run there.
func (w *world) loseAfter() {
	if w.line != "" {
		if n, err := w.logged(w.ctx, w.line); err == nil {
			w.ranBefore = n
		}
	}
	w.sleep()
}

// Ten sandboxes that sleep can be refreshed and destroyed where only two may run.
func TestSleepingSandboxesBeyondTheLimit(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()

	run := func() *core {
		c, err := newCore(ctx, b.local.URL(), b.local.Key(), b.schema, quick)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var sandboxes, files []stateOf
	for i := range 10 {
		sandbox, err := run().apply(ctx, "sandbox", run().noState("sandbox"), arguments{})
		if err != nil {
			t.Fatal(err)
		}
		file, err := run().apply(ctx, "file", run().noState("file"), arguments{
			"sandbox_id": attribute(sandbox.value, "id"), "path": "x", "content": fmt.Sprint(i),
		})
		if err != nil {
			t.Fatal(err)
		}
		sandboxes, files = append(sandboxes, sandbox), append(files, file)
	}
	b.local.SleepAll()
	b.local.SetMaxInstances(2)

	c := run()
	var err error
	awake := 0
	for i := range sandboxes {
		if sandboxes[i], err = c.refresh(ctx, "sandbox", sandboxes[i]); err != nil {
			t.Fatalf("refresh: %v", err)
		}
		if attribute(sandboxes[i].value, "instance_id") != "" {
			awake++
		}
		if files[i], err = c.refresh(ctx, "file", files[i]); err != nil || files[i].exists() {
			t.Fatalf("refresh of a file that is gone: %v, in the state: %t", err, files[i].exists())
		}
	}
	if awake != 2 || b.local.Assigned() != 2 {
		t.Errorf("%d are awake in the state, and %d at the bridge, want 2", awake, b.local.Assigned())
	}
	c = run()
	for _, sandbox := range sandboxes {
		if _, err := c.apply(ctx, "sandbox", sandbox, nil); err != nil {
			t.Errorf("destroy: %v", err)
		}
	}
	if left := b.local.Running(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
