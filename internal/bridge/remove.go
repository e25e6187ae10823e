package bridge

import (
	"context"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// Remove removes a file, or a symbolic link itself. That there is none is as good; a directory is an error
// ([*PathError]). At the instance limit the error proves that the sandbox has no container ([IsAsleep]), and so no file.
func (s *Sandbox) Remove(ctx context.Context, path string) error {
	target, err := CleanPath(path)
	if err != nil {
		return err
	}
	answer, inDoubt, err := s.callInDoubt(ctx, call{what: "removing " + target, program: scripts.Remove, args: []string{target}, changes: true})
	if inDoubt {
		return &DoubtError{err}
	}
	if err != nil {
		return err
	}
	if answer.status != 0 {
		return s.pathError("remove", target, answer)
	}
	return nil
}
