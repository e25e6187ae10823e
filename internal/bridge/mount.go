package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// MountRequest says what to mount and where.
type MountRequest struct {
	// Path as [CleanMountPath] takes it.
	Path string
	// Bucket at Endpoint, or Binding, an R2 binding of the bridge's Worker.
	Bucket, Endpoint, Binding string
	// Prefix in the bucket, "" for all of it.
	Prefix   string
	ReadOnly bool
	// CredentialProxy keeps the credentials out of the sandbox.
	CredentialProxy bool
	// Options of s3fs; see [ValidateMountOption].
	Options []string
	// Credentials, nil for those that the bridge's Worker has.
	Credentials *MountCredentials
}

// MountCredentials are an S3 access key. Nothing of it is in an error or a log.
type MountCredentials struct{ AccessKeyID, SecretAccessKey string }

// MountInfo is what is mounted at a path. Its zero value: nothing.
type MountInfo struct {
	Mounted bool
	// Type of the file system, as the kernel calls it.
	Type string
	// Source is the name under which the kernel lists it. A mount of [Sandbox.Mount] has one that nothing else has.
	Source   string
	ReadOnly bool
	// Dead says that the process behind it is gone, so that nothing in it can be reached.
	Dead bool
	// Instance is the container that was looked at.
	Instance string
}

// mountSource is what the sources of our mounts begin with; a nonce follows.
const mountSource = "cloudflaresandbox-"

// undoLimit bounds the time for taking a mount or a tunnel down after a failure. It is more than the bridge needs to give
// up on an endpoint that does not answer, for which an unmount waits.
const undoLimit = 45 * time.Second

