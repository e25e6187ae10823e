package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
)

// Tunnel is a public address of a port in a sandbox. Of one in doubt only Port, Name and Instance are set for certain.
type Tunnel struct {
	ID       string `json:"id"`
	Port     int    `json:"port"`
	URL      string `json:"url"`
	Hostname string `json:"hostname"`
	// Name of a named tunnel, else "".
	Name      string `json:"name"`
	CreatedAt string `json:"createdAt"`
	// Instance is the container that it leads to, and with which it ends.
	Instance string `json:"-"`
}

// The ports that can be tunnelled; the container's own server has the one in between.
const (
	MinTunnelPort      = 1024
	MaxTunnelPort      = 65535
	ReservedTunnelPort = 3000
)

// ValidateTunnelPort tells whether the bridge would take the port (BRIDGE.md, "Routes").
func ValidateTunnelPort(port int64) error {
	if port < MinTunnelPort || port > MaxTunnelPort {
		return fmt.Errorf("port %d cannot be tunnelled: it takes one from %d to %d", port, MinTunnelPort, MaxTunnelPort)
	}
	if port == ReservedTunnelPort {
		return fmt.Errorf("port %d belongs to the server that runs the sandbox itself; let the service listen on another", port)
	}
	return nil
}

const maxTunnelName = 63

var tunnelName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// ValidateTunnelName tells whether the bridge would take the name: one label of a host name.
func ValidateTunnelName(name string) error {
	if len(name) > maxTunnelName || !tunnelName.MatchString(name) {
		return fmt.Errorf("%q is not a tunnel's name: it is the first label of a host name, 1 to %d lower-case letters, digits "+
			"and inner hyphens, without the domain", name, maxTunnelName)
	}
	return nil
}

// OpenTunnel returns the tunnel of a port, and makes it if there is none; name is "" for a quick tunnel. Nothing need
// listen on the port yet.
//
// Errors: [*TunnelError] (the bridge could not make it), [*RecycledError] (the container was replaced meanwhile, and a
// tunnel with it), [*Error]; [*DoubtError] (it may be there all the same), with what is known of the tunnel, which is
// enough for CloseTunnel.
func (s *Sandbox) OpenTunnel(ctx context.Context, port int64, name string) (*Tunnel, error) {
	if err := ValidateTunnelPort(port); err != nil {
		return nil, err
	}
	if name != "" {
		if err := ValidateTunnelName(name); err != nil {
			return nil, err
		}
	}
	instance, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	watched, effect := watchEffect(ctx)
	tunnel, err := s.client.openTunnel(watched, s.id, port, name)
	if err != nil && !mayBeRecycled(err) {
		return nil, err
	}
	inDoubt := err == nil || mayHaveChanged(err, effect)
	// The request names no container, and one that starts for it would have a tunnel to nothing.
	var recycled *RecycledError
	if confirmed := s.confirm(ctx, instance); errors.As(confirmed, &recycled) || err == nil {
		err = confirmed
	}
	if recycled != nil {
		instance = recycled.Actual
		inDoubt = inDoubt && !s.undoTunnel(ctx, port, instance)
	}
	err = s.tunnelError(port, name, err)
	if err != nil && !inDoubt {
		return nil, err
	}
	if tunnel == nil || recycled != nil {
		tunnel = &Tunnel{Port: int(port), Name: name}
	}
	tunnel.Instance = instance
	if err != nil {
		return tunnel, &DoubtError{err}
	}
	return tunnel, nil
}

// undoTunnel closes what was opened in another container than the one that was meant, and tells whether nothing is left.
func (s *Sandbox) undoTunnel(ctx context.Context, port int64, instance string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	err := s.CloseTunnel(ctx, port, instance)
	return err == nil || isRecycled(err) || IsAsleep(err)
}

// CloseTunnel ends the tunnel of a port; that there is none is as good. instance is the container that has it: of
// another one nothing is closed, and the error is a [*RecycledError]. With a [*DoubtError] it may be closed all the same.
func (s *Sandbox) CloseTunnel(ctx context.Context, port int64, instance string) error {
	if err := ValidateTunnelPort(port); err != nil {
		return err
	}
	if err := s.confirm(ctx, instance); err != nil {
		return err
	}
	watched, effect := watchEffect(ctx)
	err := s.client.closeTunnel(watched, s.id, port)
	if err != nil && mayHaveChanged(err, effect) {
		return &DoubtError{err}
	}
	return s.tunnelError(port, "", err)
}

// isTunnelError recognises the bridge's own word that it cannot, which asking again does not change.
func isTunnelError(resp *http.Response) bool { return peekCode(resp) == codeTunnelError }

func tunnelPath(id string, port int64) string {
	return sandboxPath(id) + "/tunnel/" + strconv.FormatInt(port, 10)
}

func (c *Client) openTunnel(ctx context.Context, id string, port int64, name string) (*Tunnel, error) {
	r := request{method: http.MethodPost, path: tunnelPath(id, port)}
	if name != "" {
		body, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			return nil, err
		}
		r.body = body
	}
	var tunnel Tunnel
	if err := c.doJSON(takeForAnswer(ctx, isTunnelError), r, &tunnel); err != nil {
		return nil, err
	}
	if tunnel.ID == "" || tunnel.URL == "" || tunnel.Hostname == "" || int64(tunnel.Port) != port || tunnel.Name != name {
		return nil, strangeAnswer(r, "the answer does not describe the tunnel that was asked for")
	}
	return &tunnel, nil
}

func (c *Client) closeTunnel(ctx context.Context, id string, port int64) error {
	r := request{method: http.MethodDelete, path: tunnelPath(id, port)}
	return c.doNoContent(takeForAnswer(ctx, isTunnelError), r)
}
