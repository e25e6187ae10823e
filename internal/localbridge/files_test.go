package localbridge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const fileRoute = "/v1/sandbox/a/file/workspace"

// TestNamesOnDisk: the raw target of a PUT and what it creates (OBSERVED.md, a2).
func TestNamesOnDisk(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	long := strings.Repeat("n", 255)
	for _, row := range []struct{ target, want string }{
		{"/t/a%FFb%20c", "t/a%FFb c"},
		{"/t/caf\xc3\xa9", "t/café"},
		{`/t/a\b`, `t/a\b`},
		{"/t//dbl", "t/dbl"},
		{"/t/trail/", "t/trail"},
		{"/t/./dot", "t/dot"},
		{"/t/x/../up", "t/up"},
		{"/t/x/%2e%2e/up2", "t/up2"},
		{"/t/%2e%2e/esc", "esc"},
		{"/t/..%2fesc2", "t/..%2fesc2"},
		{"/t/a%2Fb", "t/a%2Fb"},
		{"/t/a#frag", "t/a"},
		{"/t/a?q=1", "t/a"},
		{"/%20", " "},
		{"/t/a+b%20c", "t/a+b c"},
		{`/t/a"b`, `t/a"b`},
		{"/t/a|b", "t/a|b"},
		{"/t/x;y", "t/x;y"},
		{"/t/x%3By%20z", "t/x%3By z"},
		{"/t/tab%09", "t/tab\t"},
		{"/t/" + long, "t/" + long},
	} {
		c.sh("a", "shopt -s dotglob; rm -rf /workspace/*")
		wantAnswer(t, row.target, c.do("PUT", fileRoute+row.target, "DATA"), 200, `{"ok":true}`)
		if got := c.exec("a", "find", ".", "-type", "f", "-printf", "%P\\0").stdout; got != row.want+"\x00" {
			t.Errorf("%s: on disk %q, want %q", row.target, got, row.want)
		}
		wantAnswer(t, row.target, c.do("GET", fileRoute+row.target, ""), 200, "DATA")
	}
}

func TestPathsThatFileRoutesRefuse(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	outside := failure("path must resolve to a location within /workspace", codeInvalid)
	empty := failure("file path must not be empty", codeInvalid)
	for _, row := range []struct {
		path   string
		status int
		body   string
	}{
		{"/file", 400, empty},
		{"/file/", 400, empty},
		{"/file//", 403, outside},
		{"/file//etc/passwd", 403, outside},
		{"/file/etc/passwd", 403, outside},
		{"/file/%2Fetc%2Fpasswd", 403, outside},
		{"/file/workspace%2Ft", 403, outside},
		{"/file/workspacex/a", 403, outside},
		{"/file/workspace/../tmp/a", 403, outside},
		{"/file/workspace/%2e%2e/etc/x", 403, outside},
	} {
		for _, method := range []string{"GET", "PUT"} {
			wantAnswer(t, method+" "+row.path, c.do(method, "/v1/sandbox/a"+row.path, ""), row.status, row.body)
		}
	}
}

// TestPutFailures: OBSERVED.md, a2 and b.
func TestPutFailures(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.sh("a", "mkdir -p d ro; echo x >f; echo old >r.txt; chmod 444 r.txt; chmod 555 ro; "+
		"ln -s /etc/hosts hostlink; ln -s /root/x rootlink; ln -s /tmp/nodir/x dang")
	long := strings.Repeat("n", 256)
	for _, row := range []struct{ name, want string }{
		{"d", "EISDIR: illegal operation on a directory"},
		{"f/x", "ENOTDIR: not a directory"},
		{"ro/x", "EACCES: permission denied"},
		{"r.txt", "EACCES: permission denied"},
		{"hostlink", "EACCES: permission denied"},
		{"rootlink", "EACCES: permission denied"},
		{"dang", "ENOENT: no such file or directory"},
		{long, "ENAMETOOLONG: name too long"},
	} {
		want := fmt.Sprintf("write failed: FileSystemError: Failed to write file '/workspace/%[1]s': %[2]s, open '/workspace/%[1]s'", row.name, row.want)
		wantAnswer(t, row.name, c.do("PUT", fileRoute+"/"+row.name, "x"), 502, failure(want, codeArchiveWrite))
	}
	wantAnswer(t, "NUL", c.do("PUT", fileRoute+"/t/a%00b", "x"), 502,
		failure("write failed: ValidationFailedError: Invalid path format for '/workspace/t/a", codeArchiveWrite))
	if got := c.do("PUT", fileRoute+"/"+strings.Repeat("d/", 2100), "x"); !strings.Contains(got.body, "Invalid path format for") {
		t.Error("long path:", got)
	}
	wantAnswer(t, "the workspace", c.do("PUT", fileRoute, "x"), 502, failure("write failed: FileSystemError: Failed to write file "+
		"'/workspace': EISDIR: illegal operation on a directory, open '/workspace'", codeArchiveWrite))
}

