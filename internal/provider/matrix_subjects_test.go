package provider_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// rows are the operations of every object of the provider. A new object is one
// more entry.
func rows() []operation {
	return slices.Concat(
		sandboxSubject().operations(),
		fileSubject().operations(),
		directorySubject().operations(),
		execSubject().operations(),
		tunnelSubject().operations(),
		mountSubject().operations(),
		reads(),
		archiveRow(),
		execReads(),
		sandboxEphemeralRows(),
		poolRows(),
	)
}

func sandboxSubject() resourceSubject {
	// A start waits for room, and no cell has minutes.
	given := func(*world) arguments { return arguments{"timeouts": arguments{"create": "15s", "update": "15s"}} }
	known := func(w *world) []string { return []string{attribute(w.state.value, "id")} }

	return resourceSubject{
		kind: "sandbox", first: given, second: given,
		// An update starts what was found asleep.
		before: func(_ context.Context, _ *core, w *world) error {
			answer := jsonAnswer(503, "capacity_exceeded", "instance limit reached (1/1)")
			w.sleep()
			w.proxy.Set(faultproxy.ForGood(1, faultproxy.Fault{Answer: &answer}))
			return nil
		},
		importID: func(w *world) string { return attribute(w.state.value, "id") },
		check: func(ctx context.Context, w *world) error {
			instance, err := w.instance(ctx, attribute(w.state.value, "id"))
			if err == nil && instance != attribute(w.state.value, "instance_id") {
				err = fmt.Errorf("the state says container %q, and %q runs", attribute(w.state.value, "instance_id"), instance)
			}
			return err
		},
		gone: func(_ context.Context, w *world) error {
			return w.checkOrphans()
		},
		known: known,
	}
}

// holds checks what a script in the sandbox prints.
func (w *world) holds(ctx context.Context, script, want string) error {
	got, err := w.inside(ctx, script)
	if err == nil && got != want {
		err = fmt.Errorf("%s prints %q in the sandbox, want %q", script, got, want)
	}
	return err
}

func none(*world) []string { return nil }

func fileSubject() resourceSubject {
	given := func(content, mode string) func(*world) arguments {
		return func(w *world) arguments {
			return arguments{"sandbox_id": w.sandbox, "path": "made/file", "content": content, "mode": mode}
		}
	}

	return resourceSubject{
		kind: "file", needs: true, known: none,
		first: given("first\n", "0644"), second: given("second\n", "0600"),
		importID: func(w *world) string { return w.sandbox + "/workspace/made/file" },
		check: func(ctx context.Context, w *world) error {
			return w.holds(ctx, "sha256sum <made/file && stat -c 0%a made/file",
				attribute(w.state.value, "sha256")+"  -\n"+attribute(w.state.value, "mode"))
		},
		gone: func(ctx context.Context, w *world) error { return w.holds(ctx, "ls made 2>/dev/null; exit 0", "") },
	}
}

func execSubject() resourceSubject {
	given := func(w *world) arguments {
		return arguments{
			"sandbox_id": w.sandbox, "script": "echo $WHAT >>/workspace/log; echo done", "environment": arguments{"WHAT": "ran"},
			"on_destroy": arguments{"command": []any{"sh", "-c", "echo ended >>/workspace/log"}},
		}
	}

	return resourceSubject{
		kind: "exec", needs: true, known: none, first: given,
		check: func(ctx context.Context, w *world) error {
			if got := attribute(w.state.value, "stdout"); got != "done\n" {
				return fmt.Errorf("stdout is %q", got)
			}
			return w.inContainer(ctx, attribute(w.state.value, "instance_id"))
		},
		gone: func(context.Context, *world) error { return nil },
		once: map[string]string{"create": "ran", "delete": "ended"},
	}
}

// logged is how often a line is in the log that commands write.
func (w *world) logged(ctx context.Context, line string) (int, error) {
	if !slices.Contains(w.local.Running(), w.sandbox) {
		return 0, nil
	}
	log, err := w.inside(ctx, "cat /workspace/log 2>/dev/null; exit 0")
	return strings.Count(log+"\n", line+"\n"), err
}

