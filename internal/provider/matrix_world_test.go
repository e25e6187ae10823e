package provider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"terraform-provider-cloudflaresandbox/internal/await"
	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// world is where one operation takes place: a sandbox on a bridge that others
// use as well, a proxy of its own before it, and what Terraform's state has.
type world struct {
	ctx    context.Context // of the cell
	local  *localbridge.Bridge
	proxy  *faultproxy.Proxy
	schema *tfprotov6.GetProviderSchemaResponse

	// turn differs between cells, for faults that have several forms.
	turn int
	// dir is a directory on this machine.
	dir string
	// sandbox is the one that the object lives in, made before it.
	sandbox string
	// container is the one that runs the sandbox when the operation starts.
	container string
	// state is that of the object, if it is a resource.
	state stateOf
	// open is the object, if it is ephemeral.
	open openedObject
	// line is what the object's command writes to the log, "" if it runs none, and
	// ranBefore how often it had when the container was lost after that.
	line      string
	ranBefore int
	// result is what was read, of an object without a state.
	result string
}

func newWorld(ctx context.Context, local *localbridge.Bridge, schema *tfprotov6.GetProviderSchemaResponse, dir string) (*world, error) {
	proxy, err := faultproxy.Start(local.URL())
	if err != nil {
		return nil, err
	}
	return &world{ctx: ctx, local: local, proxy: proxy, schema: schema, dir: dir}, nil
}

// close ends what the world has started.
func (w *world) close() {
	for _, id := range w.ids() {
		w.local.Kill(id)
	}
	w.proxy.Close()
}

// run is one run of Terraform.
func (w *world) run(ctx context.Context, tune func(*bridge.Config)) (*core, error) {
	return newCore(ctx, w.proxy.URL, w.local.Key(), w.schema, tune)
}

// ids are all the sandboxes that requests of this world have named.
func (w *world) ids() []string {
	var ids []string
	for _, request := range w.proxy.Requests() {
		if request.SandboxID != "" && !slices.Contains(ids, request.SandboxID) {
			ids = append(ids, request.SandboxID)
		}
	}
	if w.sandbox != "" && !slices.Contains(ids, w.sandbox) {
		ids = append(ids, w.sandbox)
	}
	return ids
}

// sleep puts all its sandboxes to sleep.
func (w *world) sleep() {
	for _, id := range w.ids() {
		w.local.Sleep(id)
	}
}

// client speaks to the bridge past the proxy.
func (w *world) client() (*bridge.Client, error) {
	return bridge.New(bridge.Config{URL: w.local.URL(), Key: w.local.Key()})
}

// direct is the handle of a sandbox past the proxy.
func (w *world) direct(id string) (*bridge.Sandbox, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	return client.Sandbox(id)
}

// settle makes the sandbox.
func (w *world) settle(ctx context.Context) error {
	client, err := w.client()
	if err != nil {
		return err
	}
	if w.sandbox, err = client.CreateSandbox(ctx); err != nil {
		return err
	}
	return w.start(ctx)
}

// start starts the sandbox's container.
func (w *world) start(ctx context.Context) error {
	sandbox, err := w.direct(w.sandbox)
	if err != nil {
		return err
	}
	_, err = sandbox.Start(ctx)
	return err
}

// inside runs a script in the sandbox, and starts a container if there is none.
// It returns what the script prints.
func (w *world) inside(ctx context.Context, script string) (string, error) {
	if !slices.Contains(w.local.Running(), w.sandbox) {
		if err := w.start(ctx); err != nil {
			return "", fmt.Errorf("inside: %w", err)
		}
	}
	output, err := w.local.Inside(w.sandbox, script)
	if err != nil {
		return "", fmt.Errorf("inside: %w", err)
	}
	return strings.TrimSpace(output), nil
}

// instance is the container that runs a sandbox, "" for none; it starts none.
func (w *world) instance(ctx context.Context, id string) (string, error) {
	if !slices.Contains(w.local.Running(), id) {
		return "", nil
	}
	sandbox, err := w.direct(id)
	if err != nil {
		return "", err
	}
	return sandbox.Instance(ctx)
}

// quiet waits until nothing runs in the world's containers: what goes on there
// after a connection has broken comes to its end, and nothing else is left.
func (w *world) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var all []string
	err := await.Until(ctx, func() bool {
		all = nil
		if n := w.proxy.InFlight(); n > 0 {
			all = append(all, fmt.Sprintf("%d requests in flight", n))
		}
		for _, id := range w.ids() {
			if processes, err := w.local.Processes(id); err == nil {
				all = append(all, processes...)
			}
		}
		return len(all) == 0
	})
	if err != nil {
		return fmt.Errorf("the sandbox does not come to rest: %q", all)
	}
	return nil
}

// checkOrphans compares the containers that run with those that should.
func (w *world) checkOrphans(known ...string) error {
	var errs []error
	running := w.local.Running()
	for _, id := range w.ids() {
		if id != w.sandbox && !slices.Contains(known, id) && slices.Contains(running, id) {
			errs = append(errs, fmt.Errorf("sandbox %s has a container, and nobody knows of it", id))
		}
	}
	return errors.Join(errs...)
}

// stagingLeft lists what is left on its way into the sandbox, without starting
// a container.
func (w *world) stagingLeft(ctx context.Context) (string, error) {
	if w.sandbox == "" || !slices.Contains(w.local.Running(), w.sandbox) {
		return "", nil
	}
	return w.inside(ctx, `find /workspace -name '.cloudflaresandbox*' 2>/dev/null; exit 0`)
}

// holds checks what a script in the sandbox prints.
func (w *world) holds(ctx context.Context, script, want string) error {
	got, err := w.inside(ctx, script)
	if err == nil && got != want {
		err = fmt.Errorf("%s prints %q in the sandbox, want %q", script, got, want)
	}
	return err
}

// logged is how often a line is in the log that commands write.
func (w *world) logged(ctx context.Context, line string) (int, error) {
	if !slices.Contains(w.local.Running(), w.sandbox) {
		return 0, nil
	}
	log, err := w.inside(ctx, "cat /workspace/log 2>/dev/null; exit 0")
	return strings.Count(log+"\n", line+"\n"), err
}

// inContainer checks that a container is the one that runs the sandbox.
func (w *world) inContainer(ctx context.Context, instance string) error {
	running, err := w.instance(ctx, w.sandbox)
	if err == nil && running != instance {
		err = fmt.Errorf("the state says container %q, and %q runs", instance, running)
	}
	return err
}
