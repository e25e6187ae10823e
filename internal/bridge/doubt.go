package bridge

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
)

// DoubtError is a change that was asked for and not confirmed: it may have been made all the same.
type DoubtError struct{ Err error }

func (e *DoubtError) Error() string {
	return strings.TrimSuffix(e.Err.Error(), ".") + ". It may have been done all the same"
}

// Unwrap gives the cause.
func (e *DoubtError) Unwrap() error { return e.Err }

// callInDoubt is call for a change. inDoubt tells, after an error, whether it may have been made.
func (s *Sandbox) callInDoubt(ctx context.Context, c call) (a *answer, inDoubt bool, err error) {
	ctx, effect := watchEffect(ctx)
	a, err = s.call(ctx, c)
	return a, err != nil && mayHaveChanged(err, effect), err
}

// mayHaveChanged tells a request that was lost on its way from one that was refused. What was changed in a container
// that is gone does not count.
func mayHaveChanged(err error, effect *atomic.Bool) bool {
	var refused *Error
	return !isRecycled(err) && (effect.Load() || !errors.As(err, &refused) || refused.afterAnswer)
}
