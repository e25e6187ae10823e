package bridge_test

import (
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// What an operation costs in requests does not depend on the machine.
func TestRequestsOnTheWire(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	client := clientFor(t, proxy.URL, on.key)
	var s *bridge.Sandbox
	for _, step := range []struct {
		name string
		do   func() error
		want map[string]int
	}{
		{"create", func() error {
			s = newSandbox(t, client)
			_, err := s.Start(t.Context())
			return err
		}, map[string]int{"POST sandbox": 1, "POST exec": 1}},
		{"instance", func() error { _, err := s.Instance(t.Context()); return err }, map[string]int{"POST exec": 1}},
		{"small file", func() error {
			_, err := s.Write(t.Context(), bridge.WriteRequest{Path: "x", Content: strings.NewReader("x"), Size: 1})
			return err
		}, map[string]int{"PUT file": 1, "POST exec": 1}},
		{"small file, first contact of another process", func() error {
			other := handle(t, clientFor(t, proxy.URL, on.key), s.ID())
			_, err := other.Write(t.Context(), bridge.WriteRequest{Path: "x", Content: strings.NewReader("y"), Size: 1})
			return err
		}, map[string]int{"PUT file": 1, "POST exec": 1}},
		{"17 MiB", func() error {
			_, err := s.Write(t.Context(), bridge.WriteRequest{Path: "y", Content: strings.NewReader(strings.Repeat("x", 17<<20)), Size: 17 << 20})
			return err
		}, map[string]int{"PUT file": 3, "POST exec": 1}},
		{"inspect", func() error { _, err := s.Inspect(t.Context(), "x", "y", "z"); return err }, map[string]int{"POST exec": 1}},
		{"command", func() error { _, err := s.Run(t.Context(), shell("true")); return err }, map[string]int{"POST exec": 1}},
		{"command with environment", func() error {
			command := shell("true")
			command.Environment = map[string]string{"A": "b"}
			_, err := s.Run(t.Context(), command)
			return err
		}, map[string]int{"PUT file": 1, "POST exec": 1}},
		{"remove", func() error { return s.Remove(t.Context(), "x") }, map[string]int{"POST exec": 1}},
	} {
		before := map[string]int{}
		for _, route := range []string{"POST sandbox", "POST exec", "PUT file", "GET file"} {
			before[route] = proxy.count(route)
		}
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for route, count := range before {
			if got := proxy.count(route) - count; got != step.want[route] {
				t.Errorf("%s: %d of %s, want %d", step.name, got, route, step.want[route])
			}
		}
	}
}

// What may be secret is in no command line: the container logs those, and ps shows them.
func TestEnvironmentAndInputAreInNoCommandLine(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	const secret = "Zq8recognisable"
	input := secret + "-input"
	command := bridge.Command{
		Argv:        []string{"bash", "-c", `cat >/dev/null; for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; echo; done 2>/dev/null`},
		Environment: map[string]string{"SECRET": secret}, Stdin: &input,
	}
	result, err := s.Run(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(result.Stdout), secret) {
		t.Errorf("seen by the command: %s", result.Stdout)
	}
	if staged := inside(t, s, "ls -A /workspace"); staged != "" {
		t.Errorf("in /workspace: %s", staged)
	}
	if on.local != nil {
		for _, line := range on.local.CommandLog() {
			if strings.Contains(line, secret) {
				t.Errorf("in the container's log: %s", line)
			}
		}
	}
}
