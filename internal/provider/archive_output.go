package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// output is a local file that takes its place when it is whole.
type output struct {
	*os.File

	target string
	kept   bool
}

// newOutput begins a file beside its place, under a name that nothing has: what
// somebody may have put at that name is neither followed nor overwritten.
func newOutput(target string) (*output, error) {
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%q is a directory, and a file is to be written", target)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return nil, fmt.Errorf("%q is not a regular file, and would be replaced", target)
	}

	directory := filepath.Dir(target)
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // as other tools make directories; the file itself is private
		return nil, err
	}

	file, err := os.CreateTemp(directory, ".cloudflaresandbox-")
	if err != nil {
		return nil, err
	}

	return &output{File: file, target: target}, nil
}

// existing is the SHA-256 of what is there already, or "".
func (o *output) existing() string {
	if info, err := os.Lstat(o.target); err != nil || !info.Mode().IsRegular() {
		return ""
	}

	content, err := openLocal(o.target)
	if err != nil {
		return ""
	}
	defer content.Close()

	sum, err := content.sum()
	if err != nil {
		return ""
	}

	return sum
}

// keep puts the file in its place, in one step.
func (o *output) keep() error {
	if err := o.Close(); err != nil {
		return err
	}
	if err := os.Rename(o.Name(), o.target); err != nil {
		return err
	}
	o.kept = true

	return nil
}

// discard removes a file that was not kept.
func (o *output) discard() {
	if !o.kept {
		_ = o.Close()
		_ = os.Remove(o.Name())
	}
}
