package bridge_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// archive fetches an archive and returns what is in it: content by name, with what is no file described instead.
func archive(t *testing.T, s *bridge.Sandbox, r bridge.ArchiveRequest) (map[string]string, *bridge.ArchiveInfo) {
	t.Helper()
	var packed bytes.Buffer
	info, err := s.Archive(t.Context(), r, &packed)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size != int64(packed.Len()) || info.SHA256 != sum(packed.String()) {
		t.Errorf("got %d bytes with hash %s, told %+v", packed.Len(), sum(packed.String()), info)
	}
	unzipped, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found, info
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch header.Typeflag {
		case tar.TypeSymlink:
			content = []byte("-> " + header.Linkname)
		case tar.TypeDir:
			content = []byte("directory")
		}
		found[header.Name] = string(content)
	}
}

func expectArchived(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if found, ok := got[name]; !ok || found != content {
			t.Errorf("%q: got %q (there: %t), want %q", name, found, ok, content)
		}
	}
	for name, content := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("also there: %q with %q", name, content)
		}
	}
}

func TestArchiveHasWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	want := map[string]string{}
	for _, name := range []string{"a", "b c", "-d", "n\nl", `back\nslash`, "*", "latin1-\xe9", "日本", "deep/er/x", strings.Repeat("n", 255), "-C/x", "trailing ", ".hidden"} {
		write(t, s, "w/"+strings.ToValidUTF8(name, "?"), name, 0o644)
		want["./"+strings.ToValidUTF8(name, "?")] = name
	}
	inside(t, s, `mkdir w/empty; ln -s /etc/passwd w/link; ln -s w dirlink; ln -s w/a filelink`)
	for _, directory := range []string{"deep/", "deep/er/", "-C/", "empty/"} {
		want["./"+directory] = "directory"
	}
	want["./link"] = "-> /etc/passwd"
	plain, info := archive(t, s, bridge.ArchiveRequest{Path: "w"})
	expectArchived(t, plain, want)
	if info.Changing != "" {
		t.Errorf("changing: %s", info.Changing)
	}
	listed, _ := archive(t, s, bridge.ArchiveRequest{Path: "w", Exclude: func(string) bool { return false }})
	expectArchived(t, listed, want)
	through, _ := archive(t, s, bridge.ArchiveRequest{Path: "dirlink"})
	expectArchived(t, through, want)

	file, _ := archive(t, s, bridge.ArchiveRequest{Path: "w/a"})
	expectArchived(t, file, map[string]string{"./a": "a"})
	file, _ = archive(t, s, bridge.ArchiveRequest{Path: "filelink", Exclude: func(string) bool { return true }})
	expectArchived(t, file, map[string]string{"./filelink": "a"})
	empty, _ := archive(t, s, bridge.ArchiveRequest{Path: "w/empty"})
	expectArchived(t, empty, map[string]string{})
	expectNothingStaged(t, s)
}

func TestArchiveLeavesOutWhatIsExcluded(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, `mkdir -p keep skip/deep .cloudflaresandbox-x; touch keep/a keep/a.log skip/a skip/deep/a 'skip b' skip.txt; ln -s keep skip-link`)
	got, _ := archive(t, s, bridge.ArchiveRequest{Path: "/workspace", Exclude: func(p string) bool {
		return p == "skip" || path.Ext(p) == ".log" || p == "skip-link"
	}})
	expectArchived(t, got, map[string]string{"./keep/": "directory", "./keep/a": "", "./skip b": "", "./skip.txt": ""})
	got, _ = archive(t, s, bridge.ArchiveRequest{Path: "/workspace", Exclude: func(string) bool { return true }})
	expectArchived(t, got, nil)
}

func TestArchiveOfTheSameFilesIsTheSame(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	inside(t, s, "seq 1 100000 >numbers; head -c 3000000 /dev/urandom >random; mkdir d; touch -d 2020-01-01 d/x d")
	_, first := archive(t, s, bridge.ArchiveRequest{Path: "/workspace"})
	_, second := archive(t, s, bridge.ArchiveRequest{Path: "/workspace"})
	if *first != *second {
		t.Errorf("got %+v, then %+v", first, second)
	}
	before := proxy.count("GET file")
	var nothing bytes.Buffer
	info, err := s.Archive(t.Context(), bridge.ArchiveRequest{Path: "/workspace", Have: first.SHA256}, &nothing)
	if err != nil || !info.Unchanged || nothing.Len() > 0 || proxy.count("GET file") != before {
		t.Errorf("what is known was sent again: %+v, %v, %d bytes", info, err, nothing.Len())
	}
	for _, plan := range [][]cut{{{before: true}}, {{after: 1}}, {{after: 90, clean: true}, {after: 90}}} {
		proxy.then(plan...)
		if _, again := archive(t, s, bridge.ArchiveRequest{Path: "/workspace"}); *again != *first {
			t.Errorf("got %+v, want %+v", again, first)
		}
	}
	expectNothingStaged(t, s)
}

func TestArchiveTellsWhyItCannot(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "mkdir -p secret closed/inner d; echo x >secret/file; chmod 0 secret/file closed/inner; ln -s nowhere dangling")
	for name, test := range map[string]struct {
		path   string
		reason bridge.PathReason
	}{
		"missing": {"none", bridge.ReasonMissing}, "below nothing": {"none/none", bridge.ReasonMissing}, "dangling": {"dangling", bridge.ReasonMissing},
		"unreadable file": {"secret", bridge.ReasonUnreadable}, "closed directory inside": {"closed", bridge.ReasonUnreadable},
		"closed directory": {"closed/inner", bridge.ReasonUnreadable},
	} {
		for _, exclude := range []func(string) bool{nil, func(string) bool { return false }} {
			var refused *bridge.PathError
			if _, err := s.Archive(t.Context(), bridge.ArchiveRequest{Path: test.path, Exclude: exclude}, &bytes.Buffer{}); !errors.As(err, &refused) || refused.Reason != test.reason {
				t.Errorf("%s: got %v, want reason %q", name, err, test.reason)
			}
		}
	}
	expectNothingStaged(t, s)
}
