package soak_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// expectFleet checks from inside the sandboxes that they are as declared, and
// that nothing of the work is left in them. Commands have left as many lines as
// they were run; once is the rule, and more only where they were interrupted.
func (w *world) expectFleet(f fleet, once bool) {
	w.t.Helper()

	state := w.state()
	if state.objects != f.objects() {
		w.t.Errorf("%d objects are in the state, %d are declared", state.objects, f.objects())
	}
	if running := w.local.Running(); !slices.Equal(running, values(state.sandboxes)) {
		w.t.Errorf("%v have containers, %v are in the state", running, state.sandboxes)
	}
	w.expectQuiet(quietAfter)

	var wait sync.WaitGroup
	for s := range f.sandboxes {
		wait.Go(func() {
			if err := w.checkSandbox(f, s, state, once); err != nil {
				w.t.Errorf("%s: %v", sandboxName(s), err)
			}
		})
	}
	wait.Wait()
	if w.t.Failed() {
		w.t.FailNow()
	}
}

func (w *world) checkSandbox(f fleet, s int, state stored, once bool) error {
	name := sandboxName(s)
	id := state.sandboxes[name]
	sandbox, err := w.sandbox(id)
	if err != nil {
		return err
	}
	instance, err := sandbox.Instance(w.t.Context())
	if err != nil {
		return err
	}
	if err := w.checkRemains(id); err != nil {
		return err
	}
	if err := w.checkReach(f, s, state, instance); err != nil {
		return err
	}
	found, err := w.list(id)
	if err != nil {
		return err
	}
	if err := found.compare(f.declared(s)); err != nil {
		return err
	}

	lines, err := w.lines(id)
	if err != nil {
		return err
	}
	for command := range commands {
		if got := state.instances[fmt.Sprintf("%s_%d", name, command)]; got != instance {
			return fmt.Errorf("command %d ran in instance %s, and the container is %s", command, got, instance)
		}
		if lines[f.line(command)] == 0 {
			return fmt.Errorf("command %d has not run: %v", command, lines)
		}
	}
	for line, count := range lines {
		if once && count != 1 {
			return fmt.Errorf("command %s ran %d times", line, count)
		}
	}

	return nil
}

// lines counts the lines that commands have left, by name.
func (w *world) lines(id string) (map[string]int, error) {
	output, err := w.local.Inside(id, `cd /tmp/ran && for f in *; do echo "$f $(wc -l <"$f")"; done`)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for line := range strings.Lines(output) {
		var name string
		var count int
		if _, err := fmt.Sscan(line, &name, &count); err != nil {
			return nil, err
		}
		counts[name] = count
	}

	return counts, nil
}

// remains says what is left of work that is over: staged files, and directories
// of commands without an end.
const remains = `
find /workspace -path '*/.cloudflaresandbox*'
cd /tmp/.cloudflaresandbox/runs 2>/dev/null || exit 0
shopt -s nullglob
for run in *; do
  [[ -e $run/status ]] || echo "$run: $(ls "$run")"
done`

func (w *world) checkRemains(id string) error {
	output, err := w.local.Inside(id, remains)
	if err != nil {
		return err
	}
	if output != "" {
		return fmt.Errorf("left behind: %s", output)
	}

	return nil
}

// expectNothingRemains checks, after a run that was interrupted, that nothing
// goes on or lies about in the containers, and that each belongs to the state, with
// what leads to it.
func (w *world) expectNothingRemains(limit time.Duration) {
	w.t.Helper()

	w.expectQuiet(limit)
	w.expectNoOrphan()
	state := w.state()
	for _, id := range w.local.Running() {
		if err := errors.Join(w.checkRemains(id), w.checkKnown(id, state)); err != nil {
			w.t.Errorf("sandbox %s: %v", id, err)
		}
	}
}

// expectNothing checks that all is destroyed.
func (w *world) expectNothing() {
	w.t.Helper()

	if state := w.state(); state.objects != 0 {
		w.t.Errorf("%d objects are in the state after destroy", state.objects)
	}
	if running := w.local.Running(); len(running) != 0 {
		w.t.Errorf("containers are left after destroy: %v", running)
	}
}
