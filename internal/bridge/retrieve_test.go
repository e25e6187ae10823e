package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// retrieved are the operations that fetch what waits in the sandbox by a request of its own.
var retrieved = map[string]struct {
	// report says that something waits there, of which 900 bytes are still to come.
	report string
	status int
	fetch  func(ctx context.Context, s *bridge.Sandbox, w io.Writer) error
}{
	"read": {
		"81a4 900 " + strings.Repeat("0", 64) + "\n", scripts.StatusLinked,
		func(ctx context.Context, s *bridge.Sandbox, w io.Writer) error {
			_, err := s.Read(ctx, "a", w)
			return err
		},
	},
	"archive": {
		strings.Repeat("0", 64) + " 900 archive-7.gz\n", 0,
		func(ctx context.Context, s *bridge.Sandbox, w io.Writer) error {
			_, err := s.Archive(ctx, bridge.ArchiveRequest{Path: "a"}, w)
			return err
		},
	},
}

// Content of which the connection is lost, or the answer that tells of it, is asked for again.
func TestContentIsRetrievedAgainUntilProven(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	inside(t, s, "head -c 3000000 /dev/urandom >/workspace/file")
	want := strings.Fields(inside(t, s, "sha256sum /workspace/file"))[0]
	const exec, get = "POST sandbox/:id/exec", "GET sandbox/:id/file"
	for name, rule := range map[string]faultproxy.Rule{
		"answer lost":        {Route: exec, Fault: cut{after: 1}.fault()},
		"answer cut short":   {Route: exec, Fault: cut{after: 120, clean: true}.fault()},
		"content lost":       {Route: get, Fault: cut{before: true}.fault()},
		"content broken off": {Route: get, Fault: cut{after: 1_000_000}.fault()},
		"content cut short":  {Route: get, Fault: cut{after: 1_000_000, clean: true}.fault()},
	} {
		rule.From, rule.To = 1, 1
		var content, archive bytes.Buffer
		proxy.Set(rule)
		if info, err := s.Read(t.Context(), "file", &content); err != nil || info.SHA256 != want || sum(content.String()) != want {
			t.Errorf("%s: got %+v, %v", name, info, err)
		}
		proxy.Set(rule)
		if info, err := s.Archive(t.Context(), bridge.ArchiveRequest{Path: "file"}, &archive); err != nil || sum(archive.String()) != info.SHA256 {
			t.Errorf("%s: got %+v, %v", name, info, err)
		}
	}
	proxy.Set()
	expectNothingStaged(t, s)
}

// reporting is a liar that has something to be fetched.
func reporting(t *testing.T, report string, status int) *liar {
	t.Helper()
	l := newLiar(t)
	l.exec = func(a liarAsk) {
		if !a.honest() {
			_, _ = io.WriteString(a.out, a.frame(report, status))
		}
	}
	return l
}

// What the bridge refuses, or the writer, does not become better by doing all of it again.
func TestRefusedContentIsAskedForNoMoreThanAnyRequest(t *testing.T) {
	t.Parallel()
	errFull := errors.New("no space left on device")
	for name, operation := range retrieved {
		l := reporting(t, operation.report, operation.status)
		for _, test := range []struct {
			status, requests int
			w                io.Writer
			want             string
		}{
			{401, 1, io.Discard, "Access to the bridge was denied"},
			{413, 1, io.Discard, "too large"},
			{500, 2, io.Discard, "The bridge failed"},
			{200, 1, refusing{errFull}, ""},
		} {
			l.get = func(w io.Writer) {
				w.(http.ResponseWriter).WriteHeader(test.status)
				_, _ = io.WriteString(w, strings.Repeat("x", 900))
			}
			before := len(l.gotten())
			err := operation.fetch(inTime(t), l.sandbox(t, patience), test.w)
			if requests := len(l.gotten()) - before; requests != test.requests {
				t.Errorf("%s, %d: %d requests", name, test.status, requests)
			}
			var refused *bridge.Error
			if isRefused := errors.As(err, &refused); isRefused != (test.want != "") || isRefused && !strings.Contains(refused.Summary, test.want) ||
				!isRefused && !errors.Is(err, errFull) {
				t.Errorf("%s, %d: got %v", name, test.status, err)
			}
		}
	}
}

// refusing is a writer that has no room.
type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

// What is fetched from a link is no more than the sandbox has announced, and no more than was asked for.
func TestEndlessContentIsCutOff(t *testing.T) {
	t.Parallel()
	for name, operation := range retrieved {
		l := reporting(t, operation.report, operation.status)
		l.get = func(w io.Writer) { forEver(w, "x") }
		var b bytes.Buffer
		err := operation.fetch(inTime(t), l.sandbox(t, patience), &b)
		if b.Len() > 900 || err == nil || !strings.Contains(err.Error(), "what arrived is not what is there") || len(l.gotten()) == 0 {
			t.Errorf("%s: %d bytes, %v", name, b.Len(), err)
		}
	}
}

// Content that keeps coming, but so slowly that it never ends, is given up as well.
func TestContentThatTricklesIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, operation := range retrieved {
		l := reporting(t, operation.report, operation.status)
		l.get = func(w io.Writer) { trickle(flushing{w.(http.ResponseWriter)}, "x") }
		s := l.sandbox(t, patience)
		if _, err := s.Start(inTime(t)); err != nil {
			t.Fatal(err)
		}
		s.SetCallLimit(20 * moment)
		// A context that ends by itself has a limit already.
		if err := operation.fetch(t.Context(), s, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// flushing sends at once what is written to it.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}
