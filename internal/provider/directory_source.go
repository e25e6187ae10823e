package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// localTree is a local directory, as a plan or an apply found it.
type localTree struct {
	bridge.Tree

	root *os.Root
}

// Close lets go of the directory.
func (t *localTree) Close() {
	// Nothing was written to it, so nothing can be lost.
	_ = t.root.Close()
}

// open gives the content of a file of the tree. Links that lead out of the
// directory are not followed, should one have taken a file's place.
func (t *localTree) open(path string) (io.ReadCloser, error) {
	file, err := t.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}

	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &bridge.TreeChangedError{Path: path}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}

	return file, nil
}

// scanTree reads a local directory. What is excluded is not even looked at.
func scanTree(source string, excluded func(string) bool) (*localTree, error) {
	directory, err := resolveDirectory(source)
	if err != nil {
		return nil, err
	}

	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}

	tree := &localTree{root: root}
	err = filepath.WalkDir(directory, func(name string, entry fs.DirEntry, err error) error {
		if name == directory {
			return err
		}

		relative, relErr := filepath.Rel(directory, name)
		if relErr != nil {
			return relErr
		}
		relative = filepath.ToSlash(relative)

		if excluded != nil && excluded(relative) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil {
			return err
		}

		return tree.add(name, relative, entry)
	})
	if err != nil {
		tree.Close()
		return nil, err
	}
	tree.Sort()

	return tree, nil
}

// resolveDirectory finds the directory that a source means, which may be a link
// to one.
func resolveDirectory(source string) (string, error) {
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no local directory %q; a relative path starts at Terraform's working directory, "+
			"and a directory that this configuration makes itself is there only at apply", source)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%q is not a directory; for a single file there is cloudflaresandbox_file", source)
	}

	return filepath.EvalSymlinks(source)
}

// add takes up one path. Special files are refused: what they are cannot be
// kept, and to leave them out in silence would be to lose them.
func (t *localTree) add(name, relative string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}

	added := bridge.TreeEntry{Path: relative, Mode: unixMode(info.Mode())}
	switch {
	case info.IsDir():
		added.Kind = bridge.KindDirectory

	case info.Mode()&fs.ModeSymlink != 0:
		added.Kind, added.Mode = bridge.KindSymlink, 0
		if added.Target, err = os.Readlink(name); err != nil {
			return err
		}

	case info.Mode().IsRegular():
		added.Kind = bridge.KindFile
		if added.Size, added.SHA256, err = t.digest(relative); err != nil {
			return err
		}

	default:
		return fmt.Errorf("%q is neither a file nor a directory nor a symbolic link; name it in excludes to leave it out", name)
	}

	t.Tree = append(t.Tree, added)

	return nil
}

// unixMode is a mode as the sandbox has it, for which Go has other bits than Unix.
func unixMode(mode fs.FileMode) uint32 {
	unix := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		unix |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		unix |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		unix |= 0o1000
	}

	return unix
}

func (t *localTree) digest(relative string) (size int64, sum string, err error) {
	file, err := t.open(relative)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()

	digest := sha256.New()
	size, err = io.Copy(digest, file)

	return size, hex.EncodeToString(digest.Sum(nil)), err
}
