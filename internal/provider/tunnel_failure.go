package provider

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// tunnelSteps are what to do about a tunnel that there cannot be.
var tunnelSteps = map[bridge.TunnelReason]string{
	bridge.TunnelTransport: "Set SANDBOX_TRANSPORT to \"rpc\" among the vars in the bridge's wrangler.jsonc, as the published bridge " +
		"has it, and deploy it.",
	bridge.TunnelNoToken: "Give the bridge one with `wrangler secret put CLOUDFLARE_API_TOKEN`: a token that may edit Cloudflare Tunnels and the " +
		"DNS of the zone. Or leave name out for a quick tunnel, which needs no account.",
	bridge.TunnelAccount: "Check the bridge's secret CLOUDFLARE_API_TOKEN: it has to allow editing Cloudflare Tunnels and the zone's DNS. Where it is " +
		"for several accounts or zones, set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_ZONE_ID at the bridge as well.",
	bridge.TunnelNameTaken: "If it is what an earlier container of the sandbox left, delete that DNS record and its tunnel in the Cloudflare " +
		"account: the bridge cannot, once the container is gone. Else choose another name.",
	bridge.TunnelOtherName: "Choose another port, or close the tunnel that is there: import it under the name that it has, or without one, and destroy it.",
	bridge.TunnelFailed: "Run Terraform again. If it stays so, see in the bridge's logs (wrangler tail) whether cloudflared is in the sandbox's " +
		"image and reaches Cloudflare.",
}

// tunnelAttributes are what a reason is about.
var tunnelAttributes = map[bridge.TunnelReason]string{
	bridge.TunnelNoToken:   "name",
	bridge.TunnelAccount:   "name",
	bridge.TunnelNameTaken: "name",
	bridge.TunnelOtherName: "port",
}

// addTunnelFailure is addFailure at the attribute that the error is about.
func addTunnelFailure(diags *diag.Diagnostics, attempt string, err error) {
	at := path.Empty()

	var tunnel *bridge.TunnelError
	if errors.As(err, &tunnel) {
		if name := tunnelAttributes[tunnel.Reason]; name != "" {
			at = path.Root(name)
		}
	}

	addFailure(diags, at, attempt, err)
}
