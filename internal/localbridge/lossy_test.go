package localbridge

import (
	"testing"
	"unicode/utf8"
)

func decodeWhole(data string) string {
	var d lossyDecoder
	return string(append(d.decode([]byte(data)), d.finish()...))
}

// TestLossyDecoding: bytes sent and received, from OBSERVED.md, c and d.
func TestLossyDecoding(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"", ""},
		{"hello\n", "hello\n"},
		{"\xef\xbb\xbfhello", "hello"},
		{"a\xef\xbb\xbfb", "a\ufeffb"},
		{"\xef\xbb\xbf\xef\xbb\xbfx", "\ufeffx"},
		{"\xef\xbb", "\ufffd"},
		{"caf\xe9 \xff\xfe ok\n", "caf\ufffd \ufffd\ufffd ok\n"},
		{"\"\xed\xa0\x80\"", "\"\ufffd\ufffd\ufffd\""},
		{"ok \xe6\x97", "ok \ufffd"},
		{"\xff\xfe\x00a", "\ufffd\ufffd\x00a"},
		{"\xf0\x9f\x8eA", "\ufffdA"},
		{"\xf0\x9f\x8e", "\ufffd"},
		{"\xe6\x97\xe6\x97\xa5", "\ufffd日"},
		{"\xc0\xaf\xf5\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\ufffd", "\ufffd"},
		{"日本🎉", "日本🎉"},
	} {
		if got := decodeWhole(row.in); got != row.want {
			t.Errorf("%q: got %q, want %q", row.in, got, row.want)
		}
	}
}

// FuzzLossyDecodingIgnoresChunks: where the stream is cut makes no difference,
// the result is UTF-8, and UTF-8 comes through unchanged.
func FuzzLossyDecodingIgnoresChunks(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfh\xe6\x97\xa5\xff"), uint8(2))
	f.Add([]byte("\xf0\x9f\x8e\x89\xf0\x9f"), uint8(1))
	f.Add([]byte("\xed\xa0\x80\xe6\x97"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		whole := decodeWhole(string(data))
		var d lossyDecoder
		var pieces []byte
		for rest := data; len(rest) > 0; {
			n := min(int(step%7)+1, len(rest))
			pieces = append(pieces, d.decode(rest[:n])...)
			rest = rest[n:]
		}
		pieces = append(pieces, d.finish()...)
		if string(pieces) != whole {
			t.Errorf("%q in pieces of %d: %q, whole: %q", data, step%7+1, pieces, whole)
		}
		if !utf8.ValidString(whole) {
			t.Errorf("%q became %q", data, whole)
		}
		if utf8.Valid(data) && len(data) > 0 && data[0] != 0xef && whole != string(data) {
			t.Errorf("%q was changed to %q", data, whole)
		}
	})
}
