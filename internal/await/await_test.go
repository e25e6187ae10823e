package await_test

import (
	"context"
	"errors"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/await"
)

func TestUntilLooksUntilItHasHappened(t *testing.T) {
	t.Parallel()

	looks := 0
	if err := await.Until(t.Context(), func() bool { looks++; return looks == 3 }); err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

func TestUntilTellsWhyItGaveUp(t *testing.T) {
	t.Parallel()

	errWhy := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := await.Until(ctx, func() bool { cancel(errWhy); return false })
	if !errors.Is(err, errWhy) {
		t.Errorf("got %v", err)
	}
}
