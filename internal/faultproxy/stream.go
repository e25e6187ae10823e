package faultproxy

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"
)

// change sends a stream of events in another way.
func (p *Proxy) change(w http.ResponseWriter, r *http.Request, resp *http.Response, change Stream) {
	whole, err := io.ReadAll(resp.Body)
	if err != nil {
		p.end(w, r, Reset)
		return
	}
	stream := string(whole)
	if change.Rewrite != nil {
		stream = change.Rewrite(stream)
	}
	begin(w, resp, false)
	flush := http.NewResponseController(w).Flush
	for _, piece := range pieces(stream, change.Piece) {
		if !p.pause(r, change.Pause) {
			return
		}
		p.passed(len(piece))
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
		_ = flush()
	}
}

func pieces(stream string, size int) []string {
	if size <= 0 {
		return strings.SplitAfter(stream, "\n\n")
	}
	var pieces []string
	for len(stream) > size {
		pieces = append(pieces, stream[:size])
		stream = stream[size:]
	}
	return append(pieces, stream)
}

// pause reports whether somebody still listens afterwards.
func (p *Proxy) pause(r *http.Request, pause time.Duration) bool {
	if pause <= 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-p.closing:
	}
	return false
}

// Twice repeats every event, after it has made one event of each line of output:
// how much the bridge puts into one depends on how fast the command is read.
func Twice(stream string) string {
	var b strings.Builder
	for _, event := range byLine(stream) {
		b.WriteString(event + event)
	}
	return b.String()
}

// byLine takes a stream apart into events that hold one line of output each.
func byLine(stream string) []string {
	var events []string
	var name, output string
	flush := func() {
		for line := range strings.SplitAfterSeq(output, "\n") {
			if line != "" {
				events = append(events, name+base64.StdEncoding.EncodeToString([]byte(line))+"\n\n")
			}
		}
		output = ""
	}
	for event := range strings.SplitAfterSeq(stream, "\n\n") {
		head, data, _ := strings.Cut(event, "data: ")
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(data))
		if head+"data: " != name {
			flush()
			name = head + "data: "
		}
		if !strings.HasPrefix(event, "event: std") || err != nil {
			flush()
			events = append(events, event)
			continue
		}
		output += string(decoded)
	}
	flush()
	return events
}

// Relined writes the same events in the other form that the standard allows:
// with carriage returns, comments, and fields without the space.
func Relined(stream string) string {
	stream = strings.NewReplacer("event: ", "event:", "data: ", "data:").Replace(stream)
	stream = strings.ReplaceAll(stream, "\n\n", "\n: between events\n\n")
	return "\uFEFF" + strings.ReplaceAll(stream, "\n", "\r\n")
}

// WithLast puts something else in the place of the last event, which tells how
// the command ended.
func WithLast(event string) func(string) string {
	return func(stream string) string {
		trimmed := strings.TrimRight(stream, "\n")
		return trimmed[:strings.LastIndex(trimmed, "\n\n")+len("\n\n")] + event
	}
}
