package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// excludesDescription tells what a glob is, the same wherever there are some.
const excludesDescription = "They are matched against the whole path relative to the directory, with slashes: `*` and `?` stand for what is within " +
	"a name, `**` for any number of directories, also none, `[a-z]` and `{one,two}` for a choice. `*.log` is a file of the directory itself, " +
	"`**/*.log` one at any depth, `**/node_modules` a directory anywhere. With a directory goes all that is in it."

// excludesValidators check a set of globs.
func excludesValidators() []validator.Set {
	return []validator.Set{
		setvalidator.NoNullValues(),
		setvalidator.ValueStringsAre(stringCheck{
			description: "globs, relative to the directory",
			summary:     "Invalid glob",
			check:       checkGlob,
		}),
	}
}

// checkGlob refuses what cannot be read, and what could never match a relative
// path and so would leave out nothing.
func checkGlob(glob string) error {
	switch {
	case glob == "":
		return errors.New("a glob must not be empty")
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("%q is not a glob: a bracket or a brace is not closed, or a backslash stands at the end", glob)
	case strings.HasPrefix(glob, "/"), strings.HasPrefix(glob, "./"):
		return fmt.Errorf("%q never matches, since paths are relative to the directory; write %q", glob, withoutStart(glob))
	case strings.HasSuffix(glob, "/"):
		return fmt.Errorf("%q never matches, since no path ends in a slash; %q leaves out the directory with all that is in it",
			glob, strings.TrimRight(glob, "/"))
	}

	for name := range strings.SplitSeq(glob, "/") {
		if name == "." || name == ".." || name == "" {
			return fmt.Errorf("%q never matches, since no path has %q in it", glob, name)
		}
	}

	return nil
}

// withoutStart takes off a glob the "/" and "./" that it starts with, and no dot
// of the name after them.
func withoutStart(glob string) string {
	for {
		rest, found := strings.CutPrefix(strings.TrimLeft(glob, "/"), "./")
		if !found {
			return rest
		}
		glob = rest
	}
}

// excluder makes a function that tells what is left out. It is nil for none,
// and known is false while a glob is still to be computed.
func excluder(ctx context.Context, globs types.Set, diags *diag.Diagnostics) (excluded func(string) bool, known bool) {
	if globs.IsUnknown() {
		return nil, false
	}

	var patterns []string
	for _, element := range globs.Elements() {
		if element.IsUnknown() {
			return nil, false
		}
	}
	diags.Append(globs.ElementsAs(ctx, &patterns, false)...)
	if len(patterns) == 0 {
		return nil, true
	}

	return func(path string) bool {
		for _, pattern := range patterns {
			if doublestar.MatchUnvalidated(pattern, path) {
				return true
			}
		}
		return false
	}, true
}
