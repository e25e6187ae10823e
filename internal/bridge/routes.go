package bridge

import (
	"context"
	"net/http"
)

// CreateSandbox mints an id. It starts and stores nothing (BRIDGE.md, "Routes").
func (c *Client) CreateSandbox(ctx context.Context) (string, error) {
	var answer struct {
		ID string `json:"id"`
	}
	r := request{method: http.MethodPost, path: "/v1/sandbox"}
	if err := c.doJSON(ctx, r, &answer); err != nil {
		return "", err
	}
	if ValidateSandboxID(answer.ID) != nil {
		return "", strangeAnswer(r, "the answer has no usable sandbox id")
	}
	return answer.ID, nil
}

// DestroySandbox ends the sandbox's container and all that is in it. That there is none is as good, and so is an answer
// that the instance limit is reached, since it proves the same (BRIDGE.md, "Routes").
func (c *Client) DestroySandbox(ctx context.Context, id string) error {
	if err := ValidateSandboxID(id); err != nil {
		return err
	}
	r := request{method: http.MethodDelete, path: sandboxPath(id)}
	err := c.doNoContent(takeForAnswer(ctx, isCapacityExceeded), r)
	if IsAsleep(err) {
		return nil
	}
	return err
}

// PoolStats are the bridge's figures about its containers. Asking for them starts none.
type PoolStats struct {
	// Warm containers wait for a sandbox, Assigned ones belong to one; Total is their sum.
	Warm     int `json:"warm"`
	Assigned int `json:"assigned"`
	Total    int `json:"total"`
	// MaxInstances is the limit that applies, nil where the bridge knows of none.
	MaxInstances *int       `json:"maxInstances"`
	Config       PoolConfig `json:"config"`
}

// PoolConfig is how the bridge was told to keep its pool.
type PoolConfig struct {
	WarmTarget int `json:"warmTarget"`
	// RefreshInterval in milliseconds.
	RefreshInterval int `json:"refreshInterval"`
	MaxInstances    int `json:"maxInstances"`
	ScaleBatchSize  int `json:"scaleBatchSize"`
}

// PoolStats asks for the pool's figures.
func (c *Client) PoolStats(ctx context.Context) (*PoolStats, error) {
	// Pointers, so that JSON of something else is not taken for an empty pool: "nothing runs" is a proof that callers
	// act on.
	var answer struct {
		PoolStats
		Warm     *int `json:"warm"`
		Assigned *int `json:"assigned"`
		Total    *int `json:"total"`
	}
	r := request{method: http.MethodGet, path: "/v1/pool/stats"}
	if err := c.doJSON(ctx, r, &answer); err != nil {
		return nil, err
	}
	if answer.Warm == nil || answer.Assigned == nil || answer.Total == nil {
		return nil, strangeAnswer(r, "the answer lacks the pool's figures")
	}
	stats := answer.PoolStats
	stats.Warm, stats.Assigned, stats.Total = *answer.Warm, *answer.Assigned, *answer.Total
	return &stats, nil
}

// PrimePool has the bridge keep its pool of waiting containers filled. It answers before they have started.
func (c *Client) PrimePool(ctx context.Context) error { return c.postPool(ctx, "prime") }

// ShutdownPrewarmed stops the containers of the pool that wait for a sandbox.
func (c *Client) ShutdownPrewarmed(ctx context.Context) error {
	return c.postPool(ctx, "shutdown-prewarmed")
}

func (c *Client) postPool(ctx context.Context, what string) error {
	return c.doOK(ctx, request{method: http.MethodPost, path: "/v1/pool/" + what})
}

// Health is what the bridge says of its own configuration.
type Health struct {
	OK     bool
	Errors []string
}

// Health asks the bridge whether it is well. It needs no key. An unwell bridge is an answer, not an error.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	unwell := func(resp *http.Response) bool { return resp.StatusCode == http.StatusServiceUnavailable }
	r := request{method: http.MethodGet, path: "/health", alsoStatus: http.StatusServiceUnavailable}
	// A pointer, so that JSON of something else is not taken for a bridge that is unwell.
	var answer struct {
		OK     *bool    `json:"ok"`
		Errors []string `json:"errors"`
	}
	if err := c.doJSON(takeForAnswer(ctx, unwell), r, &answer); err != nil {
		return nil, err
	}
	if answer.OK == nil {
		return nil, strangeAnswer(r, "the answer does not say whether the bridge is well")
	}
	return &Health{OK: *answer.OK, Errors: answer.Errors}, nil
}

func sandboxPath(id string) string { return "/v1/sandbox/" + id }
