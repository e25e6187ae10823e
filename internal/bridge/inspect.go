package bridge

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// Kind is what is at a path.
type Kind string

// The kinds. A link is a link; it is not followed.
const (
	KindMissing   Kind = "missing"
	KindFile      Kind = "file"
	KindDirectory Kind = "directory"
	KindSymlink   Kind = "symlink"
	KindOther     Kind = "other"
)

// FileInfo tells what is at a path.
type FileInfo struct {
	// Path as it was asked for, cleaned.
	Path string
	Kind Kind
	// Mode has the permission bits with setuid, setgid and sticky.
	Mode uint32
	// Size in bytes.
	Size int64
	// SHA256 of a regular file's content in hex; "" for anything else and for a file that cannot be read.
	SHA256 string
	// Unreadable says that the sandbox's user cannot read the file, or cannot look into its directory.
	Unreadable bool
}

// maxInspected is how many bytes of paths one request asks about; see maxInline.
const maxInspected = 24 << 10

// Inspect tells what is at the paths, in their order, in one request for each 24 KiB of paths. It transfers no content.
func (s *Sandbox) Inspect(ctx context.Context, paths ...string) ([]FileInfo, error) {
	clean := make([]string, len(paths))
	for i, p := range paths {
		var err error
		if clean[i], err = CleanPath(p); err != nil {
			return nil, err
		}
	}
	infos := make([]FileInfo, 0, len(clean))
	for rest := clean; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && (n == 0 || size+len(rest[n]) <= maxInspected) {
			size += len(rest[n])
			n++
		}
		answer, err := s.call(ctx, call{what: "looking at files", program: scripts.Inspect, args: rest[:n], limit: 16 * maxAnswer})
		if err != nil {
			return nil, err
		}
		found, err := parseInspected(answer.data, rest[:n])
		if err != nil {
			return nil, fmt.Errorf("looking at files in sandbox %s: %w", s.id, err)
		}
		infos = append(infos, found...)
		rest = rest[n:]
	}
	return infos, nil
}

// parseInspected reads what scripts/inspect.sh says about the paths.
func parseInspected(data []byte, paths []string) ([]FileInfo, error) {
	found := make(map[string]*FileInfo, len(paths))
	for _, p := range paths {
		found[p] = &FileInfo{Path: p, Kind: KindMissing}
	}
	section := 0
	for record := range bytes.SplitSeq(data, []byte{0}) {
		text := string(record)
		if text == "" {
			section++
			continue
		}
		var err error
		switch section {
		case 0:
			err = takeStat(found, text)
		case 1:
			err = takeSum(found, text)
		default:
			info, ok := found[text]
			if !ok {
				return nil, errReplyGarbled
			}
			info.Unreadable = true
		}
		if err != nil {
			return nil, err
		}
	}
	if section < 2 {
		return nil, errReplyGarbled
	}
	infos := make([]FileInfo, len(paths))
	for i, p := range paths {
		infos[i] = *found[p]
		if infos[i].Kind == KindFile && infos[i].SHA256 == "" {
			infos[i].Unreadable = true
		}
	}
	return infos, nil
}

// takeStat reads "RAW_MODE SIZE PATH".
func takeStat(found map[string]*FileInfo, record string) error {
	mode, rest, _ := strings.Cut(record, " ")
	size, path, _ := strings.Cut(rest, " ")
	info, ok := found[path]
	raw, modeErr := strconv.ParseUint(mode, 16, 32)
	bytes, sizeErr := strconv.ParseInt(size, 10, 64)
	if !ok || modeErr != nil || sizeErr != nil {
		return errReplyGarbled
	}
	info.Kind, info.Mode = splitMode(uint32(raw))
	info.Size = bytes
	return nil
}

// takeSum reads "SHA256 *PATH".
func takeSum(found map[string]*FileInfo, record string) error {
	sum, path, _ := strings.Cut(record, " *")
	info, ok := found[path]
	if !ok || !isSHA256(sum) {
		return errReplyGarbled
	}
	info.SHA256 = sum
	return nil
}

func isSHA256(sum string) bool {
	decoded, err := hex.DecodeString(sum)
	return err == nil && len(decoded) == 32 && sum == strings.ToLower(sum)
}

// splitMode takes apart a raw mode as Linux has it.
func splitMode(raw uint32) (Kind, uint32) {
	const (
		typeMask  = 0o170000
		directory = 0o040000
		regular   = 0o100000
		link      = 0o120000
	)
	kind := KindOther
	switch raw & typeMask {
	case regular:
		kind = KindFile
	case directory:
		kind = KindDirectory
	case link:
		kind = KindSymlink
	}
	return kind, raw & 0o7777
}
