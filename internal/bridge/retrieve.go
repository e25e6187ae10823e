package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// retrieval is content that waits in the sandbox to be fetched.
type retrieval struct {
	// what is fetched, for errors: "reading ...".
	what string
	// path where the bridge reads bytes as they are.
	path string
	// size and sha256 that the content must have.
	size   int64
	sha256 string
}

// retrieve copies content to w. An error is unproven, and worth to be tried again from the start, where the connection
// broke or other bytes arrived. It is not where the bridge refused, which has been tried often enough, or w did.
func (s *Sandbox) retrieve(ctx context.Context, r retrieval, w io.Writer) error {
	ctx, cancel := s.bounded(ctx, 0)
	defer cancel()
	hash := sha256.New()
	err := s.client.getFile(ctx, s.id, r.path, r.size, io.MultiWriter(hash, w))
	var request *Error
	switch isRequest := errors.As(err, &request); {
	case err != nil && !isRequest:
		return fmt.Errorf("%s in sandbox %s: %w", r.what, s.id, err)
	case err != nil && (ctx.Err() != nil || request.Status != 0):
		return err
	case err != nil:
		return &unprovenError{fmt.Errorf("%s in sandbox %s: %w", r.what, s.id, err)}
	case hex.EncodeToString(hash.Sum(nil)) != r.sha256:
		return &unprovenError{fmt.Errorf("%s in sandbox %s: what arrived is not what is there; it may have changed meanwhile", r.what, s.id)}
	}
	return nil
}
