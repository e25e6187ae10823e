package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRunServesUntilItIsStopped: the ready file leads to a serving bridge, and
// is gone with it.
func TestRunServesUntilItIsStopped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux namespaces")
	}
	ready := filepath.Join(t.TempDir(), "ready.json")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"-addr", "127.0.0.1:0", "-key", "k", "-ready-file", ready}, stdout, io.Discard)
		stdout.CloseWithError(io.EOF)
		ended <- err
	}()
	banner := make([]byte, 4096)
	n, err := reader.Read(banner) // written once the bridge serves
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(<-ended)
		}
		t.Skip("this machine cannot make namespaces: ", <-ended)
	}
	text := string(banner[:n])
	go io.Copy(io.Discard, reader) //nolint:errcheck // only drains the pipe

	content, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		URL, Key string
		PID      int
	}
	if err := json.Unmarshal(content, &got); err != nil || got.Key != "k" || got.PID != os.Getpid() {
		t.Fatalf("%s %v", content, err)
	}
	for _, want := range []string{"CLOUDFLARE_SANDBOX_API_URL=" + got.URL, "CLOUDFLARE_SANDBOX_API_KEY=k", "no security boundary"} {
		if !strings.Contains(text, want) {
			t.Errorf("the banner lacks %q:\n%s", want, text)
		}
	}
	response, err := http.Get(got.URL + "/health")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ready); err == nil {
		t.Error("the ready file is left")
	}
	if response, err := http.Get(got.URL + "/health"); err == nil {
		response.Body.Close()
		t.Error("it still serves")
	}
}

func TestRunRefusesWhatIsNotLoopback(t *testing.T) {
	var stderr bytes.Buffer
	err := run(t.Context(), []string{"-addr", "0.0.0.0:0"}, io.Discard, &stderr)
	if err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Error(err)
	}
}
