package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// maxInlineRead is the largest file that comes with the answer itself. A larger one takes a GET of its own and a request
// to clear up, which is faster from some 1 MiB on (BRIDGE.md, "Proven on the real bridge").
const maxInlineRead = 1 << 20

// SizeError is a file that has more bytes than were asked for. None of them was transferred.
type SizeError struct {
	ID, Path string
	// Size of the file, and the Limit that it is over.
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s in sandbox %s has %d bytes, more than the %d that may be read", e.Path, e.ID, e.Size, e.Limit)
}

// Read copies a file's exact content to w and returns what the file is. A link is followed. The content is verified
// against the file's SHA-256, and counts only once Read has returned without an error: where w can be rewound, like an
// *os.File, a transfer that broke is tried again, else it is an error. Missing, a directory and unreadable are
// different errors ([*PathError]).
func (s *Sandbox) Read(ctx context.Context, path string, w io.Writer) (*FileInfo, error) {
	return s.read(ctx, path, math.MaxInt64, w)
}

// ReadAtMost is Read for a file of at most limit bytes. A larger one is a [*SizeError], found out in the sandbox.
func (s *Sandbox) ReadAtMost(ctx context.Context, path string, limit int64, w io.Writer) (*FileInfo, error) {
	return s.read(ctx, path, limit, w)
}

func (s *Sandbox) read(ctx context.Context, path string, most int64, w io.Writer) (*FileInfo, error) {
	target, err := CleanPath(path)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		info, err := s.readOnce(ctx, target, most, w)
		if err == nil || !isUnproven(err) || n > s.client.config.RetryMax || !rewind(w) {
			return info, err
		}
		if err := s.client.wait(ctx, n); err != nil {
			return nil, fmt.Errorf("reading %s in sandbox %s: %w", target, s.id, err)
		}
	}
}

func (s *Sandbox) readOnce(ctx context.Context, target string, most int64, w io.Writer) (*FileInfo, error) {
	nonce := newNonce()
	answer, err := s.call(ctx, call{
		what: "reading " + target, program: scripts.Read, nonce: nonce, limit: 2 * maxInlineRead,
		args: []string{target, strconv.Itoa(maxInlineRead), strconv.FormatInt(most, 10)},
	})
	if err != nil {
		return nil, err
	}
	switch answer.status {
	case 0:
	case scripts.StatusLinked:
		defer s.discard(ctx, nonce)
	case scripts.StatusTooLarge:
		return nil, s.sizeError(target, most, answer)
	default:
		return nil, s.pathError("read", target, answer)
	}
	line, content, _ := bytes.Cut(answer.data, []byte("\n"))
	info := &FileInfo{Path: target}
	var raw uint32
	if _, err := fmt.Sscanf(string(line), "%x %d %s", &raw, &info.Size, &info.SHA256); err != nil || !isSHA256(info.SHA256) || info.Size < 0 {
		return nil, fmt.Errorf("reading %s in sandbox %s: %w", target, s.id, errReplyGarbled)
	}
	// The sandbox was told as well, but its word is not what keeps to the limit.
	if info.Size > most {
		return nil, &SizeError{ID: s.id, Path: target, Size: info.Size, Limit: most}
	}
	info.Kind, info.Mode = splitMode(raw)
	what := "reading " + target
	if answer.status == scripts.StatusLinked {
		link := stagingRoot + "/" + nonce + "/content.gz"
		if err := s.retrieve(ctx, retrieval{what: what, path: link, size: info.Size, sha256: info.SHA256}, w); err != nil {
			return nil, err
		}
		return info, nil
	}
	if sum := sha256.Sum256(content); int64(len(content)) != info.Size || hex.EncodeToString(sum[:]) != info.SHA256 {
		return nil, &unprovenError{fmt.Errorf("%s in sandbox %s: it changed meanwhile", what, s.id)}
	}
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("%s in sandbox %s: %w", what, s.id, err)
	}
	return info, nil
}

// sizeError makes the error of a file that is too large, from the size in the answer.
func (s *Sandbox) sizeError(target string, most int64, a *answer) error {
	size, err := strconv.ParseInt(strings.TrimSpace(string(a.data)), 10, 64)
	if err != nil {
		return fmt.Errorf("reading %s in sandbox %s: %w", target, s.id, errReplyGarbled)
	}
	return &SizeError{ID: s.id, Path: target, Size: size, Limit: most}
}

// rewind takes back what was written to w, if that can be done.
func rewind(w io.Writer) bool {
	file, ok := w.(interface {
		io.Seeker
		Truncate(size int64) error
	})
	if !ok {
		buffer, ok := w.(*bytes.Buffer)
		if ok {
			buffer.Reset()
		}
		return ok
	}
	if file.Truncate(0) != nil {
		return false
	}
	_, err := file.Seek(0, io.SeekStart)
	return err == nil
}
