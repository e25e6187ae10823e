package localbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"sync"
)

// container is one running sandbox as the bridge sees it: a process in its own
// namespaces, and an HTTP client that reaches the agent inside.
type container struct {
	hostname string
	cmd      *exec.Cmd
	stderr   *bytes.Buffer // read only after done is closed
	done     chan struct{} // closed when process 1 and all it ran are gone
	client   *http.Client

	control   *net.UnixConn // hands connections to the agent; closing it ends the container
	controlMu sync.Mutex

	opsMu   sync.Mutex
	opsCtx  context.Context // operations in flight; cancelled by cut
	opsStop context.CancelFunc

	state containerState
}

// limits are what a container may use; 0 is as much as there is.
type limits struct {
	disk      int64
	processes int
}

// ready waits for the agent's first answer.
func (c *container) ready(ctx context.Context) error {
	resp, err := c.call(ctx, http.MethodGet, "/ready", nil)
	if err != nil {
		return fmt.Errorf("the sandbox's process 1 ended during its start: %w", err)
	}
	return resp.Body.Close()
}

// kill ends process 1 the hard way, and with it all the container's processes
// and mounts, and waits until they are gone.
func (c *container) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

func (c *container) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// operation returns a context that ends when the container dies or when an
// oversized upload cuts every operation on it (BRIDGE.md, Files).
func (c *container) operation() context.Context {
	c.opsMu.Lock()
	defer c.opsMu.Unlock()
	return c.opsCtx
}

// cut interrupts every operation in flight; the commands themselves run on.
func (c *container) cut() {
	c.opsMu.Lock()
	defer c.opsMu.Unlock()
	c.opsStop()
	if c.running() {
		c.opsCtx, c.opsStop = context.WithCancel(context.Background())
	}
}

// processes lists the command lines running in the container, without process 1.
func (c *container) processes(ctx context.Context) ([]string, error) {
	resp, err := c.call(ctx, http.MethodGet, "/processes", nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var lines []string
	return lines, json.NewDecoder(resp.Body).Decode(&lines)
}

// containerEnv is the whole environment of a command: that of the published
// image, nothing of the host's (OBSERVED.md, d: env).
func containerEnv(hostname string) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/home/sandbox",
		"HOSTNAME=" + hostname,
		"DEBIAN_FRONTEND=noninteractive",
		"SANDBOX_VERSION=0.12.10",
		"PYTHON_POOL_MIN_SIZE=0",
		"JAVASCRIPT_POOL_MIN_SIZE=0",
		"TYPESCRIPT_POOL_MIN_SIZE=0",
		"CLOUDFLARE_COUNTRY_A2=XX",
		"CLOUDFLARE_LOCATION=loc01",
		"CLOUDFLARE_REGION=LOCAL",
		"CLOUDFLARE_APPLICATION_ID=00000000-0000-0000-0000-000000000000",
		"CLOUDFLARE_DEPLOYMENT_ID=00000000-0000-0000-0000-000000000000",
		"CLOUDFLARE_DURABLE_OBJECT_ID=" + randomHex(32),
	}
}
