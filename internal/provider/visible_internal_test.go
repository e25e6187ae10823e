package provider

import (
	"strings"
	"testing"
)

func TestVisibleShowsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"plain, ünïcode 漢字 \U0001F600\n\tindented": "plain, ünïcode 漢字 \U0001F600\n\tindented",
		"\x1b[2J\x1b]0;title\x07":                  `\x1b[2J\x1b]0;title\x07`,
		"10%\r20%\r\ndone":                         "10%\n20%\ndone",
		"\u202egnp.exe\u200b":                      `\u202egnp.exe\u200b`,
		"\x00\u0085\u009b31m\x7f":                  `\x00\x85\x9b31m\x7f`,
		"\xff":                                     "\uFFFD",
		"no-break\u00a0space":                      "no-break\u00a0space",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := visibleName(" a\nb\x1b " + strings.Repeat("x", 1000)); got != `a b\x1b `+strings.Repeat("x", 92)+"…" {
		t.Errorf("got %q", got)
	}
}
