package localbridge

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/await"

	"golang.org/x/sys/unix"
)

// hostProcesses counts this machine's processes with a text in their command line.
func hostProcesses(t *testing.T, text string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			count++
		}
	}
	return count
}

func hostMounts(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return string(mounts)
}

// TestCloseLeavesNothing: no process, no mount, no directory.
func TestCloseLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	before := hostMounts(t)
	c := startBridge(t, Config{})
	marker := fmt.Sprintf("sleep 47110.%d", os.Getpid())
	for _, id := range []string{"a", "b"} {
		c.sh(id, "setsid "+marker+" >/dev/null 2>&1 & (setsid "+marker+" >/dev/null 2>&1 &)")
		c.do("POST", "/v1/sandbox/"+id+"/mount",
			`{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example","credentials":{"accessKeyId":"a","secretAccessKey":"s"}}}`)
	}
	// One that is about to become a program has no command line yet.
	await.That(t, "4 processes run", func() bool { return hostProcesses(t, marker) == 4 })
	if err := c.bridge.Close(); err != nil {
		t.Error(err)
	}
	if got := hostProcesses(t, marker); got != 0 {
		t.Errorf("%d processes are left", got)
	}
	if after := hostMounts(t); after != before {
		t.Errorf("mounts before:\n%s\nafter:\n%s", before, after)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

// TestContainersDieWithTheBridge, also when it gets no chance to clean up.
func TestContainersDieWithTheBridge(t *testing.T) {
	if os.Getenv("LOCALBRIDGE_TEST_CHILD") != "" {
		c := startBridge(t, Config{})
		c.sh("a", "true")
		fmt.Println("pid", c.bridge.pool.find("a").cmd.Process.Pid)
		select {}
	}
	startBridge(t, Config{}) // skips where nothing can run
	child := exec.Command(os.Args[0], "-test.run=^TestContainersDieWithTheBridge$")
	child.Env = append(os.Environ(), "LOCALBRIDGE_TEST_CHILD=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	var container int
	if _, err := fmt.Fscanf(output, "pid %d\n", &container); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.PidfdOpen(container, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	poll := []unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 120_000)
	for errors.Is(err, unix.EINTR) { // a signal of the Go runtime
		n, err = unix.Poll(poll, 120_000)
	}
	if n != 1 {
		t.Errorf("the container lives on: %d %v", n, err)
	}
}

// TestNothingOfTheHostComesIn: environment, files, processes.
func TestNothingOfTheHostComesIn(t *testing.T) {
	t.Setenv("LOCALBRIDGE_TEST_SECRET", "secret-of-the-host")
	home := filepath.Join(t.TempDir(), "host-file")
	if err := os.WriteFile(home, []byte("of the host"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := startBridge(t, Config{})
	if got := c.exec("a", "env"); strings.Contains(got.stdout, "secret-of-the-host") || strings.Contains(got.stdout, "GOCACHE") {
		t.Error(got.stdout)
	}
	c.exec("a", "ln", "-s", home, "link.gz")
	if got := c.do("GET", fileRoute+"/link.gz", ""); got.status != 0 {
		t.Error("a link reached the host:", got)
	}
	if got := c.do("PUT", fileRoute+"/link.gz", "overwritten"); got.status != 502 {
		t.Error(got)
	}
	if got := c.sh("a", "ps -eo args --no-headers >/tmp/list; grep -v -e '^ps' -e '^bash' /tmp/list"); got.stdout != "" &&
		!strings.HasPrefix(got.stdout, agentName+" ") || strings.Count(got.stdout, "\n") > 1 {
		t.Error(got)
	}
	if got := c.sh("a", "grep CapEff /proc/self/status; touch /x /usr/x; cat /etc/shadow"); !strings.Contains(got.stdout, "0000000000000000") ||
		strings.Count(got.stderr, "\n") != 3 {
		t.Error(got)
	}
}

// TestCredentialsAreNotLogged, while a secret in argv is, as on the real one.
func TestCredentialsAreNotLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := startBridge(t, Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	c.do("POST", "/v1/sandbox/a/mount", `{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example",`+
		`"credentials":{"accessKeyId":"hidden-id","secretAccessKey":"hidden-secret"}}}`)
	c.exec("a", "echo", "argv-secret")
	if got := log.String(); strings.Contains(got, "hidden-") || !strings.Contains(got, "argv-secret") {
		t.Error(got)
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.com:80", "nonsense"} {
		if b, err := Start(t.Context(), Config{Addr: addr}); err == nil {
			b.Close()
			t.Errorf("%q is served", addr)
		}
	}
}
