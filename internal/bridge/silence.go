package bridge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilent is the cause when a connection was silent for too long.
var errSilent = errors.New("nothing was received for too long; the connection counts as lost")

// silenceTransport breaks off an exchange in which nothing moves for a while: nothing of the request goes out and nothing
// of the answer comes in. Each try of a request has a time of its own, so that the next may find a living connection.
type silenceTransport struct {
	next  http.RoundTripper
	limit time.Duration
}

func (t *silenceTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, watch := watchSilence(req.Context(), t.limit)
	req = req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &watchedBody{ReadCloser: req.Body, watch: watch}
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		watch.stop()
		return nil, watch.cause(err)
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, watch: watch, answer: true}
	return resp, nil
}

// silenceWatch ends a context when nothing moves for a while.
type silenceWatch struct {
	timer  *time.Timer
	limit  time.Duration
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func watchSilence(ctx context.Context, limit time.Duration) (context.Context, *silenceWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &silenceWatch{limit: limit, ctx: ctx, cancel: cancel}
	w.timer = time.AfterFunc(limit, func() { cancel(errSilent) })
	return ctx, w
}

func (w *silenceWatch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause is errSilent if that is why the exchange broke.
func (w *silenceWatch) cause(err error) error {
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(w.ctx), errSilent) {
		return errSilent
	}
	return err
}

// watchedBody starts the time anew with every byte. The end of an answer's body is that of the watch.
type watchedBody struct {
	io.ReadCloser

	watch  *silenceWatch
	answer bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.timer.Reset(b.watch.limit)
	}
	if b.answer {
		err = b.watch.cause(err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	if b.answer {
		b.watch.stop()
	}
	return b.ReadCloser.Close()
}
