package bridge_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// asked is all that can be asked of a sandbox. Each says how many bytes it was given for itself.
var asked = map[string]func(ctx context.Context, s *bridge.Sandbox) (int, error){
	"instance": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.Instance(ctx)
		return 0, err
	},
	"run": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		result, err := s.Run(ctx, bridge.Command{Argv: []string{"true"}, Timeout: 2 * time.Second, MaxOutputBytes: 1000})
		if err != nil {
			return 0, err
		}
		if result.ExitCode < 0 || result.ExitCode > 255 {
			return math.MaxInt, nil
		}
		return len(result.Stdout) + len(result.Stderr), err
	},
	"python": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.RunPython(ctx, "1", bridge.Command{Argv: []string{"python3"}, Timeout: 2 * time.Second, MaxOutputBytes: 1000})
		return 0, err
	},
	"read": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		var b bytes.Buffer
		_, err := s.ReadAtMost(ctx, "file", 1000, &b)
		return b.Len(), err
	},
	"inspect": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.Inspect(ctx, "a", "b")
		return 0, err
	},
	"write": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.Write(ctx, bridge.WriteRequest{Path: "file", Content: strings.NewReader("x"), Size: 1, Mode: 0o644})
		return 0, err
	},
	"remove": func(ctx context.Context, s *bridge.Sandbox) (int, error) { return 0, s.Remove(ctx, "file") },
	"archive": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		var b bytes.Buffer
		_, err := s.Archive(ctx, bridge.ArchiveRequest{Path: "a", MaxBytes: 1000}, &b)
		return b.Len(), err
	},
	"archive of a choice": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		var b bytes.Buffer
		_, err := s.Archive(ctx, bridge.ArchiveRequest{Path: "a", MaxBytes: 1000, Exclude: func(string) bool { return false }}, &b)
		return b.Len(), err
	},
	"look at a tree": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.InspectTree(ctx, "a", newTree().file("x", "x", 0o644).Tree)
		return 0, err
	},
	"write a tree": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		tree := newTree().file("x", "x", 0o644)
		return 0, s.UploadTree(ctx, bridge.TreeUpload{Path: "a", Tree: tree.Tree, Open: tree.open})
	},
	"remove a tree": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		return 0, s.RemoveTree(ctx, "a", newTree().file("x", "x", 0o644).Tree)
	},
	"look at a mount": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
		_, err := s.LookAtMount(ctx, "mnt")
		return 0, err
	},
}

// inTime is the context of what must come to an end by itself.
func inTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("it does not come to an end by itself"))
	t.Cleanup(cancel)
	return ctx
}

// together runs subtests side by side that mostly wait, more of them than there are processors.
func together(t *testing.T, tests map[string]func(t *testing.T)) {
	t.Helper()
	var running sync.WaitGroup
	defer running.Wait()
	room := make(chan struct{}, 8)
	for name, test := range tests {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			t.Run(name, test)
		})
	}
}

func gzipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content)
	_ = w.Close()
	return b.String()
}

// bomb is 80 MiB of zeros, compressed.
func bomb() string { return strings.Repeat(gzipped(strings.Repeat("\x00", 1<<20)), 80) }

// Whatever a script answers, and with whichever status: it is a result of the kind that was asked for, or an error. It is
// no crash, and never more than was asked for.
func TestForgedAnswersAreErrorsOrResults(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0", 64)
	payloads := []string{
		"", "\x00", "\x00\x00\x00\x00", "\n", "x", strings.Repeat("\xff", 3000), strings.Repeat("\x00", 100_000),
		"81a4 1 " + hash + "\n", "81a4 -1 " + hash + "\n", "81a4 9223372036854775807 " + hash + "\n", "81a4 99999999999999999999 " + hash,
		hash + " 5 archive-1.gz\n", hash + " 9223372036854775807 archive-1.gz\n", hash + " -5 archive-1.gz\n",
		hash + " 5 ../../../def/file/workspace/x\n", hash + " 5 archive-1.gz/../x\n",
		"81a4 1 /workspace/a\x00\x00" + hash + " */workspace/a\x00\x00", "81a4 1 /etc/passwd\x00\x00\x00", "ffffffffffffffffffff 1 /workspace/a\x00\x00\x00",
		gzipped("81a4 1 ./x\x00\x00" + hash + " *./x\x00\x00\x00"), gzipped("81a4 1 ./../../x\x00\x00\x00\x00"), gzipped(""), gzipped("\x00\x00\x00"),
		gzipped("../../etc/passwd\x00/abs\x00//\x00"), bomb(), gzipped(strings.Repeat("a\x00", 1<<20))[:1000],
		"tmpfs rw alive\n", "fuse.s3fs ro dead x\nand more", "error 99999999999 x", "name 3 abc\nend",
	}
	tried := 0
	l := newLiar(t)
	client, ctx := l.client(t, patience), inTime(t)
	for name, ask := range asked {
		for i, payload := range payloads {
			statuses := []int{0}
			if name == "read" || strings.Contains(name, "tree") || strings.Contains(name, "archive") {
				// Their answers come in several ways.
				statuses = append(statuses, 97, 98, 99)
			}
			if i < 2 {
				// These hardly look at the payload.
				statuses = append(statuses, 64, 65, 80, 81, 82, 83, 84, 85, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 255)
			}
			for _, status := range statuses {
				l.exec = func(a liarAsk) {
					if !a.honest() {
						_, _ = io.WriteString(a.out, a.frame(payload, status))
					}
				}
				tried++
				// One of which the client has not heard yet.
				id := "abc" + strings.Repeat("a", tried%100) + strings.Repeat("b", tried/100)
				n, err := ask(ctx, handle(t, client, id))
				if n > 2000 {
					t.Errorf("%s, payload %d, status %d: %d bytes, %v", name, i, status, n, err)
				}
				if ctx.Err() != nil {
					t.Fatalf("%s, payload %d, status %d: %v", name, i, status, err)
				}
			}
		}
	}
	for _, got := range l.gotten() {
		_, file, _ := strings.Cut(strings.TrimPrefix(got, "/v1/sandbox/abc"), "/")
		if !strings.HasPrefix(file, "file/workspace/.cloudflaresandbox/") || path.Clean(got) != got {
			t.Errorf("asked for %s", got)
		}
	}
	t.Logf("%d answers", tried)
}

