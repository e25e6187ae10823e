package bridge

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Workspace is the directory that a sandbox's files live in; the bridge serves no other.
const Workspace = "/workspace"

// Limits of Linux for a path and for each of its names, in bytes. The room left out is for the names that Write uses
// beside its target.
const (
	maxPathLength = 4000
	maxNameLength = 255
)

// CleanPath resolves a path, absolute or relative to /workspace, to an absolute one without "." , ".." and doubled
// slashes. It refuses what is not below /workspace, and what no file can be called.
func CleanPath(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("a path must not be empty")
	case strings.ContainsRune(p, 0):
		return "", errors.New("a path cannot contain a NUL character")
	case !utf8.ValidString(p):
		return "", errors.New("a path must be valid UTF-8")
	case strings.HasSuffix(p, "/"):
		return "", fmt.Errorf("%q ends in a slash; a path must name a file", p)
	}
	clean := p
	if !path.IsAbs(clean) {
		clean = Workspace + "/" + clean
	}
	clean = path.Clean(clean)
	if clean == Workspace {
		return "", fmt.Errorf("%q is %s itself; a path must name something in it", p, Workspace)
	}
	if !strings.HasPrefix(clean, Workspace+"/") {
		return "", fmt.Errorf("%q is outside %s, the only directory that the bridge serves", p, Workspace)
	}
	if len(clean) > maxPathLength {
		return "", fmt.Errorf("a path can have %d bytes, this one has %d", maxPathLength, len(clean))
	}
	for name := range strings.SplitSeq(clean, "/") {
		if len(name) > maxNameLength {
			return "", fmt.Errorf("a name in a path can have %d bytes, %q has %d", maxNameLength, name, len(name))
		}
	}
	if clean == stagingRoot || strings.HasPrefix(clean, stagingRoot+"/") {
		return "", fmt.Errorf("%s is where the provider stages what it writes; choose another path", stagingRoot)
	}
	return clean, nil
}

// CleanDirectory resolves a command's working directory, absolute (anywhere in the container) or relative to
// /workspace.
func CleanDirectory(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("a directory must not be empty")
	case strings.ContainsRune(p, 0):
		return "", errors.New("a directory cannot contain a NUL character")
	case len(p) > maxPathLength:
		return "", fmt.Errorf("a directory can have %d bytes, this one has %d", maxPathLength, len(p))
	}
	if !path.IsAbs(p) {
		p = Workspace + "/" + p
	}
	return path.Clean(p), nil
}

// ParseMode reads a file mode in octal, like "644", "0644" or "4755".
func ParseMode(mode string) (uint32, error) {
	value, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || len(mode) < 3 || len(mode) > 4 {
		return 0, fmt.Errorf(`%q is not a file mode: it takes 3 or 4 octal digits, like "0644" or "0755"`, mode)
	}
	return uint32(value), nil
}

// FormatMode writes a file mode as four octal digits, like "0644".
func FormatMode(mode uint32) string { return fmt.Sprintf("%04o", mode) }

// Variables that bash makes read-only: it would not hand a value of ours to a command.
var readOnlyVariables = []string{"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"}

// ValidateEnvironmentName tells whether a command can be given a variable of that name.
func ValidateEnvironmentName(name string) error {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			name = ""
			break
		}
	}
	if name == "" {
		return errors.New("the name of an environment variable has letters, digits and underscores, and no digit first")
	}
	for _, reserved := range readOnlyVariables {
		if name == reserved {
			return fmt.Errorf("%s is set by the shell and cannot be changed", name)
		}
	}
	return nil
}
