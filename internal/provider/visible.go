package provider

import (
	"fmt"
	"strings"
	"unicode"
)

// maxShownName is how much of a name from the sandbox a headline shows.
const maxShownName = 100

// visible makes text from a sandbox fit for an error. Terraform writes errors
// to the terminal as they are, and a terminal obeys control characters: they
// could hide what is said before them, or write into the window's title. The
// ends of lines stay, and what turns the direction of text is shown, too.
func visible(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))

	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', unicode.IsPrint(r), unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}

	return b.String()
}

// visibleName is visible for a name in a headline.
func visibleName(text string) string {
	name := []rune(strings.Join(strings.Fields(visible(text)), " "))
	if len(name) > maxShownName {
		name = append(name[:maxShownName], '…')
	}

	return string(name)
}
