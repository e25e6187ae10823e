package bridge

import (
	"context"
	"io"
	"net/http"
)

// partSize is the most that one PUT carries. The bridge takes up to 12 MiB; above that it fails and cuts off every other
// operation on the sandbox (BRIDGE.md, "Files").
const partSize = 8 << 20

// putFile writes one part of content to a path below /workspace. The path must consist of characters that need no
// encoding in a URL, since the bridge decodes only some: staging names do.
func (c *Client) putFile(ctx context.Context, id, path string, content io.ReaderAt, offset, size int64) error {
	r := request{
		method: http.MethodPut, path: sandboxPath(id) + "/file" + path, size: size,
		newBody: func() io.Reader { return io.NewSectionReader(content, offset, size) },
	}
	return c.doOK(ctx, r)
}

// getFile copies what the bridge has at a path to w, at most size bytes. The bytes prove nothing by themselves: the bridge
// changes text and may end in the middle with a success (BRIDGE.md, "Files"), so callers read through a link that ends in
// .gz and check the SHA-256. What is behind the link may have been replaced by something without an end.
//
// Errors: an [*Error], or what w said.
func (c *Client) getFile(ctx context.Context, id, path string, size int64, w io.Writer) error {
	r := request{method: http.MethodGet, path: sandboxPath(id) + "/file" + path, accept: "application/octet-stream"}
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	local := &localWriter{w: w}
	_, err = io.Copy(local, io.LimitReader(resp.Body, size))
	switch {
	case local.err != nil:
		return local.err
	case err != nil:
		broken := c.transportError(r, err)
		broken.afterAnswer = true
		return broken
	}
	return nil
}

// localWriter keeps what its writer says apart from what the connection does.
type localWriter struct {
	w   io.Writer
	err error
}

func (l *localWriter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	l.err = err
	return n, err
}