// Mount mounts a bucket, and looks in the sandbox whether it is there. What is mounted at the path already stays and is
// an error.
//
// Looking comes first, because the bridge does harm otherwise: a mount at a path in use is refused, and in passing the
// one that is there is taken down (measured). For the same reason the request is never simply repeated. The new mount
// gets a source of its own in the kernel's table, so that it can be recognised after an answer that was lost, and later.
//
// Errors: [*MountError], [*RecycledError], [*Error]. With an error that leaves open whether the mount is there, and that
// could not take it down either, comes what [Sandbox.Unmount] needs to do so later.
func (s *Sandbox) Mount(ctx context.Context, request MountRequest) (*MountInfo, error) {
	if err := request.validate(); err != nil {
		return nil, err
	}
	path, err := CleanMountPath(request.Path)
	if err != nil {
		return nil, err
	}
	request.Path = path
	leave, err := s.enterMounts(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	instance, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	there, err := s.lookAtMount(ctx, path, instance, true)
	switch {
	case err != nil:
		return nil, err
	case there.Dead:
		if err := s.unmount(ctx, path, there); err != nil {
			return nil, err
		}
	case there.Mounted:
		return nil, &MountError{ID: s.id, Path: path, Reason: MountOccupied, Detail: there.Type + " " + there.Source}
	}
	source := mountSource + newNonce()
	info, err := s.mountProven(ctx, request, source, instance)
	if err == nil {
		return info, nil
	}
	if s.undoMount(ctx, path, source) != nil {
		return &MountInfo{Source: source, Instance: instance}, err
	}
	return nil, err
}

// mountProven asks for the mount until the sandbox proves that it is there, or the bridge that it cannot be.
func (s *Sandbox) mountProven(ctx context.Context, request MountRequest, source, instance string) (*MountInfo, error) {
	for n := 1; ; n++ {
		failure := s.client.mountBucket(ctx, s.id, request, source)
		if failure != nil && !mayBeRecycled(failure) {
			return nil, s.mountError(request.Path, failure)
		}
		info, err := s.lookAtMount(ctx, request.Path, instance, true)
		if err != nil {
			return nil, err
		}
		mounted := info.Source == source && !info.Dead
		refused := hasCode(failure, codeMountError)
		switch {
		case mounted && !refused:
			return info, s.checkMount(request, info)
		case failure == nil:
			return nil, &MountError{ID: s.id, Path: request.Path, Reason: MountVanished}
		case refused && !isStaleRecord(failure, info), n > s.client.config.RetryMax:
			return nil, s.mountError(request.Path, failure)
		case !refused:
			// The bridge takes mounts one after the other: once this is answered, the lost request has come to its end.
			if err := s.unmountUnchecked(ctx, request.Path); err != nil {
				return nil, err
			}
		}
		if err := s.client.wait(ctx, n); err != nil {
			return nil, fmt.Errorf("mounting %s in sandbox %s: %w", request.Path, s.id, err)
		}
	}
}

// isStaleRecord recognises that the bridge takes a path for mounted where nothing is: somebody unmounted it from within.
// With this very answer the bridge forgets it (measured).
func isStaleRecord(failure error, info *MountInfo) bool {
	var e *Error
	return errors.As(failure, &e) && strings.Contains(e.raw, "already in use") && !info.Mounted
}

// checkMount compares what is mounted with what was asked for.
func (s *Sandbox) checkMount(request MountRequest, info *MountInfo) error {
	if info.ReadOnly == request.ReadOnly {
		return nil
	}
	access := map[bool]string{true: "read-only", false: "writable"}
	return &MountError{
		ID: s.id, Path: request.Path, Reason: MountVanished,
		Detail: fmt.Sprintf("it is %s and not %s", access[info.ReadOnly], access[request.ReadOnly]),
	}
}

// undoMount takes down what a failed Mount may have left, also after the context has ended, and in whichever container
// it is: a request for a mount names none, and may have reached another than it was meant for.
func (s *Sandbox) undoMount(ctx context.Context, path, source string) error {
	inFlight := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	var err error
	if inFlight {
		// The bridge carries the request out all the same, and this after it.
		err = s.unmountUnchecked(ctx, path)
	}
	var info *MountInfo
	if err == nil {
		info, err = s.lookAtMount(ctx, path, "", false)
	}
	if err == nil && info.Source == source {
		err = s.unmount(ctx, path, info)
	}
	if err == nil || IsAsleep(err) {
		return nil
	}
	s.client.log(ctx, "a mount may be left", map[string]any{"path": path, "error": err.Error()})
	return err
}

// LookAtMount tells what is mounted at a path, in one request. At the instance limit the error proves that the sandbox
// has no container ([IsAsleep]), and so no mount.
func (s *Sandbox) LookAtMount(ctx context.Context, path string) (*MountInfo, error) {
	path, err := CleanMountPath(path)
	if err != nil {
		return nil, err
	}
	return s.lookAtMount(ctx, path, "", false)
}

func (s *Sandbox) lookAtMount(ctx context.Context, path, instance string, needsContainer bool) (*MountInfo, error) {
	answer, err := s.call(ctx, call{
		what: "looking at the mount " + path, program: scripts.LookMount, args: []string{path},
		expected: instance, needsContainer: needsContainer,
	})
	if err != nil {
		return nil, err
	}
	info, err := parseMount(answer.data)
	if err != nil {
		return nil, fmt.Errorf("looking at the mount %s in sandbox %s: %w", path, s.id, err)
	}
	info.Instance = answer.instance
	return info, nil
}

// parseMount reads what scripts/mounts.sh says: "TYPE ro|rw alive|dead SOURCE", or nothing.
func parseMount(data []byte) (*MountInfo, error) {
	fields := strings.Fields(string(data))
	if len(fields) == 0 {
		return &MountInfo{}, nil
	}
	if len(fields) < 3 || len(fields) > 4 {
		return nil, errReplyGarbled
	}
	info := &MountInfo{Mounted: true, Type: fields[0], ReadOnly: fields[1] == "ro", Dead: fields[2] == "dead"}
	if len(fields) == 4 {
		info.Source = fields[3]
	}
	return info, nil
}

// enterMounts lets one mount or unmount of this process pass at a time, so that two for one path see each other.
func (s *Sandbox) enterMounts(ctx context.Context) (leave func(), err error) {
	select {
	case s.mounting <- struct{}{}:
		return func() { <-s.mounting }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another mount in sandbox %s: %w", s.id, context.Cause(ctx))
	}
}
