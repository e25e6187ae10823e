package localbridge

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
)

const testKey = "test-key"

// client speaks to one bridge in a test.
type client struct {
	t      *testing.T
	bridge *Bridge
}

// startBridge starts a bridge for one test. A machine that cannot make
// namespaces skips the test, except in CI, where that would hide everything.
func startBridge(t *testing.T, cfg Config) *client {
	t.Helper()
	if cfg.Key == "" && !cfg.NoKey {
		cfg.Key = testKey
	}
	b, err := Start(t.Context(), cfg)
	if err != nil {
		if runtime.GOOS == "linux" && os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return &client{t: t, bridge: b}
}

// answer is a whole HTTP answer; status 0 means that the connection was closed
// without one.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// raw sends one request with the target exactly as given.
func (c *client) raw(method, target, body string, headers ...string) answer {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.bridge.listener.Addr().String())
	if err != nil {
		c.t.Error(err)
		return answer{}
	}
	defer conn.Close()
	var request bytes.Buffer
	fmt.Fprintf(&request, "%s %s HTTP/1.1\r\nHost: bridge\r\nContent-Length: %d\r\n", method, target, len(body))
	for _, header := range headers {
		request.WriteString(header + "\r\n")
	}
	request.WriteString("\r\n")
	if _, err := conn.Write(request.Bytes()); err != nil {
		c.t.Error(err)
		return answer{}
	}
	if _, err := io.WriteString(conn, body); err != nil {
		c.t.Error(err)
		return answer{}
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{status: response.StatusCode, header: response.Header, body: "cut:" + string(content)}
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(content)}
}

// do is raw with the key.
func (c *client) do(method, target, body string, headers ...string) answer {
	c.t.Helper()
	return c.raw(method, target, body, append(headers, "Authorization: Bearer "+c.bridge.Key())...)
}

// result is a decoded exec stream. last is the event that ended it.
type result struct {
	status         int
	stdout, stderr string
	events         int
	last, lastData string
}

func (r result) String() string {
	return fmt.Sprintf("%d stdout=%q stderr=%q %s %s", r.status, r.stdout, r.stderr, r.last, r.lastData)
}

func exited(code int) string { return fmt.Sprintf(`exit {"exit_code":%d}`, code) }

func (r result) end() string { return r.last + " " + r.lastData }

// exec runs argv in a sandbox to its end.
func (c *client) exec(id string, argv ...string) result {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"argv": argv})
	if err != nil {
		c.t.Error(err)
	}
	return c.execBody(id, string(body))
}

func (c *client) sh(id, script string) result {
	c.t.Helper()
	return c.exec(id, "bash", "-c", script)
}

func (c *client) execBody(id, body string) result {
	c.t.Helper()
	stream := c.open(id, body)
	defer stream.close()
	stream.rest()
	return stream.result
}

// eventReader reads an exec stream event by event.
type eventReader struct {
	result
	t        *testing.T
	body     io.ReadCloser
	scan     *bufio.Reader
	out, err bytes.Buffer
}

func (c *client) open(id, body string) *eventReader {
	c.t.Helper()
	request, err := http.NewRequest(http.MethodPost, c.bridge.URL()+"/v1/sandbox/"+id+"/exec", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.bridge.Key())
	response, err := http.DefaultClient.Do(request) //nolint:bodyclose // eventReader.close does
	if err != nil {
		c.t.Error(err)
		return &eventReader{t: c.t, body: io.NopCloser(strings.NewReader("")), scan: bufio.NewReader(strings.NewReader(""))}
	}
	reader := &eventReader{t: c.t, body: response.Body, scan: bufio.NewReader(response.Body)}
	reader.status = response.StatusCode
	return reader
}

func (r *eventReader) close() { r.body.Close() }

// next reads one event.
func (r *eventReader) next() bool {
	name, err := r.scan.ReadString('\n')
	if err != nil {
		if !errors.Is(err, io.EOF) || name != "" {
			r.last, r.lastData = "RAW", strings.TrimSpace(name)
		}
		return false
	}
	name, isEvent := strings.CutPrefix(strings.TrimSpace(name), "event: ")
	if !isEvent {
		r.last, r.lastData = "RAW", name
		return false
	}
	data, _ := r.scan.ReadString('\n')
	data = strings.TrimPrefix(strings.TrimSuffix(data, "\n"), "data: ")
	_, _ = r.scan.ReadString('\n')
	r.events++
	r.last, r.lastData = name, data
	if name == "stdout" || name == "stderr" {
		decoded, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			r.t.Error(err)
		}
		if name == "stdout" {
			r.out.Write(decoded)
		} else {
			r.err.Write(decoded)
		}
	}
	return true
}

// rest reads the events to the end and sums up.
func (r *eventReader) rest() {
	for r.next() {
	}
	r.stdout, r.stderr = r.out.String(), r.err.String()
}

// argvBody is the body of an exec.
func argvBody(argv ...string) string {
	return string(marshal(map[string]any{"argv": argv}))
}

// wantAnswer compares status and body.
func wantAnswer(t *testing.T, what string, got answer, status int, body string) {
	t.Helper()
	if got.status != status || got.body != body {
		t.Errorf("%s: got %d %q, want %d %q", what, got.status, got.body, status, body)
	}
}

func failure(text, code string) string {
	return string(marshal(errorReply{Error: text, Code: code}))
}
