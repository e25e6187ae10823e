package localbridge

import (
	"io"
	"net/http"
)

// eventStream writes server-sent events. A client that has gone away is no
// error: the command it started runs to its end all the same.
type eventStream struct {
	w     io.Writer
	flush *http.ResponseController
}

func newEventStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, flush: http.NewResponseController(w)}
	_ = s.flush.Flush()
	return s
}

func (s *eventStream) send(event, data string) {
	_, _ = io.WriteString(s.w, "event: "+event+"\ndata: "+data+"\n\n")
	_ = s.flush.Flush()
}

// fail ends the stream without an exit code.
func (s *eventStream) fail(text string) {
	s.send("error", string(marshal(errorReply{Error: text, Code: codeExec})))
}
