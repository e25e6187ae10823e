package bridge

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// parseURL checks the bridge's URL. Its errors never show the URL's user information or query, which may be secret.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		// What url.Parse says quotes the whole URL.
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("the bridge's URL cannot be read: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New(`the bridge's URL must start with "https://" or "http://"`)
	case u.Hostname() == "":
		return nil, errors.New("the bridge's URL has no host")
	case u.User != nil:
		return nil, errors.New("the bridge's URL must not hold a user name or password; the key goes into api_key")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New(`the bridge's URL must not have a query ("?") or fragment ("#")`)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// IsLocalURL tells whether the URL's host is this machine or in a private network: the only places where a bridge may
// do without a key, and where a key may travel over plain http. A name counts only if it says so itself (localhost and
// the reserved .localhost, .local, .internal, .lan and .home.arpa; a name without a dot cannot be a public one).
func IsLocalURL(raw string) bool {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast()
	}
	if host == "" || net.ParseIP(host) != nil {
		return false
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// ownHeaders are set by the client itself, or belong to the connection.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Keep-Alive",
	"Proxy-Connection", "Range", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// validateHeader checks a request header. No error shows the value.
func validateHeader(name, value string, hasKey bool) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q is not a header name", name)
	}
	if slices.ContainsFunc(ownHeaders, func(own string) bool { return strings.EqualFold(own, name) }) {
		return fmt.Errorf("header %q is set by the provider itself, or by the connection; it cannot be set to something else", name)
	}
	if hasKey && strings.EqualFold(name, "Authorization") {
		return fmt.Errorf("header %q carries the API key; it can be set only where there is no key", name)
	}
	if err := validateHeaderValue(value); err != nil {
		return fmt.Errorf("the value of header %q %w", name, err)
	}
	return nil
}

// validateHeaderValue checks what would stand in a header: visible ASCII and inner spaces, so that what is sent is what
// is compared on the other side. The error completes a sentence that starts with what the value is.
func validateHeaderValue(value string) error {
	if strings.TrimSpace(value) != value {
		return errors.New("has white space (perhaps a newline) at its start or end; " +
			"a file read into it often ends in a newline, which trimspace() removes")
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return fmt.Errorf("has a character at position %d that cannot stand in an HTTP header: "+
				"only visible ASCII characters and spaces can", i+1)
		}
	}
	return nil
}
