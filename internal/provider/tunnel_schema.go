package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// tunnelResults are the attributes that the bridge gives.
var tunnelResults = []string{"url", "hostname", "tunnel_id", "created_at", "instance_id"}

// tunnelSchema is the schema of the tunnel resource.
func tunnelSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A public address for a port of a sandbox, by way of Cloudflare Tunnel.\n\n" +
			"**Whoever knows the address reaches the service.** Without a `name` it is a quick tunnel, with a random address under " +
			"`trycloudflare.com` that needs no account. With a `name` it is a host name in a zone of the bridge's Cloudflare account.\n\n" +
			"A tunnel ends with the container that it leads to. After the sandbox slept or crashed it is planned again, and a quick " +
			"tunnel then has another address. A refresh compares the container and makes no tunnel; one whose process ended " +
			"within a living container is not noticed, since the bridge has no way to look at a tunnel. The service need not " +
			"listen yet when the tunnel is opened. The bridge has to use its `rpc` transport, as the published one does.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDAttribute(),
			"port": schema.Int64Attribute{
				MarkdownDescription: "Port in the sandbox, from 1024 to 65535, but not 3000, which the sandbox itself uses. Another port makes the resource anew.",
				Required:            true,
				Validators:          []validator.Int64{tunnelPort()},
				PlanModifiers:       []planmodifier.Int64{int64planmodifier.RequiresReplace()},
			},
			"name": schema.StringAttribute{
				MarkdownDescription: "First label of the host name of a named tunnel, such as `app`: 1 to 63 lower-case letters, digits and inner " +
					"hyphens. The domain is the zone that the bridge is set up with: its Worker needs the secret `CLOUDFLARE_API_TOKEN` " +
					"with the permissions *Cloudflare Tunnel: Edit* and *DNS: Edit*, and `CLOUDFLARE_ACCOUNT_ID` and `CLOUDFLARE_ZONE_ID` where " +
					"the token has several of them. When the container is lost, the name's DNS record stays behind and has to be deleted " +
					"before the name can be used again. Another name makes the resource anew.",
				Optional:   true,
				Validators: []validator.String{tunnelName()},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplaceIf(unlessImported,
					"Another name is another tunnel.", "Another name is another tunnel.")},
			},
			"url":         computedString("Address of the tunnel, such as `https://some-random-words.trycloudflare.com`."),
			"hostname":    computedString("Host of the address."),
			"tunnel_id":   computedString("Id of the tunnel at the bridge; of a named tunnel, its id in Cloudflare."),
			"created_at":  computedString("When the tunnel was made, in RFC 3339."),
			"instance_id": computedString("Id of the container that the tunnel leads to, as in the sandbox's `instance_id`."),
			"timeouts": timeoutsAttribute(ctx, timeouts.Opts{
				CreateDescription: "How long to wait until the tunnel is connected. Default: `5m`.",
				ReadDescription:   "Default: `5m`.",
				UpdateDescription: "How long to wait for an imported tunnel. Default: `5m`.",
				DeleteDescription: "Default: `5m`.",
			}),
		},
	}
}

// unlessImported lets the first apply after an import give the tunnel its name,
// which an import cannot know.
func unlessImported(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var instance types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("instance_id"), &instance)...)
	resp.RequiresReplace = !instance.IsNull()
}
