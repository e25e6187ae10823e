package bridge_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// testBridge is the bridge of one test: a local one, or the one that the environment names.
type testBridge struct {
	url, key string
	// local is nil where the environment names a bridge.
	local *localbridge.Bridge
}

func startBridge(t *testing.T) *testBridge {
	t.Helper()
	if url := os.Getenv("CLOUDFLARE_SANDBOX_API_URL"); url != "" {
		return &testBridge{url: url, key: os.Getenv("CLOUDFLARE_SANDBOX_API_KEY")}
	}
	local := startLocalWith(t, localbridge.Config{})
	return &testBridge{url: local.URL(), key: local.Key(), local: local}
}

// startLocalWith is for tests of what only a bridge on this machine can be told.
func startLocalWith(t *testing.T, config localbridge.Config) *localbridge.Bridge {
	t.Helper()
	local, err := localbridge.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("closing the local bridge: %v", err)
		}
	})
	return local
}

// startLocalBridge is for tests that need what only the local bridge can do.
func startLocalBridge(t *testing.T) *testBridge {
	t.Helper()
	if os.Getenv("CLOUDFLARE_SANDBOX_API_URL") != "" {
		t.Skip("needs a bridge whose containers the test can kill, put to sleep or limit: only the local one can")
	}
	return startBridge(t)
}

// client makes a client of its own, as another process would have it.
func (b *testBridge) client(t *testing.T) *bridge.Client {
	t.Helper()
	return clientFor(t, b.url, b.key)
}

func clientFor(t *testing.T, url, key string) *bridge.Client {
	t.Helper()
	client, err := bridge.New(bridge.Config{
		URL: url, Key: key, RetryWaitMin: 50 * time.Millisecond, RetryWaitMax: 500 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newSandbox makes a sandbox that the end of the test destroys.
func newSandbox(t *testing.T, client *bridge.Client) *bridge.Sandbox {
	t.Helper()
	id, err := client.CreateSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.DestroySandbox(context.WithoutCancel(t.Context()), id); err != nil {
			t.Errorf("destroying sandbox %s: %v", id, err)
		}
	})
	return handle(t, client, id)
}

func handle(t *testing.T, client *bridge.Client, id string) *bridge.Sandbox {
	t.Helper()
	sandbox, err := client.Sandbox(id)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox
}

// inside runs a line of shell in the sandbox and returns what it printed.
func inside(t *testing.T, s *bridge.Sandbox, line string) string {
	t.Helper()
	result, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash", "-c", line}, Timeout: time.Minute})
	if err != nil {
		t.Fatalf("running %q in the sandbox: %v", line, err)
	}
	if result.ExitCode != 0 {
		t.Fatalf("running %q in the sandbox: exit code %d, %s", line, result.ExitCode, result.Stderr)
	}
	return string(result.Stdout)
}

// past runs bash in the sandbox of a local bridge, and leaves no trace of it in what the provider keeps there.
func past(t *testing.T, on *testBridge, s *bridge.Sandbox, script string) string {
	t.Helper()
	out, err := on.local.Inside(s.ID(), script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, s *bridge.Sandbox, path, content string, mode uint32) *bridge.FileInfo {
	t.Helper()
	info, err := s.Write(t.Context(), bridge.WriteRequest{
		Path: path, Content: strings.NewReader(content), Size: int64(len(content)), Mode: mode,
	})
	if err != nil {
		t.Fatalf("writing %q: %v", path, err)
	}
	return info
}

func sum(content string) string {
	hash := sha256.Sum256([]byte(content))
	return hex.EncodeToString(hash[:])
}
