package localbridge

import (
	"net/url"
	"strings"
	"testing"
)

// TestNameDecoding: OBSERVED.md, a and a2.
func TestNameDecoding(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"a%20b", "a b"},
		{"%61%20%62", "a b"},
		{"a%23b", "a%23b"},
		{"a%3Fb", "a%3Fb"},
		{"a%25b", "a%25b"},
		{"a%3Bb", "a%3Bb"},
		{"a%2Cb", "a%2Cb"},
		{"a%2Bb", "a%2Bb"},
		{"a%26b", "a%26b"},
		{"a%3Db", "a%3Db"},
		{"a%40b", "a%40b"},
		{"a%24b", "a%24b"},
		{"a%3Ab", "a%3Ab"},
		{"a%2Fb", "a%2Fb"},
		{"a%2fb", "a%2fb"},
		{"a%2523", "a%2523"},
		{"a;b,c+d&e=f@g$h:i", "a;b,c+d&e=f@g$h:i"},
		{"%E6%97%A5%E6%9C%AC", "日本"},
		{"%F0%9F%8E%89%78", "🎉x"},
		{"a%0Ab%09c%7Fd%01", "a\nb\tc\x7fd\x01"},
		{"a%5Cb%7C%22%27", `a\b|"'`},
		{"a%zz", "a%zz"},
		{"a%20b%zz", "a b%zz"},
		{"100%", "100%"},
		{"a%u0041", "a%u0041"},
		{"%FF", "%FF"},
		{"a%FFb%20c", "a%FFb c"},
		{"%E3%81", "%E3%81"},
		{"%FF%20", "%FF%20"},
		{"é%20", "é "},
		{"x%3By%20z", "x%3By z"},
		{"%ED%A0%80", "%ED%A0%80"},
	} {
		if got := decodeName(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.in, got, row.want)
		}
	}
}

func TestPathsStayInTheWorkspace(t *testing.T) {
	for _, row := range []struct {
		in, want string
		ok       bool
	}{
		{"", "/workspace", true},
		{"sub", "/workspace/sub", true},
		{"/workspace//a/./b/", "/workspace/a/b", true},
		{"/workspace/x/../up", "/workspace/up", true},
		{"/workspace/..%2fx", "/workspace/..%2fx", true},
		{"/workspace/../etc", "/etc", false},
		{"/workspacex/a", "/workspacex/a", false},
		{"/", "/", false},
		{"../../..", "/", false},
	} {
		if got, ok := inWorkspace(row.in); got != row.want || ok != row.ok {
			t.Errorf("%q: got %q %v, want %q %v", row.in, got, ok, row.want, row.ok)
		}
	}
}

// FuzzNameDecoding: a name sent the way BRIDGE.md says arrives; nothing panics.
func FuzzNameDecoding(f *testing.F) {
	for _, seed := range []string{"a b", "%", "%2", "%zz", "%E3%81%82", "100%", "日本;,", "%25"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decodeName(text)
		urlPath("/" + text)
		if strings.ContainsAny(text, "#?%") || text != strings.ToValidUTF8(text, "") {
			return // cannot be addressed
		}
		escaped := strings.NewReplacer("%3B", ";", "%2C", ",", "%2F", "/").Replace(url.PathEscape(text))
		if got := decodeName(escaped); got != text {
			t.Errorf("%q sent as %s arrives as %q", text, escaped, got)
		}
	})
}
