package bridge_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// localTree is a tree as it would be on this machine: content by path.
type localTree struct {
	bridge.Tree
	content map[string]string
}

func newTree() *localTree { return &localTree{content: map[string]string{}} }

// parents adds the directories above a path.
func (l *localTree) parents(path string) {
	for i, c := range path {
		if c == '/' && !slices.ContainsFunc(l.Tree, func(e bridge.TreeEntry) bool { return e.Path == path[:i] }) {
			l.add(bridge.TreeEntry{Path: path[:i], Kind: bridge.KindDirectory, Mode: 0o755})
		}
	}
}

func (l *localTree) add(e bridge.TreeEntry) *localTree {
	l.Tree = append(slices.DeleteFunc(l.Tree, func(old bridge.TreeEntry) bool { return old.Path == e.Path }), e)
	l.Sort()
	return l
}

func (l *localTree) directory(path string, mode uint32) *localTree {
	l.parents(path)
	return l.add(bridge.TreeEntry{Path: path, Kind: bridge.KindDirectory, Mode: mode})
}

func (l *localTree) file(path, content string, mode uint32) *localTree {
	l.parents(path)
	l.content[path] = content
	return l.add(bridge.TreeEntry{Path: path, Kind: bridge.KindFile, Mode: mode, Size: int64(len(content)), SHA256: sum(content)})
}

func (l *localTree) link(path, target string) *localTree {
	l.parents(path)
	return l.add(bridge.TreeEntry{Path: path, Kind: bridge.KindSymlink, Target: target})
}

func (l *localTree) open(path string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(l.content[path])), nil
}

