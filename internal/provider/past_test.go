package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// What tests do in a sandbox past Terraform, as others do who use it as well.

// client is one past the recorder. It is a new one each time: one that has seen
// a container before would take the next for a fault.
func (b *testBridge) client() *bridge.Client {
	b.t.Helper()

	client, err := bridge.New(bridge.Config{URL: b.target, Key: b.key})
	if err != nil {
		b.t.Fatal(err)
	}

	return client
}

// handle is that of a sandbox, by a client of its own.
func (b *testBridge) handle(sandboxID string) *bridge.Sandbox {
	b.t.Helper()

	sandbox, err := b.client().Sandbox(sandboxID)
	if err != nil {
		b.t.Fatal(err)
	}

	return sandbox
}

// inside runs a script in a sandbox as somebody there would, and returns what
// it prints.
func (b *testBridge) inside(sandboxID, script string) string {
	b.t.Helper()

	output, err := b.tryInside(sandboxID, script)
	if err != nil {
		b.t.Fatal(err)
	}

	return output
}

func (b *testBridge) tryInside(sandboxID, script string) (string, error) {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	command := bridge.Command{Argv: []string{"bash", "-e"}, Script: script, Timeout: time.Minute}
	result, err := b.handle(sandboxID).Run(ctx, command)
	if err != nil {
		return "", fmt.Errorf("run %q inside: %w", script, err)
	}
	if result.ExitCode != 0 {
		return "", fmt.Errorf("run %q inside: exit code %d: %s", script, result.ExitCode, result.Stderr)
	}

	return string(result.Stdout), nil
}

// occupy starts the container of a sandbox that Terraform knows nothing of.
func (b *testBridge) occupy() string {
	b.t.Helper()

	id, err := b.client().CreateSandbox(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	b.inside(id, "true")

	return id
}

// sandbox is one that Terraform knows nothing of, for the time of the test.
func (b *testBridge) sandbox() string {
	b.t.Helper()

	id := b.occupy()
	b.t.Cleanup(func() { b.lose(id) })

	return id
}

// lose destroys a sandbox: its container ends, with all that is in it.
func (b *testBridge) lose(id string) {
	b.t.Helper()

	if err := b.client().DestroySandbox(context.WithoutCancel(b.t.Context()), id); err != nil {
		b.t.Error(err)
	}
}

// put writes a file.
func (b *testBridge) put(sandboxID, path, content, mode string) {
	b.t.Helper()

	parsed, err := bridge.ParseMode(mode)
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = b.handle(sandboxID).Write(context.WithoutCancel(b.t.Context()), bridge.WriteRequest{
		Path: path, Content: strings.NewReader(content), Size: int64(len(content)), Mode: parsed,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// openTunnel opens a tunnel that Terraform knows nothing of, and returns its
// address.
func (b *testBridge) openTunnel(sandboxID string, port int64) string {
	b.t.Helper()

	tunnel, err := b.handle(sandboxID).OpenTunnel(b.t.Context(), port, "")
	if err != nil {
		b.t.Fatal(err)
	}

	return tunnel.URL
}

// post sends a sandbox a request that not even the client makes.
func (b *testBridge) post(sandboxID, route string, body any) {
	b.t.Helper()

	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	target := b.target + "/v1/sandbox/" + sandboxID + "/" + route
	request, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+b.key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("POST %s: %d, %v, %s", route, answer.StatusCode, err, said)
	}
}
