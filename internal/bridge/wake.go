package bridge

import "context"

// Wake returns the instance that commands run in. It asks the sandbox only if it has not been heard of lately, starting a
// container if there is none.
//
// Once the container has been replaced under this process, by a crash or during a long pause, it is a [*RecycledError] for
// good: what was done in the first one is gone, and a command that relies on it must not run in an empty one.
func (s *Sandbox) Wake(ctx context.Context) (string, error) {
	instance, err := s.reach(ctx)
	if err != nil {
		return "", err
	}
	if first := s.firstInstance(); first != instance {
		return "", &RecycledError{ID: s.id, Expected: first, Actual: instance}
	}
	return instance, nil
}

// firstInstance is the first that this process has heard of.
func (s *Sandbox) firstInstance() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.firstHeard
}
