package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var _ function.Function = workspacePathFunction{}

func newWorkspacePathFunction() function.Function {
	return workspacePathFunction{}
}

type workspacePathFunction struct{}

func (workspacePathFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "workspace_path"
}

func (workspacePathFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Absolute path of a file in a sandbox",
		MarkdownDescription: "Resolves a path, absolute or relative to `/workspace`, to the one absolute spelling that it has: without `.`, `..` and " +
			"doubled slashes. Two paths are the same file, links aside, if this function gives the same for both.\n\n" +
			"A path that no file of a sandbox can have is an error: an empty one, one outside of `/workspace`, `/workspace` itself, one that ends in " +
			"a slash, one with a NUL character, and one that is too long. It is the check that the attribute `path` of resources makes, too.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "path",
				MarkdownDescription: "Path under `/workspace`, or relative to it.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (workspacePathFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}

	clean, err := bridge.CleanPath(text)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, sentence(err))
		return
	}

	resp.Error = resp.Result.Set(ctx, clean)
}
