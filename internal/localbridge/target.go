package localbridge

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// workspace is the only place that file routes and cwd may name.
const workspace = "/workspace"

// rawPath is the path of a request target as it came over the wire, without
// query; ok is false for targets that the Worker's runtime refuses
// (OBSERVED.md, a).
func rawPath(r *http.Request) (path string, ok bool) {
	target := r.RequestURI
	if parsed, err := url.ParseRequestURI(target); err != nil || parsed.Path != r.URL.Path {
		target = r.URL.EscapedPath() // a handler in front rewrote the URL
	} else if !strings.HasPrefix(target, "/") {
		target = parsed.EscapedPath() // absolute form, as sent to a proxy
	}
	if end := strings.IndexAny(target, "?#"); end >= 0 {
		target = target[:end]
	}
	if !utf8.ValidString(target) || strings.ContainsAny(target, "<>`") {
		return "", false
	}
	return target, true
}

// decodeName decodes a path by the rule of the Worker's router: %XX of
// anything but "; / ? : @ & = + $ , #" and "%" is decoded, those stay as they
// were sent. When something does not decode to UTF-8, each run of escapes is
// decoded on its own or left alone (BRIDGE.md, Files).
func decodeName(path string) string {
	if whole, ok := decodeEscapes(path); ok {
		return whole
	}
	var out strings.Builder
	for len(path) > 0 {
		run := escapeRun(path)
		if run == 0 {
			out.WriteByte(path[0])
			path = path[1:]
			continue
		}
		if decoded, ok := decodeEscapes(path[:run]); ok {
			out.WriteString(decoded)
		} else {
			out.WriteString(path[:run])
		}
		path = path[run:]
	}
	return out.String()
}

// escapeRun is the length of the escapes that text starts with.
func escapeRun(text string) int {
	n := 0
	for {
		if _, ok := escape(text[n:]); !ok {
			return n
		}
		n += 3
	}
}

// escape reads one %XX.
func escape(text string) (byte, bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, low := unhex(text[1]), unhex(text[2])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

func unhex(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b && b <= 'f', 'A' <= b && b <= 'F':
		return int((b|0x20)-'a') + 10
	default:
		return -1
	}
}

// decodeEscapes is all or nothing.
func decodeEscapes(text string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(text); {
		b, ok := escape(text[i:])
		switch {
		case text[i] != '%':
			out.WriteByte(text[i])
			i++
		case !ok:
			return "", false
		case b < utf8.RuneSelf:
			if strings.IndexByte(";/?:@&=+$,#%", b) >= 0 {
				out.WriteString(text[i : i+3])
			} else {
				out.WriteByte(b)
			}
			i += 3
		default:
			var encoded []byte
			for len(encoded) < utf8.UTFMax && !utf8.FullRune(encoded) {
				next, ok := escape(text[min(i+3*len(encoded), len(text)):])
				if !ok {
					return "", false
				}
				encoded = append(encoded, next)
			}
			r, size := utf8.DecodeRune(encoded)
			if r == utf8.RuneError && size <= 1 || size != len(encoded) {
				return "", false
			}
			out.Write(encoded)
			i += 3 * size
		}
	}
	return out.String(), true
}

// inWorkspace makes a path absolute under /workspace and clean, and tells
// whether it stays there.
func inWorkspace(path string) (string, bool) {
	if !strings.HasPrefix(path, "/") {
		path = workspace + "/" + path
	}
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			parts = parts[:max(0, len(parts)-1)]
		default:
			parts = append(parts, part)
		}
	}
	resolved := "/" + strings.Join(parts, "/")
	return resolved, resolved == workspace || strings.HasPrefix(resolved, workspace+"/")
}
