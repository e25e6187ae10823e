package provider

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

var _ function.Function = shellJoinFunction{}

func newShellJoinFunction() function.Function {
	return shellJoinFunction{}
}

type shellJoinFunction struct{}

func (shellJoinFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "shell_join"
}

func (shellJoinFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Words as one line for a shell",
		MarkdownDescription: "Quotes words and joins them with spaces, so that a POSIX shell reads exactly these words and nothing in them means anything " +
			"to it: spaces, quotes, newlines, `$`, `*`, `;`, and also `if` or `A=b` as the first word. For putting values into the `script` of a " +
			"`cloudflaresandbox_exec`; its `command` takes a list and needs no quoting.\n\n" +
			"A word with a NUL character is an error, since no program can be given one.",
		Parameters: []function.Parameter{
			function.ListParameter{
				Name:                "words",
				MarkdownDescription: "The words, for example a program and its arguments.",
				ElementType:         types.StringType,
			},
		},
		Return: function.StringReturn{},
	}
}

func (shellJoinFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var words []types.String
	if resp.Error = req.Arguments.Get(ctx, &words); resp.Error != nil {
		return
	}

	quoted := make([]string, len(words))
	for i, word := range words {
		if word.IsNull() {
			resp.Error = function.NewArgumentFuncError(0, fmt.Sprintf("Word %d is null.", i))
			return
		}
		// Not as an argument: a word may be for the shell alone, which takes longer ones.
		if err := bridge.ValidateText(word.ValueString(), bridge.MaxCommandBytes); err != nil {
			resp.Error = function.NewArgumentFuncError(0, fmt.Sprintf("Word %d cannot be used. %s", i, sentence(err)))
			return
		}
		quoted[i] = shellQuote(word.ValueString())
	}

	resp.Error = resp.Result.Set(ctx, strings.Join(quoted, " "))
}

// plainWord is what means only itself to every shell. An equals sign does so
// only in what cannot be an assignment, like "--name=value".
var plainWord = regexp.MustCompile(`^(?:[A-Za-z0-9_@%+:,./-]+|-[A-Za-z0-9_@%+=:,./-]*)$`)

// shellKeywords read like plain words, and are not where a command starts.
var shellKeywords = []string{
	"case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time", "until", "while",
}

// shellQuote writes a word so that a shell reads just that. Nothing between
// single quotes has a meaning, but for the closing one.
func shellQuote(word string) string {
	if plainWord.MatchString(word) && !slices.Contains(shellKeywords, word) {
		return word
	}

	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
