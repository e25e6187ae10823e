package bridge_test

import (
	"errors"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// Others of the same process may have noticed the loss already. What a command relies on is gone all the same.
func TestWakeRefusesAContainerThatCameAfterTheFirst(t *testing.T) {
	t.Parallel()
	b := startLocalBridge(t)
	s := newSandbox(t, b.client(t))
	first, err := s.Wake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.local.Kill(s.ID())
	second, err := s.Instance(t.Context())
	if err != nil || second == first {
		t.Fatalf("instance %s after %s, %v", second, first, err)
	}
	for range 2 {
		var recycled *bridge.RecycledError
		if _, err := s.Wake(t.Context()); !errors.As(err, &recycled) || recycled.Expected != first || recycled.Actual != second {
			t.Errorf("got %v", err)
		}
		if _, err := s.Run(t.Context(), shell("true")); !errors.As(err, &recycled) || recycled.Expected != first || recycled.Actual != second {
			t.Errorf("a command: %v", err)
		}
	}
}
