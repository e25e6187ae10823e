package provider

import (
	"context"
	"errors"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// Whether an operation ends during a request or between two of them makes no
// difference to a reader.
func TestEndOfAnOperationHasOneHeadline(t *testing.T) {
	t.Parallel()

	client, err := bridge.New(bridge.Config{URL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Time{})
	defer cancel()

	for _, ctx := range []context.Context{cancelled, late} {
		_, err := client.Health(ctx)
		var answer *bridge.Error
		if !errors.As(err, &answer) {
			t.Fatalf("got %v", err)
		}
		if between, _ := explain(ctx.Err()); between != answer.Summary {
			t.Errorf("%q during a request, and %q between two", answer.Summary, between)
		}
	}
}
