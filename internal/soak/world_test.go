package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/clitest"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// world is a bridge of its own, the watch in front of it, and Terraform.
type world struct {
	t     *testing.T
	local *localbridge.Bridge
	watch *watch
	cli   *clitest.CLI
	// counts are how much happened in the last undisturbed run of a command.
	counts map[string]int
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{t: t, cli: clitest.New(t), counts: map[string]int{}}
	w.cli.Require(t)
	local, err := localbridge.Start(t.Context(), localbridge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	w.local, w.watch = local, newWatch(t, local.Handler())
	w.cli.Env = []string{"CLOUDFLARE_SANDBOX_API_URL=" + w.watch.url, "CLOUDFLARE_SANDBOX_API_KEY=" + local.Key()}

	return w
}

// declare makes a fleet the configuration.
func (w *world) declare(f fleet) {
	w.t.Helper()

	if err := f.write(w.cli.Dir); err != nil {
		w.t.Fatal(err)
	}
}

// apply, plan and destroy are what Terraform is told, at full width.
func apply() []string {
	return []string{"apply", "-auto-approve", "-parallelism=50", "-no-color"}
}

func plan() []string {
	return []string{"plan", "-detailed-exitcode", "-parallelism=50", "-no-color"}
}

func destroy() []string {
	return []string{"destroy", "-auto-approve", "-parallelism=50", "-no-color"}
}

// happens is how much a run of a command is going to make happen: what it did
// the last time, or else a guess.
func (w *world) happens(command string, f fleet) int {
	if count := w.counts[command]; count > 0 {
		return count
	}

	return map[string]int{"apply": 4, "plan": 2, "destroy": 2}[command] * f.objects()
}

// must runs a command during which nothing happens that is not asked for.
func (w *world) must(args []string) {
	w.t.Helper()

	w.watch.expect()
	if output, err := w.cli.Try(w.t, args...); err != nil {
		w.t.Fatalf("%s: %v\n%s", args[0], err, output)
	}
	w.counts[args[0]] = w.watch.counted()
}

// faulty are signs that a run did not end as a failing run should, and killed
// those of a provider that did not live to its end.
var (
	faulty = []string{"panic:", "inconsistent result", "Error acquiring the state lock"}
	killed = []string{"did not respond", "plugin crashed"}
)

// sane fails the test if a run shows one of these signs.
func (w *world) sane(output string, err error, signs ...string) {
	w.t.Helper()

	if err == nil {
		return
	}
	for _, sign := range signs {
		if strings.Contains(output, sign) {
			w.t.Fatalf("%v\n%s", err, output)
		}
	}
}

// stored is what Terraform's state has.
type stored struct {
	// sandboxes are the ids, by name.
	sandboxes map[string]string
	// instances are those of the commands, by name.
	instances map[string]string
	// tunnels and mounts, by name.
	tunnels, mounts map[string]object
	objects         int
}

// object is as much of an object's attributes as the tests compare.
type object struct {
	ID         string
	InstanceID string `json:"instance_id"`
	SandboxID  string `json:"sandbox_id"`
	Port       int
	URL        string
	MountID    string `json:"mount_id"`
}

func (w *world) state() stored {
	w.t.Helper()

	s := stored{
		sandboxes: map[string]string{}, instances: map[string]string{}, tunnels: map[string]object{}, mounts: map[string]object{},
	}
	text, err := os.ReadFile(filepath.Join(w.cli.Dir, "terraform.tfstate"))
	// It is made empty at first, for the sake of its lock.
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return s
	}
	var file struct {
		Resources []struct {
			Mode, Type, Name string
			Instances        []struct{ Attributes object }
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &file)); err != nil {
		w.t.Fatal(err)
	}
	for _, resource := range file.Resources {
		if resource.Mode != "managed" {
			continue
		}
		s.objects += len(resource.Instances)
		for _, instance := range resource.Instances {
			switch resource.Type {
			case "cloudflaresandbox_sandbox":
				s.sandboxes[resource.Name] = instance.Attributes.ID
			case "cloudflaresandbox_exec":
				s.instances[resource.Name] = instance.Attributes.InstanceID
			case "cloudflaresandbox_tunnel":
				s.tunnels[resource.Name] = instance.Attributes
			case "cloudflaresandbox_bucket_mount":
				s.mounts[resource.Name] = instance.Attributes
			}
		}
	}

	return s
}

// expectNoOrphan checks that each container belongs to a sandbox in the state.
func (w *world) expectNoOrphan() {
	w.t.Helper()

	known := w.state().sandboxes
	for _, id := range w.local.Running() {
		if !slices.Contains(values(known), id) {
			w.t.Errorf("sandbox %s has a container and is not in the state: %v", id, known)
		}
	}
}

func values(m map[string]string) []string {
	var all []string
	for _, value := range m {
		all = append(all, value)
	}
	slices.Sort(all)

	return all
}

// quietAfter is how long after Terraform's end a process of a sandbox may still
// be there: what answers a connection that has broken comes to its own end.
const quietAfter = 10 * time.Second

// expectQuiet checks that no request is under way any more, and that nothing runs
// in any container.
func (w *world) expectQuiet(limit time.Duration) {
	w.t.Helper()

	ctx, cancel := context.WithTimeout(w.t.Context(), limit)
	defer cancel()
	var left []string
	err := await.Until(ctx, func() bool {
		left = nil
		for _, id := range w.local.Running() {
			if processes, err := w.local.Processes(id); err == nil {
				left = append(left, shorten(processes)...)
			}
		}
		if requests := w.watch.underWay(); requests > 0 {
			left = append(left, fmt.Sprintf("%d requests", requests))
		}

		return len(left) == 0
	})
	if err != nil {
		w.t.Fatalf("this goes on: %q\n%s", left, w.trace(left))
	}
}

// shorten leaves out the text of scripts, which is long, and keeps what they are
// told.
func shorten(processes []string) []string {
	for i, process := range processes {
		if end := max(len(process)-200, 0); end > 0 {
			processes[i] = process[:10] + "..." + process[end:]
		}
	}

	return processes
}

// trace tells of what goes on where it comes from: how often each request that
// is named in it was sent, and what there is of it inside.
func (w *world) trace(left []string) string {
	var text strings.Builder
	commands := w.local.CommandLog()
	for _, nonce := range slices.Compact(nonces.FindAllString(strings.Join(left, " "), -1)) {
		for _, command := range commands {
			if _, arguments, found := strings.Cut(command, " cloudflaresandbox "); found && strings.Contains(arguments, nonce) {
				fmt.Fprintf(&text, "sent: %s\n", arguments)
			}
		}
		for _, id := range w.local.Running() {
			found, err := w.local.Inside(id, "cd /tmp/.cloudflaresandbox/runs/"+nonce+" 2>/dev/null && ls -l --time-style=full-iso && date && head group status; true")
			fmt.Fprintf(&text, "inside: %s %v\n", found, err)
		}
	}

	return text.String()
}

var nonces = regexp.MustCompile("[0-9a-f]{32}")

// sandbox is a handle past the watch. A new one each time: one that has seen a
// container before would take the next for a fault.
func (w *world) sandbox(id string) (*bridge.Sandbox, error) {
	client, err := bridge.New(bridge.Config{URL: w.local.URL(), Key: w.local.Key()})
	if err != nil {
		return nil, err
	}

	return client.Sandbox(id)
}
