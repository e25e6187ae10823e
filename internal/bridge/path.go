package bridge

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Workspace is the directory that a sandbox's files live in; the bridge serves no other.
const Workspace = "/workspace"

// scriptsHome is where the scripts keep their files; scripts/prelude.sh has the same name.
const scriptsHome = "/tmp/.cloudflaresandbox"

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
