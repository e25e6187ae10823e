package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// TreeUpload is a tree to put into a directory of the sandbox.
type TreeUpload struct {
	// Path of the directory as [CleanTreePath] takes it.
	Path string
	// Tree is what is to be there.
	Tree Tree
	// Was is what was put there before. What of it is no longer in Tree is taken away: files and links if they are that
	// still, directories if they were made by an upload and are empty.
	Was Tree
	// Seen is what [Sandbox.InspectTree] found. What is there already is not sent again, and the upload is refused in
	// another container. Nil: everything is sent.
	Seen *TreeInfo
	// Open gives the content of a file of Tree, of which nothing is done in the sandbox if it is not what Tree says.
	Open func(path string) (io.ReadCloser, error)
}

// TreeIncompleteError is an upload that may have done a part of what was asked, or all of it. To repeat it is safe.
type TreeIncompleteError struct {
	ID, Path string
	Err      error
}

func (e *TreeIncompleteError) Error() string {
	return fmt.Sprintf("writing %s in sandbox %s did not come to its end, and a part of it may be there: %v", e.Path, e.ID, e.Err)
}

func (e *TreeIncompleteError) Unwrap() error { return e.Err }

// UploadTree makes a directory of the sandbox hold a tree. However many files it has, they go in one compressed stream of
// constant memory, in parts of 8 MiB, and one request unpacks and verifies all before the first is put in its place, each
// by a rename. Other files in the directory stay as they are.
//
// What is in the way is replaced: a file or a link where a directory is to be; a file, a link (itself, never what it leads
// to) or a directory with nothing of its own in it where a file is to be. A directory with other files in it is a
// [*PathError], and nothing is changed. Links in the place of directories are never followed.
//
// Errors besides those of [Sandbox.Write]: [*TreeIncompleteError]. After all others nothing was changed.
func (s *Sandbox) UploadTree(ctx context.Context, u TreeUpload) error {
	target, err := CleanTreePath(u.Path)
	if err != nil {
		return err
	}
	if err := u.Tree.Validate(target); err != nil {
		return err
	}
	return s.applyTree(ctx, u, target, false)
}

// RemoveTree removes from a directory what uploads have put there, in the same way as [TreeUpload.Was] tells. At the
// instance limit the error proves that the sandbox has no container ([IsAsleep]), and so nothing to remove.
func (s *Sandbox) RemoveTree(ctx context.Context, at string, was Tree) error {
	target, err := CleanTreePath(at)
	if err != nil {
		return err
	}
	seen, err := s.InspectTree(ctx, target, was)
	if err != nil || seen.Root != KindDirectory && !seen.Closed {
		return err
	}
	return s.applyTree(ctx, TreeUpload{Path: at, Was: was, Seen: seen}, target, true)
}

// applyTree packs the changes, and has them carried out until that is proven.
func (s *Sandbox) applyTree(ctx context.Context, u TreeUpload, target string, last bool) error {
	changes := diffTree(u)
	file, err := os.CreateTemp("", "cloudflaresandbox-")
	if err != nil {
		return fmt.Errorf("making a local file for what goes to the sandbox: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	packed, err := packTree(file, u, changes)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := s.applyTreeOnce(ctx, u, target, last, file, packed)
		var lost *stagedLostError
		if err == nil || !errors.As(err, &lost) || n > s.client.config.RetryMax {
			return err
		}
		if err := s.client.wait(ctx, n); err != nil {
			return &TreeIncompleteError{ID: s.id, Path: target, Err: err}
		}
	}
}

func (s *Sandbox) applyTreeOnce(ctx context.Context, u TreeUpload, target string, last bool, content io.ReaderAt, packed packedTree) error {
	instance, err := s.reach(ctx)
	if err != nil {
		return err
	}
	if u.Seen != nil && u.Seen.Instance != instance {
		return &RecycledError{ID: s.id, Expected: u.Seen.Instance, Actual: instance}
	}
	nonce := newNonce()
	parts, err := s.stage(ctx, nonce, content, packed.size)
	if err != nil {
		return fmt.Errorf("writing %s in sandbox %s: %w", target, s.id, err)
	}
	superseded, lastFlag := "", "0"
	if u.Was != nil {
		superseded = u.Was.SHA256()
	}
	if last {
		lastFlag = "1"
	}
	answer, inDoubt, err := s.callInDoubt(ctx, call{
		what: "writing " + target, program: scripts.Unpack, nonce: nonce, expected: instance, changes: true, needsContainer: true,
		args: []string{target, treeRecords(target), superseded, lastFlag, packed.sha256, packed.contents, strconv.Itoa(parts)},
	})
	if err != nil {
		s.discard(ctx, nonce)
		if !inDoubt {
			return err
		}
		return &TreeIncompleteError{ID: s.id, Path: target, Err: err}
	}
	switch answer.status {
	case 0:
		return nil
	case scripts.StatusNotStaged:
		return &stagedLostError{fmt.Sprintf("what was staged for %s in sandbox %s was removed before it could be put in place", target, s.id)}
	case scripts.StatusDifferent:
		return &stagedLostError{fmt.Sprintf("what arrived for %s in sandbox %s is not what was sent", target, s.id)}
	case scripts.StatusIsDirectory:
		return s.pathError("write", target+"/"+string(answer.data), answer)
	case scripts.StatusIncomplete:
		refused := &PathError{ID: s.id, Operation: "write", Path: target, Reason: ReasonRefused, Detail: oneLine(string(answer.data))}
		return &TreeIncompleteError{ID: s.id, Path: target, Err: refused}
	default:
		return s.pathError("write", target, answer)
	}
}
