package bridge

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// treeChanges is what has to be done for a directory to hold a tree.
type treeChanges struct {
	// files and links are sent.
	files, links Tree
	// modes are files whose mode is still to be set.
	modes Tree
	// remove is what is taken away, by directory and parents first, so that a directory is entered once.
	remove Tree
}

// diffTree compares what is to be there with what is, and with what was put there.
func diffTree(u TreeUpload) treeChanges {
	var c treeChanges
	seen := map[string]TreeEntry{}
	if u.Seen != nil {
		seen = u.Seen.Tree.byPath()
	}
	for _, e := range u.Tree {
		there := seen[e.Path]
		switch {
		case e.Kind == KindSymlink && there != e:
			c.links = append(c.links, e)
		case e.Kind == KindFile && (there.Kind != KindFile || there.SHA256 != e.SHA256 || there.Size != e.Size):
			c.files = append(c.files, e)
			if e.Mode != sentMode(e) {
				c.modes = append(c.modes, e)
			}
		case e.Kind == KindFile && there.Mode != e.Mode:
			c.modes = append(c.modes, e)
		}
	}
	wanted := u.Tree.byPath()
	for _, was := range u.Was {
		now, stays := wanted[was.Path]
		if !stays || (now.Kind == KindDirectory) != (was.Kind == KindDirectory) {
			c.remove = append(c.remove, was)
		}
	}
	slices.SortFunc(c.remove, func(a, b TreeEntry) int {
		return cmp.Or(strings.Compare(parentOf(a.Path), parentOf(b.Path)), strings.Compare(a.Path, b.Path))
	})
	return c
}

// parentOf is the directory that a path is in, "" for the tree's own, which sorts before all others.
func parentOf(p string) string {
	return strings.TrimSuffix(p[:strings.LastIndexByte(p, '/')+1], "/")
}

// sentMode is the mode that a file has until it was verified, which takes that it can be read.
func sentMode(e TreeEntry) uint32 { return e.Mode&0o777 | 0o600 }

// packedTree is what scripts/unpack.sh is told of what is staged.
type packedTree struct {
	size             int64
	sha256, contents string
}

// packTree writes what scripts/unpack.sh works on. It reads each file once, and checks that it is what the tree says.
func packTree(to io.Writer, u TreeUpload, c treeChanges) (packedTree, error) {
	whole, contents := sha256.New(), sha256.New()
	counted := &countingWriter{w: io.MultiWriter(to, whole)}
	zipped := gzip.NewWriter(counted)
	archive := tar.NewWriter(zipped)
	var remove, modes []string
	for _, e := range c.remove {
		kind := "f"
		if e.Kind == KindDirectory {
			kind = "d"
		}
		remove = append(remove, kind, e.Path)
	}
	for _, e := range c.modes {
		modes = append(modes, FormatMode(e.Mode), e.Path)
	}
	for _, member := range []struct {
		name    string
		content []byte
	}{
		{"list", u.Tree.Encode()},
		{"sent", records(c.files.paths())},
		{"linked", records(c.links.paths())},
		{"remove", records(remove)},
		{"modes", records(modes)},
	} {
		header := tar.Header{Typeflag: tar.TypeReg, Name: member.name, Size: int64(len(member.content)), Mode: 0o600}
		if err := archive.WriteHeader(&header); err != nil {
			return packedTree{}, err
		}
		if _, err := archive.Write(member.content); err != nil {
			return packedTree{}, err
		}
	}
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tree/", Mode: 0o700})
	if err != nil {
		return packedTree{}, err
	}
	for _, e := range c.files {
		if err := packFile(archive, u.Open, e, contents); err != nil {
			return packedTree{}, err
		}
	}
	for _, e := range c.links {
		// GNU's own format keeps the bytes of names as they are, whatever they are.
		header := tar.Header{Typeflag: tar.TypeSymlink, Name: "tree/" + e.Path, Linkname: e.Target, Mode: 0o777, Format: tar.FormatGNU}
		if err := archive.WriteHeader(&header); err != nil {
			return packedTree{}, fmt.Errorf("packing %q: %w", e.Path, err)
		}
	}
	if err := cmp.Or(archive.Close(), zipped.Close()); err != nil {
		return packedTree{}, err
	}
	return packedTree{
		size: counted.n, sha256: hex.EncodeToString(whole.Sum(nil)), contents: hex.EncodeToString(contents.Sum(nil)),
	}, nil
}

// packFile adds a file, and to contents what sha256sum will say of it.
func packFile(archive *tar.Writer, open func(string) (io.ReadCloser, error), e TreeEntry, contents hash.Hash) error {
	file, err := open(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &TreeChangedError{Path: e.Path}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := tar.Header{Typeflag: tar.TypeReg, Name: "tree/" + e.Path, Size: e.Size, Mode: int64(sentMode(e)), Format: tar.FormatGNU}
	if err := archive.WriteHeader(&header); err != nil {
		return fmt.Errorf("packing %q: %w", e.Path, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(archive, sum), io.LimitReader(file, e.Size))
	if err != nil {
		return fmt.Errorf("packing %q into a local file: %w", e.Path, err)
	}
	more, _ := io.CopyN(io.Discard, file, 1)
	if n != e.Size || more > 0 || hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return &TreeChangedError{Path: e.Path}
	}
	_, err = fmt.Fprintf(contents, "%s *./%s\x00", e.SHA256, e.Path)
	return err
}

// TreeChangedError is a file of a tree whose content is not what the tree says.
type TreeChangedError struct{ Path string }

func (e *TreeChangedError) Error() string {
	return fmt.Sprintf("%q has changed since its SHA-256 was computed", e.Path)
}

// Is makes it an [ErrContentChanged].
func (e *TreeChangedError) Is(target error) bool { return target == ErrContentChanged }

func (t Tree) paths() []string {
	paths := make([]string, len(t))
	for i, e := range t {
		paths[i] = e.Path
	}
	return paths
}

// records writes texts, each ended by NUL.
func records(texts []string) []byte {
	var b []byte
	for _, text := range texts {
		b = append(append(b, text...), 0)
	}
	return b
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	return n, err
}
