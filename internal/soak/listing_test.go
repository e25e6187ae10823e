package soak_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// listing is all that is in /workspace: a line for each path. It is made by
// find and not by what the provider looks with.
type listing map[string]string

// declared is what is to be in the /workspace of a sandbox, and nothing else.
func (f fleet) declared(s int) listing {
	l := listing{treeRoot: "d"}
	if _, mounted := f.mount(s); mounted {
		l[mountPoint] = "d"
	}
	for n := range f.files {
		name, file := f.file(s, n)
		l.add(strings.TrimPrefix(name, "/workspace/"), "f", strings.TrimLeft(file.mode, "0"), checksum(file.content))
	}
	for name, n := range f.tree(s) {
		what := n.text
		if n.kind == "f" {
			what = checksum([]byte(n.text))
		}
		l.add(treeRoot+"/"+name, n.kind, fmt.Sprintf("%o", n.mode), what)
	}

	return l
}

// add notes something, and the directories that it takes.
func (l listing) add(name, kind, mode, what string) {
	for parent := path.Dir(name); parent != "." && l[parent] == ""; parent = path.Dir(parent) {
		l[parent] = "d"
	}
	switch {
	case kind == "l":
		l[name] = "l " + what
	case kind == "d" && strings.HasPrefix(name, treeRoot+"/"):
		l[name] = "d " + mode
	case kind == "d":
		// A mode that nobody has declared is the sandbox's affair.
		l[name] = "d"
	default:
		l[name] = kind + " " + mode + " " + what
	}
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)

	return hex.EncodeToString(sum[:])
}

// list looks into a sandbox.
func (w *world) list(id string) (listing, error) {
	output, err := w.local.Inside(id, `cd /workspace && find . -type f -exec sha256sum {} + && echo && find . -mindepth 1 -printf '%y\t%m\t%l\t%P\n'`)
	if err != nil {
		return nil, err
	}
	sums, rest, _ := strings.Cut(output, "\n\n")
	hashes := map[string]string{}
	for line := range strings.Lines(sums) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ./")
		hashes[name] = hash
	}
	l := listing{}
	for line := range strings.Lines(rest) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(fields) != 4 {
			return nil, fmt.Errorf("find said %q", line)
		}
		kind, mode, target, name := fields[0], fields[1], fields[2], fields[3]
		l.add(name, kind, mode, target+hashes[name])
	}

	return l, nil
}

// compare tells how what is there differs from what should be.
func (l listing) compare(want listing) error {
	var differences []string
	for name := range maps.Keys(want) {
		if l[name] != want[name] {
			differences = append(differences, fmt.Sprintf("%s is %q and should be %q", name, l[name], want[name]))
		}
	}
	for name := range maps.Keys(l) {
		if want[name] == "" {
			differences = append(differences, fmt.Sprintf("%s is %q and should not be there", name, l[name]))
		}
	}
	if len(differences) == 0 {
		return nil
	}
	slices.Sort(differences)

	return fmt.Errorf("%s", strings.Join(differences, "; "))
}
