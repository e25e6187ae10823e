package provider

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// shells are those of this machine; the sandbox's image decides which it has.
func shells(tb testing.TB) []string {
	tb.Helper()

	var found []string
	for _, name := range []string{"bash", "sh", "dash", "zsh", "ksh"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		tb.Skip("no shell found")
	}

	return found
}

// expectWords checks that shells read just these words.
func expectWords(t *testing.T, shells []string, words []string) {
	t.Helper()

	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	line := `printf '%s\0' ` + strings.Join(quoted, " ")
	want := strings.Join(words, "\x00") + "\x00"

	for _, shell := range shells {
		got, err := exec.CommandContext(t.Context(), shell, "-c", line).Output()
		if err != nil || string(got) != want {
			t.Errorf("%s reads %q as %q, %v, want %q", shell, line, got, err, want)
		}
	}
}

func TestShellQuotesEveryCharacter(t *testing.T) {
	t.Parallel()

	var words []string
	for c := rune(1); c < 0x100; c++ {
		words = append(words, string(c), "a"+string(c), string(c)+"a", "a"+string(c)+"b", strings.Repeat(string(c), 3))
	}
	words = append(words, "", "'", "''", `\'`, `'"'"'`, "$(id)", "`id`", "${HOME}", "{a,b}", "a=b", "-a=b", "=a", "~root", "a:~", "!!", "\n\n", "\r\n",
		"👩‍🚀", "e\u0301", "\u00a0", "\u2028", "-n", "--", "%s", `\0`, "2>x", "#a", "[a-z]", "?")

	expectWords(t, shells(t), words)
}

// Where a command starts, a shell sees more than words.
func TestShellQuotedFirstWordIsAProgram(t *testing.T) {
	t.Parallel()

	words := append([]string{"A=b", "_=", "a1+=b", "!", "{", "}", "[[", "((", "~", "#", "no such program"}, shellKeywords...)
	for _, shell := range shells(t) {
		for _, word := range words {
			cmd := exec.CommandContext(t.Context(), shell, "-c", shellQuote(word)+" x; printf %s $?")
			cmd.Env = []string{"PATH=/nonexistent"}
			if got, err := cmd.Output(); err != nil || string(got) != "127" {
				t.Errorf("%s takes %q not for a program that is missing: %s, %v", shell, word, got, err)
			}
		}
	}
}

func FuzzShellQuote(f *testing.F) {
	for _, seed := range []string{"", "a", "it's", "a\nb", `\`, "$x", "''", "👩‍🚀", "-", "=", "if"} {
		f.Add(seed, "second")
		f.Add("first", seed)
	}
	found := shells(f)

	f.Fuzz(func(t *testing.T, first, second string) {
		if !utf8.ValidString(first+second) || bridge.ValidateText(first+second, bridge.MaxCommandBytes) != nil {
			t.Skip("no words that Terraform can express and a program can be given")
		}
		expectWords(t, found, []string{first, second})
	})
}
