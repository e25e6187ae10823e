package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// replying is a script that has the path of its reply in $1.
func replying(script string) bridge.Command {
	return bridge.Command{Argv: []string{"bash", "-e"}, Script: script, MaxReplyBytes: 1000}
}

func TestRunReturnsTheReply(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	written, empty := "\x00\xff\n end 0 0", ""
	long := strings.Repeat("x", 1000)
	for name, test := range map[string]struct {
		script string
		reply  *string
	}{
		"bytes":              {`printf '\x00\xff\n end 0 0' >"$1"; echo out; echo err >&2`, &written},
		"empty":              {`: >"$1"; echo out; echo err >&2`, &empty},
		"as long as allowed": {`printf '%1000s' | tr ' ' x >"$1"; echo out; echo err >&2`, &long},
		"none":               {`echo out; echo err >&2`, nil},
		"a directory":        {`mkdir "$1"; echo out; echo err >&2`, nil},
		"a pipe":             {`mkfifo "$1"; echo out; echo err >&2`, nil},
		"a dangling link":    {`ln -s /no/such "$1"; echo out; echo err >&2`, nil},
		"not to be read":     {`mkdir "$1.d"; ln -s "$1.d/x" "$1"; echo x >"$1"; chmod 0 "$1.d"; echo out; echo err >&2`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := s.Run(t.Context(), replying(test.script))
			if err != nil {
				t.Fatal(err)
			}
			if string(result.Stdout) != "out\n" || string(result.Stderr) != "err\n" {
				t.Errorf("got stdout %q, stderr %q", result.Stdout, result.Stderr)
			}
			if (result.Reply == nil) != (test.reply == nil) || test.reply != nil && string(result.Reply) != *test.reply {
				t.Errorf("got reply %q", result.Reply)
			}
		})
	}
}

func TestRunGivesNoReplyPathUnlessOneIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	command := replying("echo $#")
	for limit, want := range map[int64]string{0: "0\n", 1: "1\n"} {
		command.MaxReplyBytes = limit
		if result, err := s.Run(t.Context(), command); err != nil || string(result.Stdout) != want || result.Reply != nil {
			t.Errorf("limit %d: got %+v, %v", limit, result, err)
		}
	}
}

func TestRunOverTheReplyLimitIsAnError(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	_, err := s.Run(t.Context(), replying(`truncate -s 5G "$1"; printf end >>"$1"`))
	var limit *bridge.OutputLimitError
	if !errors.As(err, &limit) || limit.Stream != "reply" || limit.Size != 5<<30+3 || limit.Limit != 1000 {
		t.Errorf("got %v, want an output limit error", err)
	}
	command := replying("true")
	command.MaxReplyBytes, command.MaxOutputBytes = 2<<20, bridge.MaxOutputBytes
	if _, err := s.Run(t.Context(), command); err == nil {
		t.Error("more was asked for than the bridge can carry")
	}
}

func TestRunReplyArrivesOverBrokenConnections(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	if _, err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, plan := range map[string][]cut{
		"in the middle":   {{after: 150}},
		"cleanly":         {{after: 250, clean: true}},
		"several times":   {{before: true}, {after: 80}, {after: 250}},
		"an empty answer": {{replace: func(string) string { return "" }}},
	} {
		proxy.then(plan...)
		result, err := s.Run(t.Context(), replying(`echo once >>runs; echo reply >"$1"; echo out; echo err >&2`))
		if err != nil || string(result.Reply) != "reply\n" || string(result.Stdout) != "out\n" || string(result.Stderr) != "err\n" {
			t.Errorf("%s: got %+v, %v", name, result, err)
		}
		proxy.then()
		if runs := inside(t, s, "cat runs; rm runs"); runs != "once\n" {
			t.Errorf("%s: it ran %d times", name, strings.Count(runs, "once"))
		}
	}
}

func TestRunConfidentialIsInNoCommandLine(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	command := bridge.Command{
		Argv: []string{"bash", "-e"}, Script: "# the-secret\n" + `for c in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$c" || true; done`, Confidential: true,
	}
	result, err := s.Run(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(result.Stdout)+strings.Join(on.local.CommandLog(), "\n"), "the-secret") {
		t.Error("it is in a command line")
	}
}
