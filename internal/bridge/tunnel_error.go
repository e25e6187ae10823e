package bridge

import (
	"errors"
	"fmt"
	"strings"
)

// TunnelReason is why there is no tunnel.
type TunnelReason string

// The reasons.
const (
	TunnelTransport TunnelReason = "the bridge speaks to its containers over http, and tunnels need its rpc transport"
	TunnelNoToken   TunnelReason = "the bridge has no Cloudflare API token, which a named tunnel needs"
	TunnelAccount   TunnelReason = "the bridge could not use its Cloudflare account for a named tunnel"
	TunnelNameTaken TunnelReason = "the name belongs to another tunnel or host"
	TunnelOtherName TunnelReason = "the port has a tunnel already, with another name or none"
	TunnelFailed    TunnelReason = "the bridge could not make it"
)

// TunnelError is a tunnel that the bridge could not make or close.
type TunnelError struct {
	ID     string
	Port   int64
	Name   string
	Reason TunnelReason
	// Detail is what the bridge said, one line.
	Detail string
}

func (e *TunnelError) Error() string {
	of := ""
	if e.Name != "" {
		of = fmt.Sprintf(" named %q", e.Name)
	}
	return fmt.Sprintf("no tunnel%s to port %d of sandbox %s: %s (the bridge said: %s)", of, e.Port, e.ID, e.Reason, e.Detail)
}

// tunnelError reads what the bridge says of a tunnel; any other error, or none, stays what it is.
func (s *Sandbox) tunnelError(port int64, name string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != codeTunnelError {
		return err
	}
	return &TunnelError{ID: s.id, Port: port, Name: name, Reason: tunnelReason(e.raw), Detail: e.Message}
}

// tunnelReason goes by the words of the bridge, which gives all of these the same code.
func tunnelReason(text string) TunnelReason {
	for _, known := range []struct {
		words  string
		reason TunnelReason
	}{
		{"requires the RPC transport", TunnelTransport},
		{"Named tunnels require CLOUDFLARE_API_TOKEN", TunnelNoToken},
		{"already exists with different content", TunnelNameTaken},
		{"was created with different options", TunnelOtherName},
		{"CLOUDFLARE_", TunnelAccount},
		{"Cloudflare API", TunnelAccount},
		{"Cloudflare account", TunnelAccount},
		{"Cloudflare token", TunnelAccount},
		{"Cloudflare zone", TunnelAccount},
	} {
		if strings.Contains(text, known.words) {
			return known.reason
		}
	}
	return TunnelFailed
}
