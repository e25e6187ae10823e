package bridge

import (
	"context"
	"errors"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// Unmount takes down a mount of [Sandbox.Mount], recognised by its source; that it is gone is as good, and what has been
// mounted there since then stays. A mount of another container than instance is gone with it: the error is a
// [*RecycledError], or proves that there is no container ([IsAsleep]).
func (s *Sandbox) Unmount(ctx context.Context, path, source, instance string) error {
	path, err := CleanMountPath(path)
	if err != nil {
		return err
	}
	leave, err := s.enterMounts(ctx)
	if err != nil {
		return err
	}
	defer leave()
	info, err := s.lookAtMount(ctx, path, instance, false)
	if err != nil || info.Source != source {
		return err
	}
	return s.unmount(ctx, path, info)
}

// unmount takes down what was seen at the path, and looks whether it is gone.
func (s *Sandbox) unmount(ctx context.Context, path string, seen *MountInfo) error {
	failure := s.client.unmountBucket(ctx, s.id, path)
	if failure != nil && !mayBeRecycled(failure) {
		return failure
	}
	info, err := s.lookAtMount(ctx, path, seen.Instance, false)
	if err != nil || info.Source != seen.Source {
		return err
	}
	if failure == nil || isUnknownMount(failure) {
		return s.unmountInside(ctx, path, seen)
	}
	return s.mountError(path, failure)
}

// unmountUnchecked asks the bridge to unmount and takes any answer for one.
func (s *Sandbox) unmountUnchecked(ctx context.Context, path string) error {
	err := s.client.unmountBucket(ctx, s.id, path)
	if hasCode(err, codeUnmountError) {
		return nil
	}
	return err
}

// isUnknownMount recognises that the bridge has no record of a mount. It keeps its records in memory only, so that it
// has none after a restart of its own, while the mount lives on.
func isUnknownMount(err error) bool {
	var e *Error
	return errors.As(err, &e) && strings.Contains(e.raw, "No active mount found")
}

// unmountInside takes down a mount that the bridge knows nothing of.
func (s *Sandbox) unmountInside(ctx context.Context, path string, seen *MountInfo) error {
	answer, err := s.call(ctx, call{
		what: "unmounting " + path, program: scripts.Unmount, args: []string{path, seen.Source},
		expected: seen.Instance, changes: true,
	})
	if err != nil {
		return err
	}
	if answer.status != 0 {
		return &MountError{ID: s.id, Path: path, Reason: MountStays, Detail: oneLine(string(answer.data))}
	}
	return nil
}
