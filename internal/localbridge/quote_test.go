package localbridge

import (
	"os/exec"
	"strings"
	"testing"
)

func TestOnlyHarmlessWordsStayUnquoted(t *testing.T) {
	for _, row := range []struct{ word, want string }{
		{"FOO=1", "FOO=1"},
		{"a@b%c+d:e,f./-", "a@b%c+d:e,f./-"},
		{"", "$''"},
		{"a b", "$'a b'"},
		{"a_b", "$'a_b'"},
		{"é", "$'é'"},
		{"~", "$'~'"},
		{"it's", `$'it\'s'`},
		{"a\n\r\t\\", `$'a\n\r\t\\'`},
	} {
		if got := quoteWord(row.word); got != row.want {
			t.Errorf("%q: got %s, want %s", row.word, got, row.want)
		}
	}
}

// FuzzQuotedWordsPassBash: whatever the word, bash gives it back.
func FuzzQuotedWordsPassBash(f *testing.F) {
	for _, word := range []string{"", "a b", "it's", `\`, `\'`, "\x01\x7f", "日本", "\xff", "$(id)", "!!", "a\nb\n"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") || len(word) > 100_000 {
			t.Skip("cannot be an argument")
		}
		out, err := exec.Command("/bin/bash", "-c", joinCommand([]string{"printf", "%s", word})).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q came back as %q (%v)", word, out, err)
		}
	})
}
