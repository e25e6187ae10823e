package bridge

import (
	"fmt"
	"html"
	"mime"
	"net/http"
	"regexp"
	"strings"
)

func isHTML(resp *http.Response, body []byte) bool {
	if mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && mediaType == "text/html" {
		return true
	}
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(body))), "<!doctype html")
}

var titlePattern = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func titleOf(body []byte) string {
	match := titlePattern.FindSubmatch(body)
	if match == nil {
		return ""
	}
	return fmt.Sprintf(" titled %q", oneLine(html.UnescapeString(string(match[1]))))
}
