package bridge_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestFilesSurviveExactly(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	random := make([]byte, 1<<20)
	_, _ = rand.Read(random)
	allBytes := make([]byte, 256)
	for i := range allBytes {
		allBytes[i] = byte(i)
	}
	large := make([]byte, 20<<20+1)
	_, _ = rand.Read(large)
	for name, test := range map[string]struct {
		path, content string
		mode          uint32
	}{
		"empty":             {"empty", "", 0o644},
		"no final newline":  {"a/b/c", "x", 0o600},
		"CRLF":              {"crlf.txt", "a\r\nb\r\n", 0o755},
		"byte order mark":   {"bom.txt", "\xef\xbb\xbfa\n", 0o4755},
		"Latin-1":           {"latin1.txt", "caf\xe9\n", 0o1777},
		"NUL":               {"nul.txt", "a\x00b", 0o400},
		"every byte":        {"bytes.json", string(allBytes), 0o000},
		"random text":       {"random.txt", string(random), 0o644},
		"8 MiB":             {"eight", string(large[:8<<20]), 0o644},
		"8 MiB and a byte":  {"eight1", string(large[:8<<20+1]), 0o644},
		"20 MiB and a byte": {"large.bin", string(large), 0o644},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := write(t, s, test.path, test.content, test.mode)
			want := bridge.FileInfo{
				Path: "/workspace/" + test.path, Kind: bridge.KindFile, Mode: test.mode, Size: int64(len(test.content)), SHA256: sum(test.content),
			}
			if *info != want {
				t.Errorf("Write: got %+v, want %+v", *info, want)
			}
			if test.mode&0o400 == 0 {
				return
			}
			if got := strings.Fields(inside(t, s, "sha256sum "+test.path))[0]; got != want.SHA256 {
				t.Errorf("from inside: got %s, want %s", got, want.SHA256)
			}
			infos, err := s.Inspect(t.Context(), test.path)
			if err != nil || infos[0] != want {
				t.Errorf("Inspect: got %+v, %v, want %+v", infos, err, want)
			}
			var content bytes.Buffer
			read, err := s.Read(t.Context(), test.path, &content)
			if err != nil || *read != want || content.String() != test.content {
				t.Errorf("Read: got %+v, %v and %d bytes, want %+v", read, err, content.Len(), want)
			}
		})
	}
}

func TestFilesCanHaveAnyName(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	names := []string{
		"a b", `"q"`, "it's", "#", "?", "%41", "a;b", "a,b", "a+b", "a&b", "a\nb", "🎉", "-dash", "--", "~", "$HOME", "*", `back\slash`, "a:b@c=d",
		"日本", "\x01", "a%2Fb", "%", "..a", ".x.", strings.Repeat("n", 200), strings.Repeat("é", 127), "x.gz", " ", "[", "]", "a*b", "trailing ",
		"deep/er/x y/z#?", "\u202e", "new\r",
	}
	for _, name := range names {
		write(t, s, "/workspace/names/"+name, name, 0o644)
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = "names/" + name
	}
	infos, err := s.Inspect(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if infos[i].Kind != bridge.KindFile || infos[i].SHA256 != sum(name) {
			t.Errorf("%q: got %+v", name, infos[i])
		}
		var content bytes.Buffer
		if _, err := s.Read(t.Context(), paths[i], &content); err != nil || content.String() != name {
			t.Errorf("%q: read %q, %v", name, content.String(), err)
		}
		if err := s.Remove(t.Context(), paths[i]); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if left := inside(t, s, "find names -type f"); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestWriteReplacesWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "echo old >file; chmod 600 file; echo target >target; ln -s target link; ln -s nowhere dangling; mkdir directory; mkfifo pipe; "+
		"mkdir locked; echo old >locked/file; chmod 555 locked; ln -s directory dirlink")
	for _, path := range []string{"file", "link", "dangling", "pipe", "dirlink"} {
		write(t, s, path, "new", 0o640)
		if got := inside(t, s, "[ ! -L "+path+" ] && cat "+path+" && stat -c ' %a' "+path); got != "new 640\n" {
			t.Errorf("%s: got %q", path, got)
		}
	}
	if got := inside(t, s, "cat target"); got != "target\n" {
		t.Errorf("the link's target: got %q", got)
	}
	for path, reason := range map[string]bridge.PathReason{
		"directory": bridge.ReasonIsDirectory, "locked/file": bridge.ReasonRefused, "locked/new": bridge.ReasonRefused,
		"file/below": bridge.ReasonRefused,
	} {
		_, err := s.Write(t.Context(), bridge.WriteRequest{Path: path, Content: strings.NewReader("new"), Size: 3, Mode: 0o644})
		var refused *bridge.PathError
		if !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("%s: got %v, want reason %q", path, err, reason)
		}
	}
	if got := inside(t, s, "cat locked/file; ls -A . locked directory | grep cloudflaresandbox || true"); got != "old\n" {
		t.Errorf("after refusals: got %q", got)
	}
}

