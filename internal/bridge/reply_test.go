package bridge

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const (
	testNonce    = "0123456789abcdef0123456789abcdef"
	testInstance = "ffffffffffffffffffffffffffffffff"
)

func frame(payload string, trailer string) string {
	return testNonce + " begin " + testInstance + "\n" + payload + "\n" + testNonce + " end " + trailer + "\n"
}

func TestReplyIsReadHoweverTheStreamIsCut(t *testing.T) {
	t.Parallel()
	payload := base64.StdEncoding.EncodeToString([]byte("hello"))
	stream := "what the image prints\n" + frame("\n\n"+payload+"\n", fmt.Sprintf("3 %d", len(payload))) + "and more\n"
	for size := 1; size <= len(stream); size++ {
		r := &reply{nonce: testNonce, limit: 1000}
		for rest := []byte(stream); len(rest) > 0; {
			n := min(size, len(rest))
			if err := r.feed(rest[:n]); err != nil {
				t.Fatalf("pieces of %d: %v", size, err)
			}
			rest = rest[n:]
		}
		data, err := r.answer()
		if err != nil || string(data) != "hello" || r.status != 3 || r.instance != testInstance || !r.ended {
			t.Fatalf("pieces of %d: got %q, %v, %+v", size, data, err, r)
		}
	}
}

func TestReplyTellsSignsOfLife(t *testing.T) {
	t.Parallel()
	beats := 0
	r := &reply{nonce: testNonce, limit: 1000, heartbeat: func() { beats++ }}
	if err := r.feed([]byte("\n" + frame("\n\naGk=", "0 4") + "\n")); err != nil || beats != 2 {
		t.Errorf("%d signs of life, %v", beats, err)
	}
}

func TestReplyWithoutProofIsNoReply(t *testing.T) {
	t.Parallel()
	whole := frame("aGk=", "0 4")
	for n := range len(whole) {
		r := &reply{nonce: testNonce, limit: 1000}
		if err := r.feed([]byte(whole[:n])); err != nil || r.ended {
			t.Errorf("%q: ended %v, %v", whole[:n], r.ended, err)
		}
	}
}

func TestReplyRefusesWhatIsGarbled(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("1", 32)
	for name, stream := range map[string]string{
		"another instance in the middle": testNonce + " begin " + testInstance + "\n" + testNonce + " begin " + other + "\n",
		"not an instance":                testNonce + " begin x\n",
		"unknown word":                   testNonce + " begin " + testInstance + "\n" + testNonce + " middle\n",
		"no status":                      frame("", ""),
		"status is no number":            frame("", "x"),
		"status out of range":            frame("", "256"),
		"negative number":                frame("", "0 -1"),
		"last number is none":            frame("", "0 4 x"),
		"too large":                      frame(strings.Repeat("x", 2000), "0 2000"),
		"endless first line":             strings.Repeat("x", 2000),
	} {
		r := &reply{nonce: testNonce, limit: 1000}
		if err := r.feed([]byte(stream)); err == nil || r.ended {
			t.Errorf("%s: taken for %+v", name, r)
		}
	}
	for name, stream := range map[string]string{
		"length differs":    frame("aGk=", "0 5"),
		"not base64":        frame("a_k=", "0 4"),
		"two lines":         frame("aGk=\naGk=", "0 4"),
		"no length":         frame("aGk=", "0"),
		"one event twice":   frame("aGk=aGk=", "0 4"),
		"padding has bits":  frame("aGl=", "0 4"),
		"a number too many": frame("aGk=", "0 4 4"),
	} {
		r := &reply{nonce: testNonce, limit: 1000}
		if err := r.feed([]byte(stream)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, err := r.answer(); !errors.Is(err, errReplyGarbled) {
			t.Errorf("%s: taken for %q, %v", name, data, err)
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(frame("aGk=", "0 4")), 7)
	f.Add([]byte(frame("\n\naGk=\naGk=", "0 1 0 2 2 2 2")), 1)
	f.Add([]byte(testNonce+" end 0"), 100)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		const limit = 1 << 12
		whole, pieces := &reply{nonce: testNonce, limit: limit}, &reply{nonce: testNonce, limit: limit}
		wholeErr := whole.feed(stream)
		var piecesErr error
		for rest := stream; len(rest) > 0 && piecesErr == nil; {
			n := min(max(size, 1), len(rest))
			piecesErr = pieces.feed(rest[:n])
			rest = rest[n:]
		}
		if (wholeErr == nil) != (piecesErr == nil) || whole.ended != pieces.ended {
			t.Fatalf("whole: %v %v, in pieces of %d: %v %v", whole.ended, wholeErr, size, pieces.ended, piecesErr)
		}
		if whole.held > limit {
			t.Errorf("%d bytes are held, the limit is %d", whole.held, limit)
		}
		if !whole.ended || wholeErr != nil {
			return
		}
		if !bytes.Contains(stream, []byte(testNonce+" end ")) {
			t.Error("ended without the line that proves it")
		}
		_, _ = whole.answer()
		_, _ = (&run{}).read(whole)
	})
}

func FuzzInspected(f *testing.F) {
	paths := []string{"/workspace/a", "/workspace/b c"}
	f.Add([]byte("81a4 3 /workspace/a\x00\x00" + strings.Repeat("0", 64) + " */workspace/a\x00\x00/workspace/b c\x00"))
	f.Add([]byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		infos, err := parseInspected(data, paths)
		if err != nil {
			return
		}
		if len(infos) != len(paths) {
			t.Fatalf("asked about %d, told about %d", len(paths), len(infos))
		}
		for i, info := range infos {
			if info.Path != paths[i] {
				t.Errorf("got %q in the place of %q", info.Path, paths[i])
			}
			if info.SHA256 != "" && !isSHA256(info.SHA256) {
				t.Errorf("got %q for a SHA-256", info.SHA256)
			}
		}
	})
}