// TestPutWritesInPlace: parents, mode and inode, links (OBSERVED.md, b).
func TestPutWritesInPlace(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	put := func(name, body string) {
		t.Helper()
		wantAnswer(t, name, c.do("PUT", fileRoute+"/"+name, body), 200, `{"ok":true}`)
	}
	put("new/deep/f.txt", "hello")
	got := c.sh("a", "stat -c '%A %U:%G' new new/deep new/deep/f.txt")
	if got.stdout != "drwxr-xr-x sandbox:sandbox\ndrwxr-xr-x sandbox:sandbox\n-rw-r--r-- sandbox:sandbox\n" {
		t.Error(got)
	}
	before := c.sh("a", "printf longer-old-content >m.sh; chmod 751 m.sh; ln m.sh m.hard; stat -c '%a %i %h' m.sh")
	put("m.sh", "short")
	if after := c.sh("a", "stat -c '%a %i %h' m.sh; cat m.hard"); after.stdout != before.stdout+"short" {
		t.Error(after, "before:", before)
	}
	c.sh("a", "ln -s /tmp/out.txt outlink")
	put("outlink", "hello")
	if got := c.sh("a", "cat /tmp/out.txt"); got.stdout != "hello" {
		t.Error(got)
	}
	put("m.sh", "")
	if got := c.sh("a", "stat -c '%a %s' m.sh"); got.stdout != "751 0\n" {
		t.Error(got)
	}
}

// TestAFullFileSystem: a PUT fails and leaves what it had written.
func TestAFullFileSystem(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	if got := c.do("PUT", "/v1/sandbox/a/file/workspace/full", "x"); got.status != 200 {
		t.Fatal(got)
	}
	c.sh("a", "rm full; ln -s /dev/full full")
	wantAnswer(t, "full", c.do("PUT", fileRoute+"/full", "x"), 502, failure("write failed: FileSystemError: "+
		"Failed to write file '/workspace/full': ENOSPC: no space left on device, write", codeArchiveWrite))
}

// TestUploadLimits: OBSERVED.md, b2 and b3.
func TestUploadLimits(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	zeros := strings.Repeat("\x00", 32<<20+1)
	interruption := failure("write failed: "+interrupted("files.writeFile"), codeArchiveWrite)
	tooLarge := func(size int) string {
		return failure("write failed: "+tooLargeForRPC(size), codeArchiveWrite)
	}
	for _, row := range []struct {
		size, status int
		body         string
	}{
		{12_582_828, 200, `{"ok":true}`},
		{12_582_829, 502, interruption},
		{25_165_761, 502, interruption},
		{25_165_762, 502, tooLarge(33_554_434)},
		{25_165_824, 502, tooLarge(33_554_514)},
		{32 << 20, 502, tooLarge(44_739_326)},
		{32<<20 + 1, 413, failure("payload too large: 33554433 bytes exceeds the 33554432-byte limit", codeTooLarge)},
	} {
		wantAnswer(t, fmt.Sprint(row.size), c.do("PUT", fileRoute+"/big3", zeros[:row.size]), row.status, row.body)
	}
	if got := c.exec("a", "stat", "-c", "%s", "big3"); got.stdout != "12582828\n" {
		t.Error(got)
	}
}

func TestAnUploadThatIsCutOffWritesNothing(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.do("PUT", fileRoute+"/f", "old")
	request, err := http.NewRequestWithContext(t.Context(), "PUT", c.bridge.URL()+fileRoute+"/f", brokenReader{})
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = 100
	request.Header.Set("Authorization", "Bearer "+testKey)
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Error(response.Status)
	}
	wantAnswer(t, "f", c.do("GET", fileRoute+"/f", ""), 200, "old")
}

