package bridge_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func benchmarkSandbox(b *testing.B) (*testBridge, *bridge.Sandbox) {
	b.Helper()
	on := &testBridge{url: os.Getenv("CLOUDFLARE_SANDBOX_API_URL"), key: os.Getenv("CLOUDFLARE_SANDBOX_API_KEY")}
	if on.url == "" {
		local, err := localbridge.Start(b.Context(), localbridge.Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = local.Close() })
		on.url, on.key = local.URL(), local.Key()
	}
	client, err := bridge.New(bridge.Config{URL: on.url, Key: on.key})
	if err != nil {
		b.Fatal(err)
	}
	id, err := client.CreateSandbox(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	s, err := client.Sandbox(id)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.DestroySandbox(b.Context(), id) })
	return on, s
}

// BenchmarkBareExec is what the bridge itself takes for a command: what BenchmarkRun is to be compared with.
func BenchmarkBareExec(b *testing.B) {
	on, s := benchmarkSandbox(b)
	body, _ := json.Marshal(map[string]any{"argv": []string{"echo", "hi"}})
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, on.url+"/v1/sandbox/"+s.ID()+"/exec", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+on.key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		if data, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(data, []byte("aGkK")) {
			b.Fatalf("got %q, %v", data, err)
		}
		_ = resp.Body.Close()
	}
}

func BenchmarkRun(b *testing.B) {
	_, s := benchmarkSandbox(b)
	for b.Loop() {
		if _, err := s.Run(b.Context(), bridge.Command{Argv: []string{"echo", "hi"}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunWithEnvironment(b *testing.B) {
	_, s := benchmarkSandbox(b)
	for b.Loop() {
		if _, err := s.Run(b.Context(), bridge.Command{Argv: []string{"echo", "hi"}, Environment: map[string]string{"A": "b"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunPython is mostly the start of the interpreter.
func BenchmarkRunPython(b *testing.B) {
	_, s := benchmarkSandbox(b)
	for b.Loop() {
		if _, err := s.RunPython(b.Context(), "1 + 1", bridge.Command{Argv: []string{"python3"}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	_, s := benchmarkSandbox(b)
	for b.Loop() {
		if _, err := s.Inspect(b.Context(), "x"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite1KiB(b *testing.B) {
	_, s := benchmarkSandbox(b)
	content := strings.NewReader(strings.Repeat("x", 1<<10))
	for b.Loop() {
		if _, err := s.Write(b.Context(), bridge.WriteRequest{Path: "x", Content: content, Size: content.Size(), Mode: 0o644}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite200MiB writes from a file, as "source" does; B/op shows that the content is never held.
func BenchmarkWrite200MiB(b *testing.B) {
	_, s := benchmarkSandbox(b)
	file, err := os.Create(filepath.Join(b.TempDir(), "large"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	const size = 200 << 20
	if err := file.Truncate(size); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if _, err := s.Write(b.Context(), bridge.WriteRequest{Path: "large", Content: file, Size: size, Mode: 0o644}); err != nil {
			b.Fatal(err)
		}
	}
}