// execReads are the other faces of a command.
func execReads() []operation {
	const once = "ran"
	command := func(w *world) arguments {
		return arguments{"sandbox_id": w.sandbox, "command": []any{"sh", "-c", "echo ran >>/workspace/log; echo done"}}
	}
	python := func(w *world) arguments {
		return arguments{"sandbox_id": w.sandbox, "code": "open('/workspace/log', 'a').write('ran\\n')\nprint('done')\n6 * 7"}
	}
	printed := func(want string) func(context.Context, *world) error {
		return func(_ context.Context, w *world) error {
			if w.result != want {
				return fmt.Errorf("the result is %q, want %q", w.result, want)
			}
			return nil
		}
	}
	data := func(kind, result string, given func(*world) arguments) func(context.Context, *core, *world) error {
		return func(ctx context.Context, c *core, w *world) error {
			value, err := c.read(ctx, kind, given(w))
			w.result = attribute(value, "stdout") + attribute(value, result)
			return err
		}
	}
	ephemeral := func(kind, result string, given func(*world) arguments) func(context.Context, *core, *world) error {
		return func(ctx context.Context, c *core, w *world) error {
			open, err := c.open(ctx, kind, given(w))
			w.result = attribute(open.value, "stdout") + attribute(open.value, result)
			return err
		}
	}

	return slices.Concat(
		readSubject{object: "data exec", name: "read", needs: true, act: data("exec", "", command), check: printed("done\n"), once: once}.operations(),
		readSubject{object: "ephemeral exec", name: "open", needs: true, act: ephemeral("exec", "", command), check: printed("done\n"), once: once}.operations(),
		readSubject{object: "data python", name: "read", needs: true, act: data("python", "result", python), check: printed("done\n42"), once: once}.operations(),
		readSubject{object: "ephemeral python", name: "open", needs: true, act: ephemeral("python", "result", python), check: printed("done\n42"), once: once}.operations(),
		readSubject{
			object: "action exec", name: "invoke", needs: true, once: once,
			act:   func(ctx context.Context, c *core, w *world) error { return c.invoke(ctx, "exec", command(w)) },
			check: func(context.Context, *world) error { return nil },
		}.operations(),
	)
}

// reads are the data sources that change nothing.
func reads() []operation {
	return slices.Concat(
		readSubject{
			object: "data file", name: "read", needs: true,
			prepare: func(ctx context.Context, w *world) error {
				_, err := w.inside(ctx, "echo content >/workspace/read")
				return err
			},
			act: func(ctx context.Context, c *core, w *world) error {
				value, err := c.read(ctx, "file", arguments{"sandbox_id": w.sandbox, "path": "read"})
				w.result = attribute(value, "content")
				return err
			},
			check: func(_ context.Context, w *world) error {
				if w.result != "content\n" {
					return fmt.Errorf("the content is %q", w.result)
				}
				return nil
			},
		}.operations(),
		readSubject{
			object: "data bridge", name: "read",
			act: func(ctx context.Context, c *core, w *world) error {
				value, err := c.read(ctx, "bridge", arguments{})
				w.result = attribute(value, "healthy")
				return err
			},
			check: func(_ context.Context, w *world) error {
				if w.result != "true" {
					return fmt.Errorf("healthy is %q", w.result)
				}
				return nil
			},
		}.operations(),
	)
}

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
		w.open = openedObject{}
		return nil
	}
	finish := func(ctx context.Context, c *core, w *world) error {
		if w.open.private == nil {
			return nil
		}
		return end(ctx, c, w)
	}
	row := func(name string, prepare, act func(context.Context, *core, *world) error) operation {
		return operation{
			object: "ephemeral sandbox", name: name, prepare: prepare, act: act, finish: finish, known: known,
			proves: func(context.Context, *world) error { return nil },
			truth:  func(context.Context, *core, *world) error { return nil },
		}
	}

	return []operation{
		row("open", func(context.Context, *core, *world) error { return nil }, open),
		row("renew", open, func(ctx context.Context, c *core, w *world) error { return c.renew(ctx, kind, w.open) }),
		row("close", open, end),
	}
}
