package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// addFailure reports that something asked of the bridge did not succeed.
// attempt completes the sentence "Could not ...". The error is shown at the
// given attribute, unless it is about the way to the bridge, for which no
// attribute of the object can be blamed.
func addFailure(diags *diag.Diagnostics, at path.Path, attempt string, err error) {
	summary, step := explain(err)

	detail := sentence(err)
	if step != "" {
		detail += " " + step
	}

	var (
		answer *bridge.Error
		file   *bridge.PathError
		tunnel *bridge.TunnelError
		mount  *bridge.MountError
	)
	// These say themselves what was tried.
	if !errors.As(err, &file) && !errors.As(err, &tunnel) && !errors.As(err, &mount) {
		detail = fmt.Sprintf("Could not %s.\n\n%s", attempt, detail)
	}
	if errors.As(err, &answer) || len(at.Steps()) == 0 {
		diags.AddError(summary, detail)
		return
	}

	diags.AddAttributeError(at, summary, detail)
}

// explain gives an error a short summary, and the next step where the error
// does not name it itself.
func explain(err error) (summary, step string) {
	var (
		answer   *bridge.Error
		file     *bridge.PathError
		recycled *bridge.RecycledError
		unknown  *bridge.UnknownOutcomeError
		tunnel   *bridge.TunnelError
		mount    *bridge.MountError
	)

	switch {
	case errors.Is(err, context.Canceled):
		return "The operation was cancelled", ""
	case errors.As(err, &file):
		return "File operation refused", fileSteps[file.Reason]
	case errors.As(err, &tunnel):
		return "No tunnel", tunnelSteps[tunnel.Reason]
	case errors.As(err, &mount):
		return mountSummary(mount.Reason), mountSteps[mount.Reason]
	case errors.As(err, &recycled):
		return "Container was replaced meanwhile", ""
	case errors.As(err, &unknown):
		return "Outcome unknown", "See what is in the sandbox before running Terraform again."
	case errors.As(err, &answer):
		return answer.Summary, ""
	case errors.Is(err, context.DeadlineExceeded):
		// Not every object has a limit of its own.
		return "The time for the operation is up", "If the object has a timeout or timeouts, more can be allowed there."
	default:
		return "Sandbox operation failed", ""
	}
}

// fileSteps are what to do about a path that cannot be used.
var fileSteps = map[bridge.PathReason]string{
	bridge.ReasonIsDirectory: "Choose another path, or remove the directory.",
	bridge.ReasonRefused:     "Commands in the sandbox run as the same user; see there what it may do at this path.",
}

// sentence is an error's text as a sentence of its own.
func sentence(err error) string {
	text := strings.TrimSpace(err.Error())
	if text == "" {
		return text
	}

	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]

	if !strings.HasSuffix(text, ".") && !strings.Contains(text, "\n") {
		text += "."
	}

	return text
}
