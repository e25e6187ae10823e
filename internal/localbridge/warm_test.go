package localbridge

import (
	"fmt"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/await"
)

// awaitWarm waits until so many containers wait for an id.
func awaitWarm(t *testing.T, c *client, want int) {
	t.Helper()
	await.That(t, fmt.Sprintf("%d containers wait", want), func() bool { return c.bridge.pool.stats().Warm == want })
}

func TestPrimedPoolHasContainersWaiting(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{WarmTarget: 2, MaxInstances: 3})
	c.exec("a", "true")
	for range 2 {
		wantAnswer(t, "prime", c.do("POST", "/v1/pool/prime", ""), 200, `{"ok":true}`)
		awaitWarm(t, c, 2)
	}
	wantAnswer(t, "primed", c.do("GET", "/v1/pool/stats", ""), 200, `{"warm":2,"assigned":1,"total":3,`+
		`"config":{"warmTarget":2,"refreshInterval":10000,"maxInstances":3,"scaleBatchSize":5},"maxInstances":3}`)
	c.sh("b", "echo b >file")
	if got := c.exec("b", "cat", "file"); got.stdout != "b\n" || c.bridge.ContainersStarted() != 3 {
		t.Errorf("%v, and %d containers were started", got, c.bridge.ContainersStarted())
	}
	wantAnswer(t, "shut down", c.do("POST", "/v1/pool/shutdown-prewarmed", ""), 200, `{"ok":true}`)
	wantAnswer(t, "afterwards", c.do("GET", "/v1/pool/stats", ""), 200, `{"warm":0,"assigned":2,"total":2,`+
		`"config":{"warmTarget":2,"refreshInterval":10000,"maxInstances":3,"scaleBatchSize":5},"maxInstances":3}`)
	if got := c.exec("b", "cat", "file"); got.stdout != "b\n" {
		t.Error("a container that runs a sandbox was stopped:", got)
	}
}

func TestClosedBridgeEndsWaitingContainers(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{WarmTarget: 2})
	c.do("POST", "/v1/pool/prime", "")
	awaitWarm(t, c, 2)
	waiting := c.bridge.pool.warm[0]
	if err := c.bridge.Close(); err != nil {
		t.Error(err)
	}
	if waiting.running() {
		t.Error("a waiting container runs on")
	}
}
