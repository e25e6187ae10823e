package bridge

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// maxErrorMessage is how much is shown of a text from outside.
const maxErrorMessage = 600

// MinSecretBytes is the length from which a value is hidden where it is found in a text. A shorter one hides nothing, and
// would take every digit or letter of its kind out of what is to be read.
const MinSecretBytes = 4

// readable makes text from outside fit for an error: one line, bounded, and without the secrets this client knows.
func (c *Client) readable(text string) string { return oneLine(c.redact(text, nil)) }

// redact takes the secrets that this client knows, and those of one request, out of a text: as they are, and as they
// stand in JSON, in a URL and in base64.
func (c *Client) redact(text string, ofRequest []string) string {
	secrets := append([]string{c.config.Key}, ofRequest...)
	for _, value := range c.config.Headers {
		secrets = append(secrets, value)
	}
	var forms []string
	for _, secret := range secrets {
		if len(secret) < MinSecretBytes {
			continue
		}
		quoted, _ := json.Marshal(secret) // never fails
		forms = append(
			forms, secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		)
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, "***")
	}
	return text
}

// oneLine folds white space, drops what a terminal would obey, and bounds the length.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxErrorMessage {
		text = string(runes[:maxErrorMessage]) + "…"
	}
	return text
}
