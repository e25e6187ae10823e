package localbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// maxUpload is the largest body that PUT reads (BRIDGE.md, Files).
	maxUpload = 32 << 20
	// messageLimit is what the connection to a container carries in one
	// message. A larger one breaks the connection, and with it every other
	// operation on the sandbox.
	messageLimit = 16 << 20
	// messageOverhead is a write's part of a message besides the base64 of
	// the data and the path: 12,582,828 bytes to /workspace/big3 just fit
	// (OBSERVED.md, b3).
	messageOverhead = 97
	// argumentOverhead is the same for the 32 MiB limit of one call
	// (OBSERVED.md, b2: 25165824 bytes to /workspace/big3 make 33554514).
	argumentOverhead = 67
)

// workspaceFile resolves the path of a file route and answers when it is none.
func workspaceFile(w http.ResponseWriter, r *request, name string) (string, bool) {
	if name == "" {
		sendInvalid(w, "file path must not be empty")
		return "", false
	}
	path, ok := inWorkspace("/" + name)
	if !ok {
		sendError(w, http.StatusForbidden, codeInvalid, "path must resolve to a location within /workspace")
		return "", false
	}
	if !validSessionHeader(r) {
		sendInvalid(w, "Invalid session ID format")
		return "", false
	}
	return path, true
}

// putFile answers PUT /v1/sandbox/:id/file/*.
func (b *Bridge) putFile(w http.ResponseWriter, r *request, name string) {
	path, ok := workspaceFile(w, r, name)
	if !ok {
		return
	}
	body, size, err := readBody(r, maxUpload)
	if err != nil {
		abort() // the client went away in the middle: no file is written
	}
	if size > maxUpload {
		sendError(w, http.StatusRequestEntityTooLarge, codeTooLarge,
			fmt.Sprintf("payload too large: %d bytes exceeds the %d-byte limit", size, maxUpload))
		return
	}
	if err := r.writeFile(path, body); err != nil {
		sendError(w, http.StatusBadGateway, codeArchiveWrite, "write failed: "+err.Error())
		return
	}
	sendOK(w)
}

// readBody reads a body of at most limit bytes and tells the size of a longer
// one without keeping it.
func readBody(r *request, limit int64) (body []byte, size int64, err error) {
	var buffer bytes.Buffer
	buffer.Grow(int(min(max(r.ContentLength, 0), limit) + bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(r.Body, limit)); err != nil {
		return nil, 0, err
	}
	body = buffer.Bytes()
	rest, err := io.Copy(io.Discard, r.Body)
	return body, int64(len(body)) + rest, err
}

// writeFile writes a file in the container under the limits of the path there.
func (r *request) writeFile(path string, body []byte) error {
	if r.broken {
		return errors.New(interrupted("files.writeFile"))
	}
	encoded := (len(body)+2)/3*4 + len(path)
	if size := encoded + argumentOverhead; size > rpcLimit {
		return errors.New(tooLargeForRPC(size))
	}
	if encoded+messageOverhead > messageLimit {
		r.container.cut()
		return errors.New(interrupted("files.writeFile"))
	}
	if reason := badPath(path); reason != "" {
		return errors.New("ValidationFailedError: " + reason)
	}
	resp, err := r.container.call(r.operation(), http.MethodPut, withPath("/file", path), bytes.NewReader(body))
	if err == nil {
		return resp.Body.Close()
	}
	var failure *agentError
	if !errors.As(err, &failure) {
		return errors.New(interrupted("files.writeFile"))
	}
	text := fmt.Sprintf("FileSystemError: Failed to write file '%s': %s, %s", path, failure, failure.During)
	if failure.During == "open" {
		text += " '" + path + "'"
	}
	return errors.New(text)
}

// badPath is the container's complaint about a path's form; it ends at the
// NUL that it complains about (OBSERVED.md, a2).
func badPath(path string) string {
	if before, _, found := strings.Cut(path, "\x00"); found {
		return "Invalid path format for '" + before
	}
	if len(path) > 4096 {
		return "Invalid path format for '" + path + "': Path too long (max 4096 characters)"
	}
	return ""
}

// getFile answers GET and HEAD /v1/sandbox/:id/file/*. There is no 404: a
// missing file is a 200 that breaks off at once (BRIDGE.md, Files).
func (b *Bridge) getFile(w http.ResponseWriter, r *request, name string) {
	path, ok := workspaceFile(w, r, name)
	if !ok {
		return
	}
	b.sendFile(w, r, path, "read failed: ", codeExec)
}

// sendFile streams a file out of the container.
func (b *Bridge) sendFile(w http.ResponseWriter, r *request, path, failed, code string) {
	if r.broken {
		sendError(w, http.StatusBadGateway, code, failed+interrupted("files.readFileStream"))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if badPath(path) != "" {
		b.endBroken(w, r)
		return
	}
	// Unlike a command, a read ends when its reader leaves.
	ctx, cancel := context.WithCancel(r.operation())
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	resp, err := r.container.call(ctx, http.MethodGet, withPath("/file", path), nil)
	var failure *agentError
	switch {
	case errors.As(err, &failure):
		sendError(w, http.StatusBadGateway, code, fmt.Sprintf("%sRPCTransportError: Failed to create file stream: "+
			"withExecution callback failed for sessionless execution: %s, open '%s'", failed, failure, path))
		return
	case err != nil:
		sendError(w, http.StatusBadGateway, code, failed+interrupted("files.readFileStream"))
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		b.endBroken(w, r)
		return
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if err := copyFile(w, resp); err != nil && !b.cfg.CleanCuts {
		abort()
	}
}

// endBroken is how the stream of a file that cannot be read ends.
func (b *Bridge) endBroken(w http.ResponseWriter, r *request) {
	if r.Method != http.MethodHead && !b.cfg.CleanCuts {
		abort()
	}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // chunked, as a stream is
}

// copyFile sends binary files as they are and text through the decoder.
func copyFile(w http.ResponseWriter, from *http.Response) error {
	_ = http.NewResponseController(w).Flush()
	if from.Header.Get(textHeader) == "" {
		_, err := io.Copy(w, from.Body)
		return err
	}
	var text lossyDecoder
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Body.Read(buffer)
		if decoded := text.decode(buffer[:n]); len(decoded) > 0 {
			if _, err := w.Write(decoded); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			_, err := w.Write(text.finish())
			return err
		}
		if err != nil {
			return err
		}
	}
}