// upload puts a tree where another was, and checks that nothing else is left and that it is found again.
func upload(t *testing.T, s *bridge.Sandbox, at string, tree *localTree, was bridge.Tree) {
	t.Helper()
	u := bridge.TreeUpload{Path: at, Tree: tree.Tree, Was: was, Open: tree.open}
	if was != nil {
		var err error
		if u.Seen, err = s.InspectTree(t.Context(), at, was); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.UploadTree(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	expectTree(t, s, at, tree.Tree, tree.Tree)
	expectNothingStaged(t, s)
}

func expectTree(t *testing.T, s *bridge.Sandbox, at string, asked, want bridge.Tree) {
	t.Helper()
	info, err := s.InspectTree(t.Context(), at, asked)
	if err != nil {
		t.Fatal(err)
	}
	if info.Root != bridge.KindDirectory || !slices.Equal(info.Tree, want) {
		t.Fatalf("found %s with\n%v\nwant\n%v", info.Root, info.Tree, want)
	}
}

func expectNothingStaged(t *testing.T, s *bridge.Sandbox) {
	t.Helper()
	if left := inside(t, s, `find /workspace -name '.cloudflaresandbox*' | head; ls /tmp/.cloudflaresandbox/trees/*/ | grep new- || true`); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestTreeArrivesAsItIs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	tree := newTree().directory("empty", 0o750).directory("deep/er/empty", 0o700).link("dangling", "no/where").link("deep/up", "../a b").
		link("absolute", "/etc/passwd").link("dir link", "deep").file("deep/er/file", "x", 0o600).file("run.sh", "#!/bin/sh\n", 0o755).
		file("none", "", 0o644).file("read only", "r", 0o444).file("secret", "s", 0o000).file("write only", "w", 0o200).
		file("-top/sub/file", "-", 0o644).file("locked/inner/file", "l", 0o400).directory("locked/inner", 0o555).directory("locked", 0o511)
	for _, name := range []string{
		"a b", `"q"`, "it's", "#", "?", "%41", "a\nb", "\n", "🎉", "-dash", "--", "-", "~", "$HOME", "*", `back\slash`, `\n`, "日本", "\x01", "..a", "[", "]", "@",
		"latin1-\xe9", "e\u0301", "\xff\xfe", strings.Repeat("n", 255), strings.Repeat("d/", 60) + "end", "trailing ", " ", "a]b", "x.gz", "-C/x",
		strings.Repeat(strings.Repeat("p", 200)+"/", 10) + "long",
	} {
		tree.file("names/"+name, name, 0o644)
		tree.link("links/"+name, name)
	}
	for _, at := range []string{"/workspace/app", "/workspace", "a/b c/-d"} {
		upload(t, s, at, tree, nil)
	}
	if got := inside(t, s, "cat app/deep/er/file; stat -c '%a %n' app app/empty app/locked app/locked/inner app/run.sh app/secret; cat app/names/-dash"); got !=
		"x755 app\n750 app/empty\n511 app/locked\n555 app/locked/inner\n755 app/run.sh\n0 app/secret\n-dash" {
		t.Errorf("got %q", got)
	}
	// In what is locked, or closed by now, files can still be replaced, and taken away.
	inside(t, s, "chmod 0 app/deep/er app/deep app/locked/inner app")
	upload(t, s, "/workspace/app", tree, nil)
	changed := newTree().file("locked/inner/other", "new", 0o644).directory("locked/inner", 0o555).directory("locked", 0o511)
	upload(t, s, "/workspace/app", changed, tree.Tree)
	if got := inside(t, s, "cd app; find . | sort"); got != ".\n./locked\n./locked/inner\n./locked/inner/other\n" {
		t.Errorf("left: %s", got)
	}
	for at, was := range map[string]bridge.Tree{"/workspace/app": changed.Tree, "/workspace": tree.Tree, "a/b c/-d": tree.Tree} {
		if err := s.RemoveTree(t.Context(), at, was); err != nil {
			t.Error(err)
		}
	}
	if got := inside(t, s, "find . -mindepth 1"); got != "./a\n./a/b c\n" {
		t.Errorf("left: %s", got)
	}
	if got := inside(t, s, "ls -A /tmp/.cloudflaresandbox/trees"); got != "" {
		t.Errorf("remembered: %s", got)
	}
}

func TestTreeSendsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	random := strings.Repeat("0123456789abcdef", 1<<16)
	was := newTree().file("a/large", random, 0o644).file("a/mode", "m", 0o644).file("changed", "1", 0o644).link("link", "1").directory("d", 0o755)
	upload(t, s, "app", was, nil)
	inside(t, s, "touch -d 2001-01-01 app/a/large app/a/mode; mkdir app/mine; echo mine >app/mine/file")
	upload(t, s, "app", newTree().file("a/large", random, 0o644).file("a/mode", "m", 0o600).file("changed", "2", 0o644).link("link", "2").directory("d", 0o700), was.Tree)
	if got := inside(t, s, "cd app; stat -c '%Y %a' a/large a/mode; cat changed mine/file; readlink link; stat -c %a d"); got !=
		"978307200 644\n978307200 600\n2mine\n2\n700\n" {
		t.Errorf("got %q", got)
	}
}

func TestTreeChangesKinds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	file := newTree().file("x", "file", 0o644)
	directory := newTree().file("x/y/z", "directory", 0o644).directory("x/empty", 0o700)
	link := newTree().link("x", "elsewhere")
	was := newTree()
	for i, tree := range []*localTree{file, directory, link, directory, file, link, file} {
		upload(t, s, "app", tree, was.Tree)
		if got := inside(t, s, "find app -mindepth 1 -maxdepth 1 -name x -printf %y"); got != string("fdldflf"[i]) {
			t.Errorf("step %d: x is %q", i, got)
		}
		was = tree
	}
}

func TestTreeReplacesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, `
		mkdir -p /tmp/outside app; echo kept >/tmp/outside/file
		cd app; ln -s /tmp/outside dir; ln -s /tmp/outside/file link; mkdir -p hollow/er; mkfifo pipe; echo old >was-file; ln -s nowhere dangling`)
	tree := newTree().file("dir/file", "new", 0o644).file("link", "new", 0o644).file("hollow", "new", 0o644).file("pipe", "new", 0o644).
		file("was-file/new", "new", 0o644).file("dangling/new", "new", 0o644)
	upload(t, s, "app", tree, nil)
	if got := inside(t, s, "cat /tmp/outside/file; ls -A /tmp/outside"); got != "kept\nfile\n" {
		t.Errorf("outside: %q", got)
	}
	// The directory itself may be a link or a file as well.
	inside(t, s, "ln -s /tmp/outside linked; echo x >file")
	upload(t, s, "linked", tree, nil)
	upload(t, s, "file", tree, nil)
	if got := inside(t, s, "cat /tmp/outside/file; ls -A /tmp/outside"); got != "kept\nfile\n" {
		t.Errorf("outside: %q", got)
	}
}

