package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// A bridge that is still writing when an interrupt comes must not be done with it after everything was cleared away.
func TestWhatIsBeingSentWhenItIsCancelledIsClearedAway(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	stdin := "input"
	for name, do := range map[string]func(context.Context, *bridge.Sandbox) error{
		"file": func(ctx context.Context, s *bridge.Sandbox) error {
			_, err := s.Write(ctx, bridge.WriteRequest{Path: "file", Content: strings.NewReader("x"), Size: 1, Mode: 0o644})
			return err
		},
		"command": func(ctx context.Context, s *bridge.Sandbox) error {
			_, err := s.Run(ctx, bridge.Command{Argv: []string{"touch", "file"}, Stdin: &stdin})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, on.client(t))
			inside(t, s, "true")
			ctx, cancel := context.WithCancel(t.Context())
			slow := cancelWithin(t, on, cancel)
			err := do(ctx, handle(t, clientFor(t, slow, on.key), s.ID()))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if left := inside(t, s, "find . -mindepth 1"); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// cancelWithin is the address of a bridge that calls cancel when it is sent a file, and that takes its time for writing
// it: until somebody else comes, or a while.
func cancelWithin(t *testing.T, on *testBridge, cancel func()) (url string) {
	t.Helper()
	next := make(chan struct{})
	come := sync.OnceFunc(func() { close(next) })
	var sent atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			if sent.Load() {
				come()
			}
			on.local.Handler().ServeHTTP(w, r)
			return
		}
		sent.Store(true)
		cancel()
		select {
		case <-next:
			t.Error("it was given up while it was being written")
		case <-time.After(10 * moment):
		}
		on.local.Handler().ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
