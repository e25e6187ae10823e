package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// tunnelPortCheck refuses ports that the bridge would refuse.
type tunnelPortCheck struct{}

var _ validator.Int64 = tunnelPortCheck{}

func tunnelPort() tunnelPortCheck {
	return tunnelPortCheck{}
}

func (tunnelPortCheck) Description(context.Context) string {
	return "a port from 1024 to 65535, but not 3000"
}

func (c tunnelPortCheck) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

func (tunnelPortCheck) ValidateInt64(_ context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}

	if err := bridge.ValidateTunnelPort(req.ConfigValue.ValueInt64()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid port", sentence(err))
	}
}

func tunnelName() stringCheck {
	return stringCheck{
		description: "the first label of a host name",
		summary:     "Invalid name",
		check:       bridge.ValidateTunnelName,
	}
}
