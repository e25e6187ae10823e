package localbridge

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
)

// write stores the request's body in place: parents are made, symbolic links
// followed, mode and inode of an existing file kept (BRIDGE.md, Routes).
func (a *agent) write(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	// A parent that cannot be made shows in the open that follows.
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		if errors.Is(err, syscall.EROFS) {
			err = syscall.EACCES // read-only here, root's own in the published image
		}
		fail(w, "open", err)
		return
	}
	if _, err := io.Copy(file, r.Body); err != nil {
		file.Close()
		fail(w, "write", err)
		return
	}
	if err := file.Close(); err != nil {
		fail(w, "write", err)
	}
}

// read sends a regular file's bytes and says whether they count as text.
func (a *agent) read(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	file, err := os.Open(path)
	if err != nil {
		fail(w, "open", err)
		return
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		fail(w, "read", err)
		return
	}
	if isText(path, head[:n]) {
		w.Header().Set(textHeader, "1")
	}
	if _, err := w.Write(head[:n]); err != nil {
		return
	}
	if _, err := io.Copy(w, file); err != nil {
		panic(http.ErrAbortHandler) // a read error must not look like the end
	}
}
