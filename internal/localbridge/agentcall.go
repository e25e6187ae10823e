package localbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// call sends the agent a request. Its answer is 200 or 404, or an *agentError.
func (c *container) call(ctx context.Context, method, target string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://container"+target, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusUnprocessableEntity {
		return resp, nil
	}
	defer resp.Body.Close()
	var failure agentError
	if err := json.NewDecoder(resp.Body).Decode(&failure); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return nil, &failure
}

func withPath(route, path string) string {
	return route + "?path=" + url.QueryEscape(path)
}

// outcome is what a whole command left behind.
type outcome struct {
	code           int
	stdout, stderr []byte
}

// run runs a command of the bridge's own and collects its output.
func (c *container) run(ctx context.Context, command string) (outcome, error) {
	stream, err := c.exec(ctx, agentExec{Command: command, Cwd: "/workspace"})
	if err != nil {
		return outcome{}, err
	}
	defer stream.Close()
	var result outcome
	for {
		kind, data, err := readFrame(stream)
		if err != nil {
			return outcome{}, err
		}
		switch kind {
		case frameStdout:
			result.stdout = append(result.stdout, data...)
		case frameStderr:
			result.stderr = append(result.stderr, data...)
		case frameExit:
			result.code = exitCode(data)
			return result, nil
		}
	}
}

// exec starts a command and returns its stream of frames.
func (c *container) exec(ctx context.Context, command agentExec) (io.ReadCloser, error) {
	resp, err := c.call(ctx, http.MethodPost, "/exec", bytes.NewReader(marshal(command)))
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// agentExec is a command for the agent.
type agentExec struct {
	Command string         `json:"command"`
	Cwd     string         `json:"cwd"`
	Timeout *time.Duration `json:"timeout"`
	Notice  string         `json:"notice"` // written to stderr when the time is up
}

// agentError is how the agent reports a failed system call.
type agentError struct {
	Errno   string `json:"errno"` // EISDIR
	Message string `json:"message"`
	During  string `json:"during"` // open or write
}

// textHeader tells the bridge how the container classes a file.
const textHeader = "X-Text"

func (e *agentError) Error() string { return e.Errno + ": " + e.Message }

// killGrace is the time between SIGTERM and SIGKILL (BRIDGE.md, exec).
const killGrace = 5 * time.Second