func TestTreeLeavesAlone(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, "mkdir -p app/theirs/empty app/both; echo mine >app/both/mine")
	was := newTree().file("ours/file", "x", 0o644).file("both/ours", "x", 0o644).directory("theirs", 0o755).file("turned", "x", 0o644).
		file("turned-too", "x", 0o644).file("behind/file", "x", 0o644).link("link", "x")
	upload(t, s, "app", was, nil)
	inside(t, s, `
		cd app; rm turned turned-too; mkdir turned; echo mine >turned/mine; ln -s both/mine turned-too
		mkdir -p /tmp/outside; mv behind/file /tmp/outside; rmdir behind; ln -s /tmp/outside behind; echo mine >ours/mine`)
	info, err := s.InspectTree(t.Context(), "app", was.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range info.Tree {
		if e.Path == "behind/file" {
			t.Errorf("seen through a link: %v", e)
		}
	}
	if err := s.RemoveTree(t.Context(), "app", was.Tree); err != nil {
		t.Fatal(err)
	}
	// A link in the place of a file is taken away; it was asked for in that place. What it leads to stays.
	if got := inside(t, s, "cd app; find . -mindepth 1 | sort; ls /tmp/outside"); got !=
		"./behind\n./both\n./both/mine\n./ours\n./ours/mine\n./theirs\n./theirs/empty\n./turned\n./turned/mine\nfile\n" {
		t.Errorf("left: %s", got)
	}
	expectNothingStaged(t, s)
}

func TestTreeRefusesADirectoryWithOtherFilesInItAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	was := newTree().file("x/ours", "x", 0o644).file("gone", "x", 0o644)
	upload(t, s, "app", was, nil)
	inside(t, s, "echo mine >app/x/mine")
	tree := newTree().file("x", "new", 0o644).file("new", "new", 0o644)
	err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "app", Tree: tree.Tree, Was: was.Tree, Open: tree.open})
	var refused *bridge.PathError
	if !errors.As(err, &refused) || refused.Reason != bridge.ReasonIsDirectory || refused.Path != "/workspace/app/x" {
		t.Errorf("got %v", err)
	}
	if got := inside(t, s, "cd app; find . -type f | sort"); got != "./gone\n./x/mine\n./x/ours\n" {
		t.Errorf("now there: %s", got)
	}
	expectNothingStaged(t, s)
}

func TestTreeThatIsRefusedHalfWaySaysSo(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	// A read-only mount refuses even the owner.
	inside(t, s, "mkdir -p app; echo x >file")
	tree := newTree().file("x", "new", 0o644)
	err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "file/below", Tree: tree.Tree, Open: tree.open})
	var refused *bridge.PathError
	if !errors.As(err, &refused) || refused.Reason != bridge.ReasonRefused || !strings.Contains(refused.Detail, "file") {
		t.Errorf("got %v", err)
	}
	if err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "/workspace/../etc", Tree: tree.Tree, Open: tree.open}); err == nil {
		t.Error("outside of /workspace")
	}
	expectNothingStaged(t, s)
}

func TestTreeWhoseContentHasChangedIsNotSent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	tree := newTree().file("a", "a", 0o644).file("b", "b", 0o644)
	for _, content := range []string{"", "c", "bb"} {
		tree.content["b"] = content
		err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "app", Tree: tree.Tree, Open: tree.open})
		if !errors.Is(err, bridge.ErrContentChanged) || !strings.Contains(fmt.Sprint(err), `"b"`) {
			t.Errorf("%q: got %v", content, err)
		}
	}
	if got := inside(t, s, "ls -A"); got != "" {
		t.Errorf("in /workspace: %s", got)
	}
}

func TestTreeIsLookedAtInOneRequest(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	tree := newTree()
	for i := range 3000 {
		tree.Tree = append(tree.Tree, bridge.TreeEntry{
			Path: fmt.Sprintf("a rather long name, so that they do not fit into a command %04d", i), Kind: bridge.KindFile, Mode: 0o644, Size: 1, SHA256: sum("x"),
		})
		tree.content[tree.Tree[i].Path] = "x"
	}
	expect := func(what string, execs, puts int) {
		t.Helper()
		if proxy.count("POST exec") != execs || proxy.count("PUT file") != puts {
			t.Errorf("%s: %d of exec and %d of PUT, want %d and %d", what, proxy.count("POST exec"), proxy.count("PUT file"), execs, puts)
		}
	}
	if err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "app", Tree: tree.Tree, Open: tree.open}); err != nil {
		t.Fatal(err)
	}
	expect("upload", 2, 1)
	expectTree(t, s, "app", tree.Tree, tree.Tree)
	expect("look", 3, 1)
	inside(t, s, "rm -r /tmp/.cloudflaresandbox/trees")
	expectTree(t, s, "app", tree.Tree, tree.Tree)
	expect("look without a list", 6, 2)
	inside(t, s, "for l in /tmp/.cloudflaresandbox/trees/*/*; do echo forged >$l; done")
	expectTree(t, s, "app", tree.Tree, tree.Tree)
	expect("look with a forged list", 9, 3)
	expectTree(t, s, "app", tree.Tree, tree.Tree)
	expect("look again", 10, 3)
	expectNothingStaged(t, s)
}

