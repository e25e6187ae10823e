package faultproxy

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

// serve does to a request what its rule says.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	// All of the body first: a proxy that still reads it when the answer is there
	// already cuts off the answer now and then. It also lets the server notice a
	// client that goes away.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fault := p.arrived(describe(r, len(body)))
	if p.mayRefuse() {
		w.Header().Set("Connection", "close")
	}
	if fault.Before != nil {
		if fault.Answer == nil {
			p.hit()
		}
		fault.Before()
	}
	switch {
	case fault.Answer != nil:
		p.hit()
		fault.Answer.send(w)
		return
	case fault.Cut != nil && fault.Cut.At == BeforeRequest:
		p.hit()
		p.end(w, r, fault.Cut.Way)
		return
	}

	// What was sent is carried out, also when the client goes away meanwhile.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	go func() {
		select {
		case <-p.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	done := p.forwarding()
	resp, err := p.forward(ctx, r, body)
	if err != nil {
		done()
		p.end(w, r, Reset)
		return
	}
	resp.Body = &forwardedBody{ReadCloser: resp.Body, done: done}
	defer resp.Body.Close()
	switch {
	case fault.Cut != nil:
		p.hit()
		p.cut(w, r, resp, fault)
	case fault.Stream != nil && isStream(resp):
		p.hit()
		p.change(w, r, resp, *fault.Stream)
	default:
		begin(w, resp, true)
		p.copy(w, r, resp.Body)
	}
}

// forwardedBody tells when the bridge has done with a request.
type forwardedBody struct {
	io.ReadCloser

	done func()
}

func (b *forwardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *forwardedBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}

func (a *Answer) send(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

// forward sends the request to the bridge, its path as it came over the wire.
func (p *Proxy) forward(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = p.target.Scheme, p.target.Host, ""
	if prefix := strings.TrimRight(p.target.EscapedPath(), "/"); prefix != "" {
		out.URL = p.target.JoinPath(r.URL.EscapedPath())
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.Header.Del("Connection")
	return p.transport.RoundTrip(out)
}

// begin sends the head of an answer. Without its length the answer can end
// anywhere.
func begin(w http.ResponseWriter, resp *http.Response, length bool) {
	for name, values := range resp.Header {
		if name != "Connection" && (length || name != "Content-Length") {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
}

// copy passes on what comes, as soon as it comes.
func (p *Proxy) copy(w http.ResponseWriter, r *http.Request, body io.Reader) {
	flush := http.NewResponseController(w).Flush
	_ = flush()
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			p.passed(n)
			if _, err := w.Write(buffer[:n]); err != nil {
				return
			}
			_ = flush()
		}
		switch err {
		case nil:
		case io.EOF:
			return
		default:
			p.end(w, r, Reset)
			return
		}
	}
}

// cut lets a part of the answer pass, or nothing of it.
func (p *Proxy) cut(w http.ResponseWriter, r *http.Request, resp *http.Response, fault Fault) {
	cut := *fault.Cut
	if cut.At == AfterRequest || cut.After == 0 {
		// To the end, so that what was asked for has been done.
		whole, err := io.ReadAll(resp.Body)
		if fault.After != nil {
			fault.After()
		}
		if err != nil || cut.At == AfterRequest {
			p.end(w, r, cut.Way)
			return
		}
		resp.Body = io.NopCloser(bytes.NewReader(whole))
		cut.After = len(whole) / 2
	}
	// A cut that is not to be seen leaves out the length as well.
	begin(w, resp, cut.Way != End)
	p.copy(w, r, io.LimitReader(resp.Body, int64(cut.After)))
	p.end(w, r, cut.Way)
}

// end ends an exchange that is not complete.
func (p *Proxy) end(w http.ResponseWriter, r *http.Request, way Way) {
	switch way {
	case End:
		return
	case Hold:
		select {
		case <-r.Context().Done():
		case <-p.closing:
		}
		panic(http.ErrAbortHandler)
	default:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			// Without linger a close is a reset.
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

func isStream(resp *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return mediaType == "text/event-stream"
}
