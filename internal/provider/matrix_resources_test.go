package provider_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

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
				return nil // imported and not asked for yet, or in doubt
			}
			if open := w.local.Tunnels(w.sandbox); !slices.Equal(open, []int{8080}) {
				return fmt.Errorf("tunnels to ports %d", open)
			}
			return w.inContainer(ctx, attribute(w.state.value, "instance_id"))
		},
		gone: func(_ context.Context, w *world) error {
			if open := w.local.Tunnels(w.sandbox); len(open) > 0 {
				return fmt.Errorf("tunnels to ports %d", open)
			}
			return nil
		},
	}
}

func mountSubject() resourceSubject {
	const table = `while read -r device path rest; do [[ $path == /workspace/bucket ]] && echo "$device"; done </proc/mounts; exit 0`

	return resourceSubject{
		kind: "bucket_mount", needs: true, known: none, unmarked: true,
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

func none(*world) []string { return nil }

// writeTree makes files, and the directories that they are in.
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
