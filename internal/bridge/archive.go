package bridge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// ArchiveRequest is a part of a sandbox to fetch.
type ArchiveRequest struct {
	// Path of a directory or a file, as [CleanTreePath] takes it.
	Path string
	// Exclude, if set, tells what in a directory is left out, by its path relative to the directory. With a directory goes
	// all that is in it.
	Exclude func(path string) bool
	// MaxBytes, if not 0, is how large the archive may be. A larger one is a [*SizeError], and is not transferred.
	MaxBytes int64
	// Have is the SHA-256 of an archive that the caller has already. The same is not transferred again.
	Have string
}

// ArchiveInfo tells what was packed.
type ArchiveInfo struct {
	SHA256 string
	Size   int64
	// Unchanged: it is the archive that the caller has, and nothing was written.
	Unchanged bool
	// Changing, if not "", is what the sandbox's tar said of files that changed while it read them.
	Changing string
}

// Archive packs a part of the sandbox into a compressed tar and copies that to w, verified against its SHA-256. It counts
// only once Archive has returned without an error; where w can be rewound, a transfer that broke is tried again. The same
// files give the same archive. Names in it are relative to the directory that is packed; what the provider itself keeps in
// /workspace is left out. Missing and unreadable are different errors ([*PathError]).
func (s *Sandbox) Archive(ctx context.Context, r ArchiveRequest, w io.Writer) (*ArchiveInfo, error) {
	target, err := CleanTreePath(r.Path)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		info, err := s.archiveOnce(ctx, r, target, w)
		if err == nil || !isUnproven(err) || n > s.client.config.RetryMax || !rewind(w) {
			return info, err
		}
		if err := s.client.wait(ctx, n); err != nil {
			return nil, fmt.Errorf("packing %s in sandbox %s: %w", target, s.id, err)
		}
	}
}

func (s *Sandbox) archiveOnce(ctx context.Context, r ArchiveRequest, target string, w io.Writer) (*ArchiveInfo, error) {
	nonce, parts := newNonce(), 0
	if r.Exclude != nil {
		names, isDirectory, err := s.namesToPack(ctx, target, r.Exclude)
		if err != nil {
			return nil, err
		}
		if isDirectory {
			if parts, err = s.stage(ctx, nonce, bytes.NewReader(names), int64(len(names))); err != nil {
				return nil, fmt.Errorf("packing %s in sandbox %s: %w", target, s.id, err)
			}
		}
	}
	answer, err := s.call(ctx, call{
		what: "packing " + target, program: scripts.Pack, nonce: nonce, args: []string{target, strconv.Itoa(parts)}, needsContainer: true,
	})
	if err != nil {
		s.discard(ctx, nonce)
		return nil, err
	}
	switch answer.status {
	case 0:
		defer s.discard(ctx, nonce)
		return s.fetchArchive(ctx, r, answer.data, target, nonce, w)
	case scripts.StatusNotStaged:
		return nil, &unprovenError{fmt.Errorf("what was staged for packing %s in sandbox %s was removed meanwhile", target, s.id)}
	default:
		return nil, s.pathError("pack", target, answer)
	}
}

// namesToPack lists what is in a directory and not excluded, sorted, as tar takes it.
func (s *Sandbox) namesToPack(ctx context.Context, target string, exclude func(string) bool) (names []byte, isDirectory bool, err error) {
	answer, err := s.call(ctx, call{
		what: "listing " + target, program: scripts.Walk, args: []string{target}, needsContainer: true, limit: maxTreeAnswer,
	})
	if err != nil {
		return nil, false, err
	}
	switch answer.status {
	case 0:
	case scripts.StatusNotDirectory:
		return nil, false, nil
	case scripts.StatusUnreadable:
		return nil, false, s.pathError("list", path.Join(target, string(answer.data)), answer)
	default:
		return nil, false, s.pathError("list", target, answer)
	}
	text, err := gunzip(answer.data, maxListing)
	if err != nil {
		return nil, false, fmt.Errorf("listing %s in sandbox %s: %w", target, s.id, err)
	}
	return records(selectNames(text, target, exclude)), true, nil
}

// selectNames leaves out what is excluded, all that is in an excluded directory, and what the provider has staged.
func selectNames(text []byte, target string, exclude func(string) bool) []string {
	var found []string
	for name := range bytes.SplitSeq(text, []byte{0}) {
		if len(name) > 0 {
			found = append(found, string(name))
		}
	}
	slices.Sort(found)
	names := []string{}
	// In this order all that is in a directory comes after it, with its name and a slash in front.
	left := map[string]bool{}
	for _, name := range found {
		clean := strings.TrimSuffix(name, "/")
		switch {
		case clean == "":
		case left[path.Dir(clean)], exclude(clean), target+"/"+clean == stagingRoot:
			left[clean] = true
		default:
			names = append(names, "./"+clean)
		}
	}
	return names
}

// archiveName is what scripts/pack.sh calls an archive. It becomes a part of a request's path.
var archiveName = regexp.MustCompile(`^archive-[0-9]+\.gz$`)

// fetchArchive copies what was packed, and checks it.
func (s *Sandbox) fetchArchive(ctx context.Context, r ArchiveRequest, report []byte, target, nonce string, w io.Writer) (*ArchiveInfo, error) {
	line, complaints, _ := bytes.Cut(report, []byte("\n"))
	info := &ArchiveInfo{Changing: oneLine(string(complaints))}
	var name string
	_, err := fmt.Sscanf(string(line), "%s %d %s", &info.SHA256, &info.Size, &name)
	if err != nil || !isSHA256(info.SHA256) || info.Size < 0 || !archiveName.MatchString(name) {
		return nil, fmt.Errorf("packing %s in sandbox %s: %w", target, s.id, errReplyGarbled)
	}
	if info.SHA256 == r.Have {
		info.Unchanged = true
		return info, nil
	}
	if r.MaxBytes > 0 && info.Size > r.MaxBytes {
		return nil, &SizeError{ID: s.id, Path: "the archive of " + target, Size: info.Size, Limit: r.MaxBytes}
	}
	err = s.retrieve(ctx, retrieval{
		what: "fetching the archive of " + target, path: stagingRoot + "/" + nonce + "/" + name, size: info.Size, sha256: info.SHA256,
	}, w)
	if err != nil {
		return nil, err
	}
	return info, nil
}