// An answer without an end is given up after what was asked for, however it goes on.
func TestEndlessAnswersAreGivenUp(t *testing.T) {
	t.Parallel()
	endless := map[string]func(a liarAsk){
		"before the first line": func(a liarAsk) { forEver(a.out, "hello\n") },
		"a first line":          func(a liarAsk) { forEver(a.out, "x") },
		"signs of life": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.begin())
			forEver(a.out, "\n")
		},
		"a payload": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.begin())
			forEver(a.out, "aaaa")
		},
		"lines of payload": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.begin())
			forEver(a.out, "a\n")
		},
		"first lines": func(a liarAsk) { forEver(a.out, a.begin()) },
		"standard error": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.begin())
			forEver(a.err, "bash: no\n")
		},
		"the last line, and after it": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.frame("x", 0))
			trickle(a.out, "aaaa")
		},
		"silence": func(a liarAsk) {
			_, _ = io.WriteString(a.out, a.begin())
			<-a.gone.Done()
		},
		"no answer at all": func(a liarAsk) { <-a.gone.Done() },
	}
	tests := map[string]func(t *testing.T){}
	for kind, answer := range endless {
		for name, ask := range asked {
			if name == "write a tree" || name == "remove a tree" || name == "archive of a choice" {
				// These have to look first, and that is another case.
				continue
			}
			if kind != "a payload" && kind != "no answer at all" && name != "run" && name != "inspect" {
				// What reads an answer is the same for all. They differ in what they expect, and what they do then.
				continue
			}
			tests[kind+"/"+name] = func(t *testing.T) {
				t.Helper()
				l := newLiar(t)
				l.exec = func(a liarAsk) {
					if name == "instance" || !a.honest() {
						answer(a)
					}
				}
				silence := patience
				if kind == "silence" || kind == "no answer at all" {
					silence = moment
				}
				s := l.sandbox(t, silence)
				ctx := inTime(t)
				_, err := ask(ctx, s)
				if ctx.Err() != nil {
					t.Fatal(context.Cause(ctx))
				}
				// A tree may have 32 MiB, and some MiB more are on the way.
				if sent := l.sent.Load(); sent > 80<<20 && !strings.HasPrefix(kind, "the last line") {
					t.Errorf("%d MiB were taken", sent>>20)
				}
				if err == nil && !strings.HasPrefix(kind, "the last line") {
					t.Error("it was taken for an answer")
				}
			}
		}
	}
	together(t, tests)
}

// The limit of an archive is kept by this side, whatever the other one says.
func TestArchiveOverItsLimitIsNotFetched(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "head -c 100000 /dev/urandom >file")
	var b bytes.Buffer
	_, err := s.Archive(t.Context(), bridge.ArchiveRequest{Path: "file", MaxBytes: 1000}, &b)
	var size *bridge.SizeError
	if !errors.As(err, &size) || size.Limit != 1000 || size.Size < 100000 || b.Len() != 0 {
		t.Errorf("got %d bytes, %v", b.Len(), err)
	}
	if !strings.Contains(fmt.Sprint(err), "the archive of /workspace/file") {
		t.Error(err)
	}
	expectNothingStaged(t, s)
}
