package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/semver"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// writeStateFixture has the test write a state with the version at hand instead
// of comparing: `make state-fixture`. What a release has written is never
// written again; the next version has a directory of its own.
const writeStateFixture = "WRITE_STATE_FIXTURE"

// stateDirectory has for every version a configuration with a resource of each
// type, and in stateFile the state that this version has made of it.
const (
	stateDirectory = "testdata/state"
	stateFile      = "state.json"
)

// A state that an earlier version has written is read by this one, and nothing
// is planned for what is there as it was left.
func TestStatesOfEarlierVersionsPlanEmpty(t *testing.T) {
	localOnly(t)

	versions, err := os.ReadDir(stateDirectory)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no states: %v", err)
	}
	for _, version := range versions {
		t.Run(version.Name(), func(t *testing.T) {
			b := localBridge(t, localbridge.Config{})
			directory := filepath.Join(stateDirectory, version.Name())
			c := b.cliWith(directory)
			if os.Getenv(writeStateFixture) == version.Name() {
				c.must("apply", "-auto-approve")
				state := readFile(t, filepath.Join(c.dir, "terraform.tfstate"))
				if err := os.WriteFile(filepath.Join(directory, stateFile), []byte(state), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}

			c.write("terraform.tfstate", readFile(t, filepath.Join(directory, stateFile)))
			b.restore(c.dir)
			if output, err := c.try("plan", "-detailed-exitcode"); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
			// Whoever can read it can also end what is in it.
			c.must("destroy", "-auto-approve")
		})
	}
}

// Every type of resource is in the newest state, so that a new one is not
// forgotten.
func TestNewestStateHasEveryResource(t *testing.T) {
	t.Parallel()

	entries, err := os.ReadDir(stateDirectory)
	if err != nil || len(entries) == 0 {
		t.Fatalf("no states: %v", err)
	}
	var versions []string
	for _, entry := range entries {
		if !semver.IsValid(entry.Name()) {
			t.Errorf("%s is no version", entry.Name())
		}
		versions = append(versions, entry.Name())
	}
	newest := filepath.Join(stateDirectory, newestVersion(versions), stateFile)
	have := map[string]bool{}
	for _, resource := range readState(t, newest).Resources {
		have[resource.Type] = true
	}
	for _, name := range resourceTypes(t) {
		if !have[name] {
			t.Errorf("%s is not in %s; see `make state-fixture`", name, newest)
		}
	}
}

// newestVersion is the last in the order of releases, which is not that of names.
func newestVersion(versions []string) string {
	return slices.MaxFunc(versions, semver.Compare)
}

func TestNewestVersionIsTheLastReleased(t *testing.T) {
	t.Parallel()

	for newest, versions := range map[string][]string{
		"v0.1":    {"v0.1"},
		"v0.10":   {"v0.1", "v0.10", "v0.2", "v0.9"},
		"v1.0":    {"v0.10", "v0.9", "v1.0"},
		"v0.10.2": {"v0.10", "v0.10.1", "v0.10.2", "v0.9.9"},
		"v10.0":   {"v10.0", "v2.11", "v9.9"},
	} {
		if got := newestVersion(versions); got != newest {
			t.Errorf("of %v: %s", versions, got)
		}
	}
}

func resourceTypes(t *testing.T) []string {
	t.Helper()

	server, err := factories()["cloudflaresandbox"]()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := server.GetProviderSchema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range schema.ResourceSchemas {
		names = append(names, name)
	}

	return names
}

// cliWith is the CLI in a copy of a directory, with the modes that the state
// was made with.
func (b *testBridge) cliWith(directory string) *cli {
	b.t.Helper()

	c := b.emptyCLI()
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(directory, path)
		if err != nil {
			return err
		}
		target := filepath.Join(c.dir, relative)
		if entry.IsDir() {
			if err := os.MkdirAll(target, 0o755); err != nil {
				return err
			}

			return os.Chmod(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}

		return os.Chmod(target, 0o644)
	})
	if err != nil {
		b.t.Fatal(err)
	}

	return c
}

// savedState is as much of a state's file as it takes to bring back what it
// tells of.
type savedState struct {
	Resources []struct {
		Type, Name string
		Instances  []struct{ Attributes map[string]any }
	}
}

func readState(t *testing.T, path string) savedState {
	t.Helper()

	var state savedState
	if err := json.Unmarshal([]byte(readFile(t, path)), &state); err != nil {
		t.Fatal(err)
	}

	return state
}

// restore makes the sandbox be what the state in a directory says, under the
// same names.
func (b *testBridge) restore(dir string) {
	b.t.Helper()

	state := readState(b.t, filepath.Join(dir, "terraform.tfstate"))
	for _, kind := range []string{"sandbox", "file", "directory", "tunnel", "bucket_mount"} {
		for _, resource := range state.Resources {
			if resource.Type != "cloudflaresandbox_"+kind {
				continue
			}
			attributes := resource.Instances[0].Attributes
			text := func(name string) string { value, _ := attributes[name].(string); return value }
			switch kind {
			case "sandbox":
				// The container has the name that it had.
				b.post(text("id"), "exec", map[string]any{"argv": []string{
					"bash", "-c", "umask 077; mkdir -p /tmp/.cloudflaresandbox/runs; echo " + text("instance_id") + " >/tmp/.cloudflaresandbox/instance",
				}})
			case "file":
				content := text("content")
				switch {
				case text("content_base64") != "":
					decoded, err := base64.StdEncoding.DecodeString(text("content_base64"))
					if err != nil {
						b.t.Fatal(err)
					}
					content = string(decoded)
				case text("source") != "":
					content = readFile(b.t, filepath.Join(dir, text("source")))
				case attributes["content_wo_version"] != nil:
					content = "not in the state"
				}
				b.put(text("sandbox_id"), text("path"), content, text("mode"))
			case "directory":
				b.putAll(text("sandbox_id"), text("path"), filepath.Join(dir, text("source")))
			case "tunnel":
				b.post(text("sandbox_id"), fmt.Sprintf("tunnel/%v", attributes["port"]), map[string]any{})
			case "bucket_mount":
				b.inside(text("sandbox_id"), "mkdir -p "+text("mount_path"))
				b.post(text("sandbox_id"), "mount", map[string]any{
					"bucket": text("bucket"), "mountPath": text("mount_path"), "options": map[string]any{
						"endpoint": text("endpoint"), "prefix": text("prefix"), "readOnly": attributes["read_only"],
						"credentials": map[string]any{"accessKeyId": "a", "secretAccessKey": "b"},
						"s3fsOptions": []string{"fsname=" + text("mount_id")},
					},
				})
			}
		}
	}
}

// putAll brings a local directory into the sandbox.
func (b *testBridge) putAll(sandboxID, path, local string) {
	b.t.Helper()

	err := filepath.WalkDir(local, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(local, name)
		if err != nil {
			return err
		}
		b.put(sandboxID, path+"/"+filepath.ToSlash(relative), readFile(b.t, name), "0644")

		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}
