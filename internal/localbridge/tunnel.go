package localbridge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tunnel is a loopback listener that proxies HTTP to a port of the sandbox.
// Sandboxes share the host's network, so that is a port of the host.
type tunnel struct {
	info   tunnelInfo
	owner  string // the container's name in the comments of DNS records
	server *http.Server
	closed chan struct{} // closed when nothing listens any more
}

// tunnelInfo is the answer of POST .../tunnel/:port.
type tunnelInfo struct {
	ID        string `json:"id"`
	Port      int    `json:"port"`
	URL       string `json:"url"`
	Hostname  string `json:"hostname"`
	Name      string `json:"name,omitempty"`
	CreatedAt string `json:"createdAt"`
}

func (t *tunnel) close() { _ = t.server.Close() }

// newTunnel starts listening; requests wait for nothing but the port itself.
func (b *Bridge) newTunnel(port int, name, owner string) (*tunnel, error) {
	t := &tunnel{
		info: tunnelInfo{
			ID: "quick-" + randomHex(10), Port: port, Name: name, Hostname: "127.0.0.1",
			CreatedAt: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		},
		owner:  owner,
		closed: make(chan struct{}),
	}
	if name != "" {
		t.info.ID = randomHex(16)
		if err := b.zone.claim(t); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.zone.release(t)
		return nil, err
	}
	t.info.URL = "http://" + listener.Addr().String()
	to := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.Out.Host = p.In.Host
	}}
	t.server = &http.Server{Handler: proxy, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(t.closed)
		_ = t.server.Serve(listener) // until close
	}()
	return t, nil
}

// openTunnel answers POST /v1/sandbox/:id/tunnel/:port: get or create.
func (b *Bridge) openTunnel(w http.ResponseWriter, r *request, arg string) {
	port, ok := tunnelPort(arg)
	if !ok {
		sendInvalid(w, "Invalid port")
		return
	}
	name, complaint := tunnelName(r.Body)
	if complaint != "" {
		sendInvalid(w, complaint)
		return
	}
	if r.broken {
		sendError(w, http.StatusBadGateway, codeTunnel, "tunnel failed: "+interrupted("tunnels.get"))
		return
	}
	state := &r.container.state
	state.mu.Lock()
	defer state.mu.Unlock()
	t := state.tunnels[port]
	if t != nil && t.info.Name != name {
		sendError(w, http.StatusBadGateway, codeTunnel, fmt.Sprintf("tunnel failed: Tunnel on port %[1]d was created with "+
			"different options. Call destroy(%[1]d) before changing tunnel options.", port))
		return
	}
	if t == nil {
		var err error
		if t, err = b.newTunnel(port, name, r.container.hostname); err != nil {
			sendError(w, http.StatusBadGateway, codeTunnel, "tunnel failed: "+err.Error())
			return
		}
		state.tunnels[port] = t
	}
	sendJSON(w, http.StatusOK, t.info)
}

// closeTunnel answers DELETE: 204 also when there is none.
func (b *Bridge) closeTunnel(w http.ResponseWriter, r *request, arg string) {
	port, ok := tunnelPort(arg)
	if !ok {
		sendInvalid(w, "Invalid port")
		return
	}
	if !r.broken {
		state := &r.container.state
		state.mu.Lock()
		if t := state.tunnels[port]; t != nil {
			t.close()
			b.zone.release(t)
			delete(state.tunnels, port)
		}
		state.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// Tunnels lists the ports of the tunnels to an id's container, sorted. Without
// a container there are none.
func (b *Bridge) Tunnels(id string) []int {
	c := b.pool.find(id)
	if c == nil {
		return nil
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return slices.Sorted(maps.Keys(c.state.tunnels))
}

// FreePort is a port on which a server in a sandbox can listen: sandboxes share
// this machine's network. What the system gives to whoever asks for any port
// starts at 32768, so a lower one is not taken before the server has it.
func FreePort() int {
	for {
		port := 20_000 + rand.IntN(10_000)
		if listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = listener.Close()
			return port
		}
	}
}

// releaseNames deletes the DNS records of a container that is going to be
// destroyed, which sleep and crashes do not.
func (b *Bridge) releaseNames(c *container) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	for _, t := range c.state.tunnels {
		b.zone.release(t)
	}
}

// tunnelPort reads a port as JavaScript's Number does: spaces around it, 0x1F90
// and 1e4 are numbers too (OBSERVED.md, i).
func tunnelPort(text string) (int, bool) {
	text = strings.TrimSpace(text)
	number, err := strconv.ParseFloat(text, 64)
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0 {
		var whole uint64
		whole, err = strconv.ParseUint(text, 0, 32)
		number = float64(whole)
	}
	if err != nil || strings.Contains(text, "_") || number != math.Trunc(number) || number < 1024 || number > 65535 || number == 3000 {
		return 0, false
	}
	return int(number), true
}

var tunnelLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// tunnelName reads the optional name from a tunnel's body, or says what is
// wrong with it.
func tunnelName(from io.Reader) (name, complaint string) {
	raw, err := io.ReadAll(io.LimitReader(from, 1<<20))
	if err != nil {
		abort()
	}
	if strings.TrimSpace(string(raw)) == "" {
		return "", ""
	}
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		return "", "Invalid JSON body"
	}
	fields, _ := body.(map[string]any)
	value, given := fields["name"]
	if !given {
		return "", ""
	}
	name, ok := value.(string)
	switch {
	case !ok:
		return "", "name must be a string when provided"
	case name == "" || len(name) > 63:
		return "", fmt.Sprintf("Tunnel name '%s' must be 1–63 characters long.", name)
	case !tunnelLabel.MatchString(name):
		return "", fmt.Sprintf("Tunnel name '%s' is not a valid DNS label. Use lowercase letters, digits, "+
			"and internal hyphens only (no dots, no leading/trailing hyphens).", name)
	}
	return name, ""
}
