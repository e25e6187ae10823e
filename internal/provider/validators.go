package provider

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	minDuration = time.Millisecond
	maxDuration = 24 * time.Hour
)

// stringCheck turns a function that says what is wrong with a text into a
// validator. Null and unknown pass.
type stringCheck struct {
	description string
	summary     string
	check       func(string) error
}

var _ validator.String = stringCheck{}

func (c stringCheck) Description(context.Context) string {
	return c.description
}

func (c stringCheck) MarkdownDescription(ctx context.Context) string {
	return c.Description(ctx)
}

func (c stringCheck) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}

	if err := c.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, c.summary, sentence(err))
	}
}

func sandboxID() stringCheck {
	return stringCheck{
		description: "a sandbox id: lower-case letters and the digits 2 to 7",
		summary:     "Invalid sandbox id",
		check:       bridge.ValidateSandboxID,
	}
}

func workspacePath() stringCheck {
	return stringCheck{
		description: "a path under /workspace, absolute or relative to it",
		summary:     "Invalid path",
		check: func(text string) error {
			_, err := bridge.CleanPath(text)
			return err
		},
	}
}

func fileMode() stringCheck {
	return stringCheck{
		description: "a file mode of three or four octal digits",
		summary:     "Invalid mode",
		check: func(text string) error {
			_, err := bridge.ParseMode(text)
			return err
		},
	}
}

func duration() stringCheck {
	return stringCheck{
		description: "a duration such as 90s or 1h30m",
		summary:     "Invalid duration",
		check: func(text string) error {
			_, err := parseDuration(text)
			return err
		},
	}
}

func bridgeURL() stringCheck {
	return emptyOr(stringCheck{
		description: "the URL of a bridge",
		summary:     "Invalid api_url",
		check: func(text string) error {
			_, err := bridge.New(bridge.Config{URL: text})
			return err
		},
	})
}

func anyDirectory() stringCheck {
	return stringCheck{
		description: "a directory in the sandbox, absolute or relative to /workspace",
		summary:     "Invalid directory",
		check: func(text string) error {
			_, err := bridge.CleanDirectory(text)
			return err
		},
	}
}

func base64Text() stringCheck {
	return stringCheck{
		description: "base64 with padding",
		summary:     "Invalid base64",
		check: func(text string) error {
			_, err := base64.StdEncoding.Strict().DecodeString(text)
			if err != nil {
				return errors.New("the value is not base64 of the standard alphabet with padding, as base64encode and filebase64 give it")
			}
			return nil
		},
	}
}

// argument checks what a program is given as one argument or variable.
func argument() stringCheck {
	return stringCheck{
		description: fmt.Sprintf("text of at most %d bytes, without NUL characters", bridge.MaxArgumentBytes),
		summary:     "Invalid text",
		check:       bridge.ValidateArgument,
	}
}

// longText checks a script, an input or a snippet.
func longText(most int) stringCheck {
	return stringCheck{
		description: fmt.Sprintf("text of at most %d bytes, without NUL characters", most),
		summary:     "Invalid text",
		check:       func(text string) error { return bridge.ValidateText(text, most) },
	}
}

// words checks a program and its arguments.
func words() []validator.List {
	return []validator.List{
		listvalidator.SizeAtLeast(1),
		listvalidator.NoNullValues(),
		listvalidator.ValueStringsAre(argument()),
		firstWord{},
	}
}

// firstWord refuses a list whose first word can be no program.
type firstWord struct{}

var _ validator.List = firstWord{}

func (firstWord) Description(context.Context) string {
	return "starts with the name or the path of a program"
}

func (v firstWord) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (firstWord) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	elements := req.ConfigValue.Elements()
	if len(elements) == 0 {
		return
	}

	if program, ok := elements[0].(types.String); ok && program.Equal(types.StringValue("")) {
		resp.Diagnostics.AddAttributeError(req.Path.AtListIndex(0), "Invalid command",
			"The first word is the program to run, and it is empty.")
	}
}

// environmentVariables checks names and values of a map of them.
func environmentVariables() []validator.Map {
	return []validator.Map{
		mapvalidator.KeysAre(stringCheck{
			description: "names of environment variables",
			summary:     "Invalid name of an environment variable",
			check:       bridge.ValidateEnvironmentName,
		}),
		mapvalidator.ValueStringsAre(argument()),
	}
}

// emptyOr lets the empty string pass, for attributes where it counts as not set.
func emptyOr(check stringCheck) stringCheck {
	inner := check.check
	check.check = func(text string) error {
		if text == "" {
			return nil
		}
		return inner(text)
	}

	return check
}

// parseDuration reads a time limit.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration; write a number with a unit, such as \"90s\", \"5m\" or \"1h30m\"", text)
	}

	if d < minDuration || d > maxDuration {
		return 0, fmt.Errorf("%q is out of range; a duration is between %s and 24h", text, minDuration)
	}

	return d, nil
}
