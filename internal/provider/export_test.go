package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/provider"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func init() { secretIterations /= 100 }

// NewTuned is New for tests that make requests fail: tune may shorten the waits
// of the bridge's client, which no user can set.
func NewTuned(tune func(*bridge.Config)) func() provider.Provider {
	return func() provider.Provider {
		return &tunedProvider{cloudflareSandboxProvider: &cloudflareSandboxProvider{version: "test"}, tune: tune}
	}
}

type tunedProvider struct {
	*cloudflareSandboxProvider

	tune func(*bridge.Config)
}

func (p *tunedProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.cloudflareSandboxProvider.Configure(ctx, req, resp)

	conn, ok := resp.ResourceData.(*connection)
	if !ok || !conn.reachable() {
		return
	}

	config := bridge.Config{URL: conn.apiURL, Key: conn.apiKey, Headers: conn.headers}
	p.tune(&config)

	var err error
	if conn.client, err = bridge.New(config); err != nil {
		resp.Diagnostics.AddError("Tuned client", err.Error())
	}
}