func TestWriteRefusesContentThatHasChanged(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	for name, w := range map[string]bridge.WriteRequest{
		"other content": {Path: "x", Content: strings.NewReader("new"), Size: 3, SHA256: sum("old")},
		"shorter":       {Path: "x", Content: strings.NewReader("ne"), Size: 3},
	} {
		if _, err := s.Write(t.Context(), w); !errors.Is(err, bridge.ErrContentChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestInspectTellsKindsApart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "mkdir -m 750 directory; ln -s /etc/passwd link; mkfifo pipe; echo x >secret; chmod 0 secret; mkdir closed; echo x >closed/file; chmod 0 closed")
	infos, err := s.Inspect(t.Context(), "directory", "link", "pipe", "secret", "closed/file", "none", "directory/none", "secret/x")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind       bridge.Kind
		unreadable bool
	}{
		{bridge.KindDirectory, false},
		{bridge.KindSymlink, false},
		{bridge.KindOther, false},
		{bridge.KindFile, true},
		{bridge.KindMissing, true},
		{bridge.KindMissing, false},
		{bridge.KindMissing, false},
		{bridge.KindMissing, false},
	} {
		if infos[i].Kind != want.kind || infos[i].Unreadable != want.unreadable {
			t.Errorf("got %+v, want %+v", infos[i], want)
		}
	}
	if infos[0].Mode != 0o750 {
		t.Errorf("got mode %o", infos[0].Mode)
	}
}

func TestInspectTakesAnyNumberOfPaths(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, `mkdir many; for i in {1..3000}; do echo $i >"many/a rather long name, so that they do not all fit $i"; done`)
	paths := make([]string, 0, 3000)
	for i := range 3000 {
		paths = append(paths, "many/a rather long name, so that they do not all fit "+strconv.Itoa(i+1))
	}
	infos, err := s.Inspect(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range infos {
		if info.SHA256 != sum(strconv.Itoa(i+1)+"\n") {
			t.Fatalf("got %+v", info)
		}
	}
}

func TestReadTellsWhyItCannot(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "mkdir directory; echo x >secret; chmod 0 secret; ln -s nowhere dangling; mkfifo pipe; "+
		"mkdir closed; echo x >closed/file; chmod 0 closed; ln -s closed/file into")
	for path, reason := range map[string]bridge.PathReason{
		"none": bridge.ReasonMissing, "directory": bridge.ReasonIsDirectory, "secret": bridge.ReasonUnreadable,
		"dangling": bridge.ReasonMissing, "pipe": bridge.ReasonNotRegular, "secret/below": bridge.ReasonMissing,
		// Where nothing can be seen, nothing can be known to be missing.
		"closed/file": bridge.ReasonUnreadable, "closed/none": bridge.ReasonUnreadable, "into": bridge.ReasonUnreadable,
	} {
		var refused *bridge.PathError
		if _, err := s.Read(t.Context(), path, &bytes.Buffer{}); !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("%s: got %v, want reason %q", path, err, reason)
		}
	}
}

func TestReadAtMostTransfersNoLargerFile(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	const limit = 3 << 20
	inside(t, s, "head -c 3145728 /dev/urandom >most; head -c 3145729 /dev/urandom >over; touch empty")
	for path, want := range map[string]int64{"most": limit, "empty": 0} {
		var content bytes.Buffer
		if _, err := s.ReadAtMost(t.Context(), path, limit, &content); err != nil || int64(content.Len()) != want {
			t.Errorf("%s: got %d bytes, %v", path, content.Len(), err)
		}
	}
	var (
		content bytes.Buffer
		over    *bridge.SizeError
	)
	if _, err := s.ReadAtMost(t.Context(), "over", limit, &content); !errors.As(err, &over) || over.Size != limit+1 || content.Len() != 0 {
		t.Errorf("got %d bytes, %v", content.Len(), err)
	}
	if got := inside(t, s, "ls -A"); got != "empty\nmost\nover\n" {
		t.Errorf("in /workspace: %s", got)
	}
}

func TestReadOfALargeFileLeavesNothingStaged(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "head -c 30000000 /dev/urandom >large.txt")
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := s.Read(t.Context(), "large.txt", file)
	if err != nil || info.Size != 30000000 {
		t.Fatalf("got %+v, %v", info, err)
	}
	if got := inside(t, s, "ls -A"); got != "large.txt\n" {
		t.Errorf("in /workspace: %s", got)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "echo x >file; ln -s file link; mkdir directory; mkdir locked; echo x >locked/file; chmod 555 locked")
	for _, path := range []string{"link", "file", "none", "none/none"} {
		if err := s.Remove(t.Context(), path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"directory", "locked/file"} {
		var refused *bridge.PathError
		if err := s.Remove(t.Context(), path); !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want an error", path, err)
		}
	}
	if got := inside(t, s, "ls -A; ls locked"); got != "directory\nlocked\nfile\n" {
		t.Errorf("left: %q", got)
	}
}
