package bridge_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func TestTunnelIsMadeOnceAndClosed(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	instance, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.OpenTunnel(t.Context(), 8080, "")
	skipWithoutTunnels(t, on, err)
	if err != nil {
		t.Fatal(err)
	}
	if first.Port != 8080 || first.Instance != instance || first.CreatedAt == "" || !strings.Contains(first.URL, first.Hostname) {
		t.Errorf("got %+v", first)
	}
	if again, err := s.OpenTunnel(t.Context(), 8080, ""); err != nil || *again != *first {
		t.Errorf("again: %+v, %v", again, err)
	}
	for range 2 {
		if err := s.CloseTunnel(t.Context(), 8080, instance); err != nil {
			t.Error(err)
		}
	}
	if next, err := s.OpenTunnel(t.Context(), 8080, ""); err != nil || next.ID == first.ID {
		t.Errorf("after closing: %+v, %v", next, err)
	}
}

// skipWithoutTunnels skips where a bridge that is not ours speaks to its containers over http, or has no cloudflared in its
// image, or reaches no Cloudflare.
func skipWithoutTunnels(t *testing.T, on *testBridge, err error) {
	t.Helper()
	var failed *bridge.TunnelError
	if on.local == nil && errors.As(err, &failed) {
		t.Skip("this bridge makes no tunnels: ", err)
	}
}

// server starts an HTTP server in the sandbox that answers with the sandbox's own greeting, and returns its port.
func server(t *testing.T, s *bridge.Sandbox) int64 {
	t.Helper()
	port := localbridge.FreePort()
	inside(t, s, `type -P python3 >/dev/null || exit 0
		mkdir -p /workspace/www; echo "hello from the sandbox" >/workspace/www/greeting; cd /workspace/www
		python3 -m http.server --bind 127.0.0.1 `+strconv.Itoa(port)+` >/dev/null 2>&1 &
		until (: </dev/tcp/127.0.0.1/`+strconv.Itoa(port)+`) 2>/dev/null; do sleep 0.05; done`)
	if strings.TrimSpace(inside(t, s, "type -P python3 || true")) == "" {
		t.Skip("needs python3 in the sandbox, to have a server")
	}
	return int64(port)
}

func TestTunnelLeadsToAServerInTheSandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startLocalBridge(t).client(t))
	tunnel, err := s.OpenTunnel(t.Context(), server(t, s), "")
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(tunnel.URL + "/greeting")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "hello from the sandbox\n" {
		t.Errorf("got %s, %v", body, err)
	}
}

func TestTunnelRefusesAFreshContainer(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	old, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	on.local.Kill(s.ID())
	var recycled *bridge.RecycledError
	if _, err := s.OpenTunnel(t.Context(), 8080, ""); !errors.As(err, &recycled) {
		t.Errorf("open: %v, want a recycled container", err)
	}
	// The request that met the fresh container has opened one in it.
	if open := on.local.Tunnels(s.ID()); len(open) > 0 {
		t.Errorf("tunnels to ports %d of the fresh container", open)
	}
	kept, err := s.OpenTunnel(t.Context(), 8080, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CloseTunnel(t.Context(), 8080, old); !errors.As(err, &recycled) {
		t.Errorf("close: %v, want a recycled container", err)
	}
	if again, err := s.OpenTunnel(t.Context(), 8080, ""); err != nil || again.ID != kept.ID {
		t.Errorf("the tunnel of the fresh container: %+v, %v", again, err)
	}
}

func TestTunnelRefusals(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	for _, port := range []int64{80, 1023, 3000, 65536, 0, -1} {
		if _, err := s.OpenTunnel(t.Context(), port, ""); err == nil {
			t.Errorf("port %d was taken", port)
		}
	}
	for _, name := range []string{"Upper", "a.b", "-a", "a-", "a_b", strings.Repeat("a", 64)} {
		if _, err := s.OpenTunnel(t.Context(), 8080, name); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
	if sent := proxy.count("POST 8080"); sent != 0 {
		t.Errorf("%d requests", sent)
	}
	var failed *bridge.TunnelError
	var doubt *bridge.DoubtError
	// The bridge's own word leaves no doubt.
	if tunnel, err := s.OpenTunnel(t.Context(), 8080, "app"); !errors.As(err, &failed) || errors.As(err, &doubt) || tunnel != nil {
		t.Errorf("named: %+v, %v", tunnel, err)
	} else if failed.Reason != bridge.TunnelNoToken && failed.Reason != bridge.TunnelTransport {
		t.Errorf("named: %v", failed.Reason)
	}
	if sent := proxy.count("POST 8080"); sent != 1 {
		t.Errorf("a refusal was asked for %d times", sent)
	}
}

func TestNamedTunnelOfALostContainer(t *testing.T) {
	t.Parallel()
	local := startLocalWith(t, localbridge.Config{TunnelZone: "example.com"})
	s := newSandbox(t, clientFor(t, local.URL(), local.Key()))
	if _, err := s.OpenTunnel(t.Context(), 8080, "app"); err != nil {
		t.Fatal(err)
	}
	var failed *bridge.TunnelError
	if _, err := s.OpenTunnel(t.Context(), 8080, ""); !errors.As(err, &failed) || failed.Reason != bridge.TunnelOtherName {
		t.Errorf("unnamed at the same port: %v", err)
	}
	local.Sleep(s.ID())
	if _, err := s.Instance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenTunnel(t.Context(), 8080, "app"); !errors.As(err, &failed) || failed.Reason != bridge.TunnelNameTaken {
		t.Errorf("in the next container: %v", err)
	}
}
