package localbridge

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// Error codes of the bridge (BRIDGE.md, Errors).
const (
	codeInvalid      = "invalid_request"
	codeUnauthorized = "unauthorized"
	codeTooLarge     = "payload_too_large"
	codeCapacity     = "capacity_exceeded"
	codePool         = "pool_error"
	codeExec         = "exec_transport_error"
	codeArchiveRead  = "workspace_archive_read_error"
	codeArchiveWrite = "workspace_archive_write_error"
	codeSession      = "session_error"
	codeTunnel       = "tunnel_error"
	codeMount        = "mount_error"
	codeUnmount      = "unmount_error"
)

// What broke inside a running operation (OBSERVED.md, b4, e+f).
const (
	cutExec         = "exec failed: WritableStream RPC stub was disposed without calling close()"
	interruptedBy   = "OperationInterruptedError: Sandbox operation "
	interruptedTail = " was interrupted while the runtime connection was closing"
)

func interrupted(operation string) string {
	return interruptedBy + operation + interruptedTail
}

// marshal encodes as JSON.stringify does, without HTML escapes.
func marshal(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only plain structs and maps of this package come here
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func sendJSON(w http.ResponseWriter, status int, value any) {
	body := marshal(value)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

type errorReply struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

func sendError(w http.ResponseWriter, status int, code, text string) {
	sendJSON(w, status, errorReply{Error: text, Code: code})
}

func sendInvalid(w http.ResponseWriter, text string) {
	sendError(w, http.StatusBadRequest, codeInvalid, text)
}

type okReply struct {
	OK bool `json:"ok"`
}

func sendOK(w http.ResponseWriter) {
	sendJSON(w, http.StatusOK, okReply{OK: true})
}

func sendText(w http.ResponseWriter, status int, text string) {
	sendPlain(w, status, "text/plain; charset=UTF-8", text)
}

func sendPlain(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func sendNotFound(w http.ResponseWriter) {
	sendText(w, http.StatusNotFound, "404 Not Found")
}

// sendCrash is what a body of null, say, gets: the Worker itself falls over.
func sendCrash(w http.ResponseWriter) {
	sendText(w, http.StatusInternalServerError, "Internal Server Error")
}

// abort closes the connection in the middle of an answer, or without one.
func abort() {
	panic(http.ErrAbortHandler)
}
