package localbridge

import (
	"archive/tar"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestArchives: OBSERVED.md, k.
func TestArchives(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const persist, hydrate = "/v1/sandbox/a/persist", "/v1/sandbox/a/hydrate"
	c.sh("a", "mkdir -p d/e node_modules; echo 1 >d/e/f.log; echo 2 >'a b'; ln -s d l; touch node_modules/x")
	archive := c.do("POST", persist, "")
	if got := members(t, archive.body); !slices.Equal(got, []string{"./", "./a b", "./d/", "./d/e/", "./d/e/f.log", "./l", "./node_modules/", "./node_modules/x"}) {
		t.Errorf("%q", got)
	}
	if got := members(t, c.do("POST", persist+"?excludes=node_modules,*.log,", "").body); !slices.Equal(got, []string{"./", "./a b", "./d/", "./d/e/", "./l"}) {
		t.Errorf("%q", got)
	}
	wantAnswer(t, "..", c.do("POST", persist+"?excludes=a..b", ""), 400, failure(`exclude paths must not contain ".."`, codeInvalid))
	if got := c.sh("a", "ls /tmp"); got.stdout != "" {
		t.Error("left over:", got)
	}
	c.bridge.Kill("a")
	wantAnswer(t, "hydrate", c.do("POST", hydrate, archive.body), 200, `{"ok":true}`)
	if got := c.sh("a", "cat d/e/f.log 'a b'; readlink l"); got.stdout != "1\n2\nd\n" {
		t.Error(got)
	}
	wantAnswer(t, "empty", c.do("POST", hydrate, ""), 400, failure("Empty tar payload", codeInvalid))
	wantAnswer(t, "garbage", c.do("POST", hydrate, "this is not a tar archive at all"), 502, failure("tar extract failed (exit 2): "+
		"tar: This does not look like a tar archive\ntar: Exiting with failure status due to previous errors\n", codeArchiveWrite))
	wantAnswer(t, "zeros", c.do("POST", hydrate, strings.Repeat("\x00", 10240)), 200, `{"ok":true}`)
	wantAnswer(t, "12.99 MB", c.do("POST", hydrate, strings.Repeat("\x00", 12_994_560)), 502,
		failure("hydrate failed: "+interrupted("files.writeFile"), codeArchiveWrite))
	wantAnswer(t, "34 MB", c.do("POST", hydrate, strings.Repeat("\x00", 33_996_800)), 400,
		failure("tar payload too large: 33996800 bytes exceeds the 33554432-byte limit", codeInvalid))
	c.sh("a", "touch noperm; chmod 0 noperm")
	wantAnswer(t, "unreadable", c.do("POST", persist, ""), 502, failure("tar failed (exit 2): tar: ./noperm: Cannot open: Permission denied\n"+
		"tar: Exiting with failure status due to previous errors\n", codeArchiveRead))
}

func members(t *testing.T, archive string) []string {
	t.Helper()
	var names []string
	reader := tar.NewReader(bytes.NewReader([]byte(archive)))
	for {
		header, err := reader.Next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			slices.Sort(names)
			return names
		}
		names = append(names, header.Name)
	}
}
