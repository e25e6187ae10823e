package localbridge

import (
	"strings"
	"testing"
)

func TestContainerHasTheDiskThatItWasGiven(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{DiskBytes: 1 << 20})
	got := c.sh("a", "head -c 3M /dev/zero >/workspace/full || stat -c %s /workspace/full; echo still >/tmp/x; cat /tmp/x")
	if got.stdout != "1048576\nstill\n" || !strings.Contains(got.stderr, "No space left") {
		t.Error(got)
	}
}

func TestContainerHasTheEnvironmentThatItWasGiven(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{Environment: []string{"HOME=/tmp", "ADDED=a b"}})
	if got := c.sh("a", `echo "$HOME, $ADDED, $PATH"`); got.stdout != "/tmp, a b, /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n" {
		t.Error(got)
	}
}

func TestContainerHasTheProcessesThatItWasGiven(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{MaxProcesses: 60})
	// What happens at the limit is bash's business: it tries again for half a minute.
	got := c.sh("a", "ulimit -u; ulimit -u 61 || echo kept")
	if got.stdout != "60\nkept\n" {
		t.Error(got)
	}
}
