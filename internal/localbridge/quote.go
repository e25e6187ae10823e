package localbridge

import "strings"

// joinCommand makes the one string that the container's bash runs.
func joinCommand(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoteWord(word)
	}
	return strings.Join(words, " ")
}

const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-"

// isHarmless tells whether a word needs no quotes.
func isHarmless(word string) bool {
	return word != "" && strings.Trim(word, harmless) == ""
}

// quoteWord makes a word exact for bash. One of harmless characters stays as it
// is, so that FOO=1, cd or if as first word act as bash words (BRIDGE.md, exec).
func quoteWord(word string) string {
	if isHarmless(word) {
		return word
	}
	var quoted strings.Builder
	quoted.WriteString("$'")
	for i := range len(word) {
		switch b := word[i]; b {
		case '\\', '\'':
			quoted.WriteByte('\\')
			quoted.WriteByte(b)
		case '\n':
			quoted.WriteString(`\n`)
		case '\r':
			quoted.WriteString(`\r`)
		case '\t':
			quoted.WriteString(`\t`)
		default:
			quoted.WriteByte(b)
		}
	}
	quoted.WriteByte('\'')
	return quoted.String()
}
