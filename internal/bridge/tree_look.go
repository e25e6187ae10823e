package bridge

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// TreeInfo tells what is there of a tree.
type TreeInfo struct {
	// Instance is the container that was looked into.
	Instance string
	// Root is what is at the tree's own path: KindDirectory, KindMissing, or KindOther for anything else, also a link.
	Root Kind
	// Closed says that the sandbox's user may not look into it; Root is KindOther then.
	Closed bool
	// Tree has those of the paths that were asked about at which there is something, and what it is. What the sandbox's
	// user may not look at is taken to be what was asked about, as far as what can be seen of it is the same; the SHA-256
	// of a file that was changed and cannot be read is "".
	Tree Tree
}

const (
	// maxTreeAnswer bounds what is said of a tree, in bytes of base64. The bridge itself cuts at 32 MiB.
	maxTreeAnswer = 32 << 20
	// maxListing bounds a list of all that is in a directory when it is unpacked.
	maxListing = 64 << 20
)

// InspectTree tells what is there of a tree that [Sandbox.UploadTree] has made, in one request however many paths it has:
// the sandbox keeps a list of them, which is told by its hash. Where it has no such list it is sent, in a second request.
// No content is transferred. At the instance limit the error proves that the sandbox has no container ([IsAsleep]).
func (s *Sandbox) InspectTree(ctx context.Context, at string, tree Tree) (*TreeInfo, error) {
	target, err := CleanTreePath(at)
	if err != nil {
		return nil, err
	}
	list := tree.Encode()
	c := call{what: "looking at " + target, program: scripts.Look, limit: maxTreeAnswer}
	parts := 0
	for n := 1; ; n++ {
		c.args = []string{target, treeRecords(target), tree.SHA256(), strconv.Itoa(parts)}
		answer, err := s.call(ctx, c)
		if err != nil {
			if parts > 0 {
				s.discard(ctx, c.nonce)
			}
			return nil, err
		}
		switch answer.status {
		case 0:
			found, err := readTree(answer.data, tree)
			if err != nil {
				return nil, fmt.Errorf("looking at %s in sandbox %s: %w", target, s.id, err)
			}
			return &TreeInfo{Instance: answer.instance, Root: KindDirectory, Tree: found}, nil
		case scripts.StatusMissing:
			return &TreeInfo{Instance: answer.instance, Root: KindMissing}, nil
		case scripts.StatusUnreadable:
			return &TreeInfo{Instance: answer.instance, Root: KindOther, Closed: true}, nil
		case scripts.StatusNotDirectory:
			return &TreeInfo{Instance: answer.instance, Root: KindOther}, nil
		case scripts.StatusNoList, scripts.StatusNotStaged:
			if n > s.client.config.RetryMax {
				return nil, fmt.Errorf("looking at %s in sandbox %s: the list of its paths does not arrive there", target, s.id)
			}
		default:
			return nil, s.pathError("look at", target, answer)
		}
		c.nonce = newNonce()
		if parts, err = s.stage(ctx, c.nonce, bytes.NewReader(list), int64(len(list))); err != nil {
			return nil, fmt.Errorf("looking at %s in sandbox %s: %w", target, s.id, err)
		}
	}
}

// treeRecords names what a sandbox remembers of the trees that were put into a directory.
func treeRecords(target string) string {
	sum := sha256.Sum256([]byte(target))
	return hex.EncodeToString(sum[:16])
}

// readTree reads what scripts/look.sh says about a tree.
func readTree(compressed []byte, asked Tree) (Tree, error) {
	text, err := gunzip(compressed, textAbout(asked))
	if err != nil {
		return nil, err
	}
	sections, err := splitSections(text, 4)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*FileInfo, len(asked))
	for _, e := range asked {
		found["./"+e.Path] = &FileInfo{Kind: KindMissing}
	}
	for _, record := range sections[0] {
		if err := takeStat(found, record); err != nil {
			return nil, err
		}
	}
	for _, record := range sections[1] {
		if err := takeSum(found, record); err != nil {
			return nil, err
		}
	}
	targets := make(map[string]string, len(sections[2])/2)
	for i := 0; i+1 < len(sections[2]); i += 2 {
		targets[sections[2][i]] = sections[2][i+1]
	}
	for _, name := range sections[3] {
		info, ok := found[name]
		if !ok {
			return nil, errReplyGarbled
		}
		info.Unreadable = true
	}
	var tree Tree
	for _, e := range asked {
		name := "./" + e.Path
		if seen, there := observe(e, *found[name], targets[name]); there {
			tree = append(tree, seen)
		}
	}
	return tree, nil
}

// textAbout is how much can be said about a tree: of each path its name in each section, its numbers, and where it leads.
func textAbout(asked Tree) int64 {
	size := int64(16 << 20)
	for _, e := range asked {
		size += int64(4*len(e.Path) + len(e.Target) + 256)
	}
	return size
}

// observe makes an entry of what was seen at the path of another.
func observe(asked TreeEntry, info FileInfo, target string) (seen TreeEntry, there bool) {
	seen = TreeEntry{Path: asked.Path, Kind: info.Kind, Mode: info.Mode}
	switch info.Kind {
	case KindMissing:
		// In a directory that is closed to the sandbox's user. To call it gone would be to plan for ever.
		return asked, info.Unreadable
	case KindSymlink:
		seen.Mode, seen.Target = 0, target
	case KindFile:
		seen.Size, seen.SHA256 = info.Size, info.SHA256
		if info.SHA256 == "" && asked.Kind == KindFile && asked.Mode == info.Mode && asked.Size == info.Size {
			seen.SHA256 = asked.SHA256
		}
	}
	return seen, true
}

// splitSections takes apart records that are each ended by NUL, and stand in as many sections with an empty record
// between them. Within a section no first record of a line may be empty; the third has pairs, of which only the second may.
func splitSections(text []byte, count int) ([][]string, error) {
	sections := make([][]string, count)
	section, pair := 0, false
	for len(text) > 0 {
		record, rest, complete := bytes.Cut(text, []byte{0})
		text = rest
		switch {
		case !complete, !pair && len(record) == 0 && section+1 == count:
			return nil, errReplyGarbled
		case !pair && len(record) == 0:
			section++
		default:
			sections[section] = append(sections[section], string(record))
			pair = section == 2 && !pair
		}
	}
	if section+1 != count || pair {
		return nil, errReplyGarbled
	}
	return sections, nil
}

// gunzip unpacks an answer of at most most bytes: a few kilobytes can unpack to gigabytes.
func gunzip(compressed []byte, most int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errReplyGarbled, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errReplyGarbled, err)
	case int64(len(text)) > most:
		return nil, errReplyTooLarge
	}
	return text, nil
}
