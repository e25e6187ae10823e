package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// TreeEntry is one path of a tree.
type TreeEntry struct {
	// Path relative to the tree, with slashes: any bytes that Linux allows, also such that are not UTF-8.
	Path string
	// Kind: KindFile, KindDirectory or KindSymlink. What is found in a sandbox may be KindOther as well.
	Kind Kind
	// Mode of a file or a directory. A link has none of its own.
	Mode uint32
	// Size and SHA256 of a file.
	Size   int64
	SHA256 string
	// Target is where a link leads.
	Target string
}

// Tree is what is in a directory, sorted by path: every file, link and directory below it, and not the directory itself.
type Tree []TreeEntry

// Sort puts the entries in the order that a tree has: each directory before what is in it.
func (t Tree) Sort() {
	slices.SortFunc(t, func(a, b TreeEntry) int { return strings.Compare(a.Path, b.Path) })
}

// Encode writes the tree in the form that the scripts read, and of which [Tree.SHA256] is the hash: two trees have the
// same encoding if and only if they are the same.
func (t Tree) Encode() []byte {
	var b bytes.Buffer
	for _, e := range t {
		switch e.Kind {
		case KindFile:
			fmt.Fprintf(&b, "f %s %d %s", FormatMode(e.Mode), e.Size, e.SHA256)
		case KindDirectory:
			fmt.Fprintf(&b, "d %s", FormatMode(e.Mode))
		case KindSymlink:
			fmt.Fprintf(&b, "l %s", e.Target)
		default:
			fmt.Fprintf(&b, "o %s", FormatMode(e.Mode))
		}
		fmt.Fprintf(&b, "\x00%s\x00", e.Path)
	}
	return b.Bytes()
}

// SHA256 is the hash of the whole tree, in hex.
func (t Tree) SHA256() string {
	sum := sha256.Sum256(t.Encode())
	return hex.EncodeToString(sum[:])
}

var errNoTree = errors.New("this is not the encoding of a tree")

// DecodeTree reads what [Tree.Encode] has written.
func DecodeTree(encoded []byte) (Tree, error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	records, complete := bytes.CutSuffix(encoded, []byte{0})
	fields := strings.Split(string(records), "\x00")
	if !complete || len(fields)%2 != 0 {
		return nil, errNoTree
	}
	t := make(Tree, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		entry, err := decodeEntry(fields[i])
		if err != nil {
			return nil, err
		}
		entry.Path = fields[i+1]
		t = append(t, entry)
	}
	return t, nil
}

func decodeEntry(what string) (TreeEntry, error) {
	kind, rest, _ := strings.Cut(what, " ")
	if kind == "l" {
		return TreeEntry{Kind: KindSymlink, Target: rest}, nil
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return TreeEntry{}, errNoTree
	}
	mode, err := strconv.ParseUint(words[0], 8, 12)
	if err != nil {
		return TreeEntry{}, errNoTree
	}
	entry := TreeEntry{Mode: uint32(mode)}
	switch {
	case kind == "d" && len(words) == 1:
		entry.Kind = KindDirectory
	case kind == "o" && len(words) == 1:
		entry.Kind = KindOther
	case kind == "f" && len(words) >= 2:
		entry.Kind = KindFile
		if entry.Size, err = strconv.ParseInt(words[1], 10, 64); err != nil {
			return TreeEntry{}, errNoTree
		}
		if len(words) == 3 {
			entry.SHA256 = words[2]
		}
	default:
		return TreeEntry{}, errNoTree
	}
	return entry, nil
}

// byPath makes the entries findable.
func (t Tree) byPath() map[string]TreeEntry {
	found := make(map[string]TreeEntry, len(t))
	for _, e := range t {
		found[e.Path] = e
	}
	return found
}

// Validate tells whether the tree can be put into the directory: whether it is sorted and whole, and every path can be
// there.
func (t Tree) Validate(target string) error {
	directories := map[string]bool{".": true}
	last := ""
	for _, e := range t {
		switch {
		case e.Path <= last:
			return fmt.Errorf("%q is out of order in the tree", e.Path)
		case strings.ContainsRune(e.Path+e.Target, 0):
			return fmt.Errorf("%q has a NUL character, which no path can have", e.Path)
		case path.Clean("/"+e.Path) != "/"+e.Path:
			return fmt.Errorf("%q is not a path below the tree", e.Path)
		case !directories[path.Dir(e.Path)]:
			return fmt.Errorf("the directory that %q is in is not a part of the tree", e.Path)
		case len(target)+1+len(e.Path) > maxPathLength:
			return fmt.Errorf("%q has %d bytes below %s; a path can have %d in all", e.Path, len(e.Path), target, maxPathLength)
		case len(path.Base(e.Path)) > maxNameLength:
			return fmt.Errorf("a name in a path can have %d bytes, that of %q has more", maxNameLength, e.Path)
		case target+"/"+e.Path == stagingRoot:
			return fmt.Errorf("%s is where the provider stages what it writes, so a tree cannot have it", stagingRoot)
		case e.Kind == KindSymlink && e.Target == "", e.Kind == KindOther, e.Kind == KindMissing:
			return fmt.Errorf("%q is neither a file nor a directory nor a symbolic link", e.Path)
		}
		if e.Kind == KindDirectory {
			directories[e.Path] = true
		}
		last = e.Path
	}
	return nil
}

// CleanTreePath is [CleanPath] for a directory: it may be /workspace itself, and may end in a slash.
func CleanTreePath(p string) (string, error) {
	if p == "" {
		return CleanPath(p)
	}
	clean := p
	if !path.IsAbs(clean) {
		clean = Workspace + "/" + clean
	}
	clean = path.Clean(clean)
	if clean == Workspace {
		return clean, nil
	}
	if clean == "/" {
		return "", fmt.Errorf("%q is outside %s, the only directory that the bridge serves", p, Workspace)
	}
	return CleanPath(clean)
}
