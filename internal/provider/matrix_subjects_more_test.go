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

func directorySubject() resourceSubject {
	given := func(name string) func(*world) arguments {
		return func(w *world) arguments {
			return arguments{"sandbox_id": w.sandbox, "path": "made/tree", "source": filepath.Join(w.dir, name)}
		}
	}

	return resourceSubject{
		kind: "directory", needs: true, known: none, first: given("first"), second: given("second"),
		setup: func(w *world) error {
			return errors.Join(
				writeTree(filepath.Join(w.dir, "first"), map[string]string{"a": "a1", "sub/b": "b1", "sub/c": "c1"}),
				writeTree(filepath.Join(w.dir, "second"), map[string]string{"a": "a2", "sub/b": "b1", "new/d": "d2"}),
			)
		},
		check: func(ctx context.Context, w *world) error {
			// The state has a hash of each file, and so has the sandbox.
			listed, err := w.inside(ctx, "cd made/tree 2>/dev/null && find * -type f -print0 | sort -z | xargs -0r sha256sum; exit 0")
			if err != nil {
				return err
			}
			files := attributesOfMap(w.state.value, "files")
			for line := range strings.Lines(listed) {
				sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
				if files[name] != sum {
					return fmt.Errorf("%s has %s in the sandbox, and %q in the state", name, sum, files[name])
				}
				delete(files, name)
			}
			if len(files) > 0 {
				return fmt.Errorf("in the state and not in the sandbox: %v", files)
			}
			return nil
		},
		gone: func(ctx context.Context, w *world) error {
			return w.holds(ctx, "ls -A made/tree 2>/dev/null; exit 0", "")
		},
	}
}

func writeTree(root string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func tunnelSubject() resourceSubject {
	given := func(w *world) arguments { return arguments{"sandbox_id": w.sandbox, "port": 8080} }

	return resourceSubject{
		kind: "tunnel", needs: true, known: none, first: given, second: given,
		// An update asks for a tunnel of which an import knows only the port.
		before: func(ctx context.Context, c *core, w *world) (err error) {
			w.state, err = c.adopt(ctx, "tunnel", w.sandbox+"/8080")
			return err
		},
		check: func(ctx context.Context, w *world) error {
			if attribute(w.state.value, "url") == "" {
				return nil // imported, and not asked for yet
			}
			return w.inContainer(ctx, attribute(w.state.value, "instance_id"))
		},
		gone: func(context.Context, *world) error { return nil },
	}
}

// inContainer checks that a container is the one that runs the sandbox.
func (w *world) inContainer(ctx context.Context, instance string) error {
	running, err := w.instance(ctx, w.sandbox)
	if err == nil && running != instance {
		err = fmt.Errorf("the state says container %q, and %q runs", instance, running)
	}
	return err
}

func mountSubject() resourceSubject {
	const table = `while read -r device path rest; do [[ $path == /workspace/bucket ]] && echo "$device"; done </proc/mounts; exit 0`

	return resourceSubject{
		kind: "bucket_mount", needs: true, known: none,
		first: func(w *world) arguments {
			return arguments{
				"sandbox_id": w.sandbox, "mount_path": "bucket", "bucket": "bucket", "endpoint": "https://s3.example",
				"access_key_id_wo": "key", "secret_access_key_wo": "secret", "credentials_wo_version": 1,
			}
		},
		check: func(ctx context.Context, w *world) error {
			if err := w.holds(ctx, table, attribute(w.state.value, "mount_id")); err != nil {
				return err
			}
			return w.inContainer(ctx, attribute(w.state.value, "instance_id"))
		},
		gone: func(ctx context.Context, w *world) error { return w.holds(ctx, table, "") },
	}
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

// poolRows are the actions that change the bridge's pool.
func poolRows() []operation {
	row := func(kind string) []operation {
		return readSubject{
			object: "action " + kind, name: "invoke",
			act:   func(ctx context.Context, c *core, _ *world) error { return c.invoke(ctx, kind, arguments{}) },
			check: func(context.Context, *world) error { return nil },
		}.operations()
	}

	return slices.Concat(row("prime_pool"), row("shutdown_prewarmed"))
}
