package bridge

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// stagingRoot is where files wait on their way into the sandbox, since the bridge writes only below /workspace, and only
// to names that need no encoding. scripts/prelude.sh has the same name.
const stagingRoot = Workspace + "/.cloudflaresandbox"

// stagedPart is the path of part n (from 1) of what the request with that nonce brings.
func stagedPart(nonce string, n int) string {
	return stagingRoot + "/" + nonce + "/" + strconv.Itoa(n)
}

// stage brings content into the sandbox, in as many parts as it takes, at least one. After a failure nothing of it stays.
func (s *Sandbox) stage(ctx context.Context, nonce string, content io.ReaderAt, size int64) (parts int, err error) {
	for offset := int64(0); parts == 0 || offset < size; offset += partSize {
		parts++
		if err := s.putAlone(ctx, stagedPart(nonce, parts), content, offset, min(partSize, size-offset)); err != nil {
			s.discard(ctx, nonce)
			return 0, err
		}
	}
	return parts, nil
}

// putAlone sends a part, by itself if it may be the first contact. Where it arrives nothing tells; a script that does not
// find the part there does.
func (s *Sandbox) putAlone(ctx context.Context, path string, content io.ReaderAt, offset, size int64) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.put(ctx, path, content, offset, size)
}

// settleLimit is how long what is being sent may take to be answered after nobody wants it any more.
const settleLimit = 5 * time.Second

// put sends a part. When the context ends meanwhile, the answer is waited for all the same, for a while: a bridge that has
// the part already would write it after whoever clears up had been there.
func (s *Sandbox) put(ctx context.Context, path string, content io.ReaderAt, offset, size int64) error {
	sending, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	if ends, ok := ctx.Deadline(); ok {
		// It decides which waits make sense.
		var cancel context.CancelFunc
		sending, cancel = context.WithDeadline(sending, ends.Add(settleLimit))
		defer cancel()
	}
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(settleLimit, func() { giveUp(context.Cause(ctx)) })
	})()
	err := s.client.putFile(sending, s.id, path, content, offset, size)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("sending content to sandbox %s: %w", s.id, context.Cause(ctx))
	}
	return err
}

// discardLimit bounds the time for clearing up after a failure.
const discardLimit = 10 * time.Second

// discard removes what was staged for a request that failed, in whichever container it arrived.
func (s *Sandbox) discard(ctx context.Context, nonce string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardLimit)
	defer cancel()
	_, err := s.call(ctx, call{
		what: "removing staged content", program: scripts.Discard, args: []string{nonce},
	})
	if err != nil {
		s.client.log(ctx, "staged content could not be removed", map[string]any{"error": err.Error()})
	}
}