func TestTreeSurvivesBrokenConnections(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	was := newTree()
	for i, plan := range [][]cut{
		{{before: true}}, {{after: 1}}, {{after: 60}, {after: 60}}, {{after: 90, clean: true}}, {{}, {before: true}, {after: 100}},
	} {
		tree := newTree().file("file", fmt.Sprint(i), 0o644).file("old/"+fmt.Sprint(i), "x", 0o600)
		proxy.then(plan...)
		upload(t, s, "app", tree, was.Tree)
		was = tree
	}
	if err := s.RemoveTree(t.Context(), "app", was.Tree); err != nil {
		t.Fatal(err)
	}
	if got := inside(t, s, "ls -A"); got != "" {
		t.Errorf("in /workspace: %s", got)
	}
}

func TestTreeRefusesAReplacedContainer(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	tree := newTree().file("file", "x", 0o644)
	upload(t, s, "app", tree, nil)
	seen, err := s.InspectTree(t.Context(), "app", tree.Tree)
	if err != nil {
		t.Fatal(err)
	}
	on.local.Kill(s.ID())
	changed := newTree().file("file", "x", 0o644).file("other", "x", 0o644)
	err = s.UploadTree(t.Context(), bridge.TreeUpload{Path: "app", Tree: changed.Tree, Was: tree.Tree, Seen: seen, Open: changed.open})
	var recycled *bridge.RecycledError
	if !errors.As(err, &recycled) {
		t.Errorf("got %v", err)
	}
	if got := inside(t, handle(t, on.client(t), s.ID()), "ls -A"); got != "" {
		t.Errorf("in the new container: %s", got)
	}
	info, err := s.InspectTree(t.Context(), "app", tree.Tree)
	if err != nil || info.Root != bridge.KindMissing {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestTreeEncodingIsReadBack(t *testing.T) {
	t.Parallel()
	tree := newTree().file("a", "x", 0o4755).directory("b", 0o700).link("b/c", "x\ny z").file("b/\xff\n", "", 0).Tree
	tree = append(tree, bridge.TreeEntry{Path: "z", Kind: bridge.KindOther, Mode: 0o600}, bridge.TreeEntry{Path: "zz", Kind: bridge.KindFile, Size: 3})
	decoded, err := bridge.DecodeTree(tree.Encode())
	if err != nil || !slices.Equal(decoded, tree) {
		t.Errorf("got %v, %v", decoded, err)
	}
	for _, bad := range []string{"x", "\x00", "d 0755\x00", "q 1\x00x\x00", "f 0644 x\x00p\x00", "d 9\x00p\x00"} {
		if decoded, err := bridge.DecodeTree([]byte(bad)); err == nil {
			t.Errorf("%q: got %v", bad, decoded)
		}
	}
}

func TestTreeThatCannotBeIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	file := func(path string) bridge.TreeEntry {
		return bridge.TreeEntry{Path: path, Kind: bridge.KindFile, SHA256: sum("")}
	}
	for name, tree := range map[string]bridge.Tree{
		"absolute": {file("/etc/x")}, "up": {file("../x")}, "inner up": {file("a/../../x")}, "empty": {file("")}, "dot": {file(".")},
		"NUL": {file("a\x00b")}, "unsorted": {file("b"), file("a")}, "twice": {file("a"), file("a")}, "no parent": {file("a/b")},
		"below a file": {file("a"), file("a/b")}, "long name": {file(strings.Repeat("n", 256))}, "link to nothing": {{Path: "l", Kind: bridge.KindSymlink}},
		"special": {{Path: "p", Kind: bridge.KindOther}}, "staging": {file(".cloudflaresandbox")}, "slash": {file("a/")},
	} {
		if err := tree.Validate("/workspace"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestLargeTreeGoesInParts(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	tree := newTree()
	content := make([]byte, 3<<20)
	for i := range 3 {
		_, _ = rand.Read(content)
		tree.file(fmt.Sprint(i), string(content), 0o644)
	}
	upload(t, s, "app", tree, nil)
}
