package provider_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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

// fileRead reads a file of so many lines of two bytes each.
func fileRead(name string, lines int) []operation {
	return readSubject{
		object: "data file", name: name, needs: true,
		prepare: func(ctx context.Context, w *world) error {
			_, err := w.inside(ctx, fmt.Sprintf("yes | head -n %d >/workspace/read", lines))
			return err
		},
		act: func(ctx context.Context, c *core, w *world) error {
			value, err := c.read(ctx, "file", arguments{"sandbox_id": w.sandbox, "path": "read", "max_bytes": 2 * lines})
			w.result = attribute(value, "content")
			return err
		},
		check: func(_ context.Context, w *world) error {
			if w.result != strings.Repeat("y\n", lines) {
				return fmt.Errorf("the content has %d bytes, or other ones", len(w.result))
			}
			return nil
		},
	}.operations()
}

// reads are the data sources that change nothing.
func reads() []operation {
	return slices.Concat(
		fileRead("read", 1),
		// By a request of its own.
		fileRead("read 2 MB", 1_000_000),
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

// archiveRow is a data source that writes a file on this machine.
func archiveRow() []operation {
	output := func(w *world) string { return filepath.Join(w.dir, "archive.tar.gz") }

	return readSubject{
		object: "data archive", name: "read", needs: true,
		prepare: func(ctx context.Context, w *world) error {
			_, err := w.inside(ctx, "mkdir -p /workspace/packed; echo content >/workspace/packed/file")
			return err
		},
		act: func(ctx context.Context, c *core, w *world) error {
			value, err := c.read(ctx, "archive", arguments{"sandbox_id": w.sandbox, "path": "packed", "output_path": output(w)})
			w.result = attribute(value, "sha256")
			return err
		},
		check: func(_ context.Context, w *world) error {
			content, err := os.ReadFile(output(w))
			if err == nil && fmt.Sprintf("%x", sha256.Sum256(content)) != w.result {
				err = errors.New("the archive is not what the state says")
			}
			return err
		},
		// Whatever became of it: a whole archive or none, and nothing beside it.
		always: func(w *world) error {
			entries, err := os.ReadDir(w.dir)
			for _, entry := range entries {
				if entry.Name() != "archive.tar.gz" || w.result == "" {
					err = errors.Join(err, fmt.Errorf("%s is left on this machine", entry.Name()))
				}
			}
			return err
		},
	}.operations()
}
