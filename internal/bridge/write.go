package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// WriteRequest is a file to write.
type WriteRequest struct {
	// Path as [CleanPath] takes it. Any name that Linux allows.
	Path string
	// Content has Size bytes. It is read more than once, in parts, never as a whole.
	Content io.ReaderAt
	Size    int64
	// Mode of the file, permission bits with setuid, setgid and sticky.
	Mode uint32
	// SHA256 that the content must have, in hex, or "". It guards against a local file that has changed since it was
	// looked at.
	SHA256 string
}

// ErrContentChanged says that the content is not what its announced SHA-256 says.
var ErrContentChanged = errors.New("the content has changed since its SHA-256 was computed")

// Write puts a file into the sandbox, of any size, and returns what is there afterwards. Missing parent directories are
// made. Whoever reads the path sees the old file or the new one, whole. What is at the path is replaced, a symbolic link
// itself and not its target; a directory is an error ([*PathError]). Nothing staged stays behind.
func (s *Sandbox) Write(ctx context.Context, w WriteRequest) (*FileInfo, error) {
	target, err := CleanPath(w.Path)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	if n, err := io.Copy(hash, io.NewSectionReader(w.Content, 0, w.Size)); err != nil {
		return nil, fmt.Errorf("reading the content of %s: %w", target, err)
	} else if n != w.Size {
		return nil, ErrContentChanged
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if w.SHA256 != "" && w.SHA256 != sum {
		return nil, ErrContentChanged
	}
	for n := 1; ; n++ {
		info, err := s.writeOnce(ctx, w, target, sum)
		var lost *stagedLostError
		if err == nil || !errors.As(err, &lost) || n > s.client.config.RetryMax {
			return info, err
		}
		if err := s.client.wait(ctx, n); err != nil {
			return nil, fmt.Errorf("writing %s in sandbox %s: %w", target, s.id, err)
		}
	}
}

// stagedLostError says that what was to be installed was not there, or not what was sent: worth another try, since
// nothing was changed at the target.
type stagedLostError struct{ reason string }

func (e *stagedLostError) Error() string { return e.reason }

// writeOnce stages the parts and installs them.
func (s *Sandbox) writeOnce(ctx context.Context, w WriteRequest, target, sum string) (*FileInfo, error) {
	nonce := newNonce()
	parts, err := s.stage(ctx, nonce, w.Content, w.Size)
	if err != nil {
		return nil, fmt.Errorf("writing %s in sandbox %s: %w", target, s.id, err)
	}
	answer, inDoubt, err := s.callInDoubt(ctx, call{
		what: "writing " + target, program: scripts.Install, nonce: nonce, changes: true,
		needsContainer: true, args: []string{target, FormatMode(w.Mode), sum, strconv.Itoa(parts)},
	})
	if err != nil {
		s.discard(ctx, nonce)
		if inDoubt {
			err = &DoubtError{err}
		}
		return nil, err
	}
	switch answer.status {
	case 0:
		return parseInstalled(answer.data, target, sum)
	case scripts.StatusNotStaged:
		return nil, &stagedLostError{fmt.Sprintf("what was staged for %s in sandbox %s was removed before it could be installed", target, s.id)}
	case scripts.StatusDifferent:
		return nil, &stagedLostError{fmt.Sprintf("what arrived for %s in sandbox %s is not what was sent", target, s.id)}
	default:
		return nil, s.pathError("write", target, answer)
	}
}

// parseInstalled reads the raw mode (hex) and size that the script reports.
func parseInstalled(data []byte, target, sum string) (*FileInfo, error) {
	info := &FileInfo{Path: target, SHA256: sum}
	var raw uint32
	if _, err := fmt.Sscanf(string(data), "%x %d", &raw, &info.Size); err != nil {
		return nil, fmt.Errorf("writing %s: %w", target, errReplyGarbled)
	}
	info.Kind, info.Mode = splitMode(raw)
	return info, nil
}