// brokenReader gives some bytes and then fails.
type brokenReader struct{}

func (brokenReader) Read(p []byte) (int, error) { return copy(p, "some"), http.ErrBodyNotAllowed }

// TestReads: what GET makes of content and names (OBSERVED.md, c).
func TestReads(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const bad, decoded = "caf\xe9 \xff\xfe ok\n", "caf\ufffd \ufffd\ufffd ok\n"
	for _, row := range []struct{ name, sent, want string }{
		{"empty", "", ""},
		{"empty.json", "", ""},
		{"bad", bad, decoded},
		{"bad.txt", bad, decoded},
		{"bad.bin", bad, decoded},
		{"bad.go", bad, decoded},
		{"bad.py", bad, decoded},
		{"bad.gz", bad, bad},
		{"bad.png", bad, bad},
		{"bad.tar", bad, bad},
		{"bad.sql", bad, bad},
		{"bad.tex", bad, bad},
		{"link.GZ", bad, decoded},
		{".gz", bad, decoded},
		{"bad.pem", bad, bad},
		{"trailing", "caf\xe9\x00", "caf\ufffd\x00"},
		{"pdf", "%PDF-1.4\xff", "%PDF-1.4\xff"},
		{"one", "\xe9", "\xe9"},
		{"bom", "\xef\xbb\xbfa\n", "a\n"},
		{"bom.csv", "\xef\xbb\xbfa,b\n", "a,b\n"},
		{"bom.gz", "\xef\xbb\xbfa", "\xef\xbb\xbfa"},
		{"crlf.txt", "a\r\nb\r\nc", "a\r\nb\r\nc"},
		{"nul.txt", "a\x00b\x00c", "a\x00b\x00c"},
		{"utf16", "\xff\xfeh\x00", "\ufffd\ufffdh\x00"},
		{"binary", "\x00\x01\xff", "\x00\x01\xff"},
		{"split.txt", strings.Repeat("x", 65535) + "日本", strings.Repeat("x", 65535) + "日本"},
	} {
		c.do("PUT", fileRoute+"/"+row.name, row.sent)
		got := c.do("GET", fileRoute+"/"+row.name, "")
		wantAnswer(t, row.name, got, 200, row.want)
		if got.header.Get("Content-Type") != "application/octet-stream" || got.header.Get("Content-Length") != "" {
			t.Errorf("%s: headers %v", row.name, got.header)
		}
	}
	c.sh("a", "ln -s bad link.gz")
	wantAnswer(t, "a link named .gz", c.do("GET", fileRoute+"/link.gz", ""), 200, bad)
	wantAnswer(t, "HEAD", c.do("HEAD", fileRoute+"/bad", ""), 200, "")
}

// TestMissingFilesAreNever404, in the manner of either runtime.
func TestMissingFilesAreNever404(t *testing.T) {
	t.Parallel()
	newer, older := startBridge(t, Config{}), startBridge(t, Config{CleanCuts: true})
	for _, c := range []*client{newer, older} {
		c.sh("a", "mkdir d nox; touch nox/f noperm; chmod 0 noperm nox; ln -s nowhere dangling; ln -s loop loop; ln -s /dev/null nulllink")
	}
	for _, name := range []string{"none", "none.txt", "d", "dangling", "loop", "nox/f", "nulllink"} {
		if got := newer.do("GET", fileRoute+"/"+name, ""); got.status != 0 {
			t.Errorf("%s: %s, want a closed connection", name, got)
		}
		wantAnswer(t, name, older.do("GET", fileRoute+"/"+name, ""), 200, "")
		wantAnswer(t, "HEAD "+name, newer.do("HEAD", fileRoute+"/"+name, ""), 200, "")
	}
	wantAnswer(t, "unreadable", newer.do("GET", fileRoute+"/noperm", ""), 502, failure("read failed: RPCTransportError: Failed to create "+
		"file stream: withExecution callback failed for sessionless execution: EACCES: permission denied, open '/workspace/noperm'", codeExec))
}
