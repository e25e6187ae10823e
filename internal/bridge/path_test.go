package bridge

import (
	"path"
	"strings"
	"testing"
)

func TestCleanPath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a":                                   "/workspace/a",
		"a/b":                                 "/workspace/a/b",
		"/workspace/a":                        "/workspace/a",
		"./a//b/../c":                         "/workspace/a/c",
		"/workspace/../workspace/a":           "/workspace/a",
		"..a":                                 "/workspace/..a",
		"-x":                                  "/workspace/-x",
		"a b\n#?%41":                          "/workspace/a b\n#?%41",
		strings.Repeat("n", 255):              "/workspace/" + strings.Repeat("n", 255),
		"":                                    "",
		".":                                   "",
		"/":                                   "",
		"/workspace":                          "",
		"/workspace/":                         "",
		"a/":                                  "",
		"..":                                  "",
		"../workspace":                        "",
		"../x":                                "",
		"/etc/passwd":                         "",
		"/workspacex/a":                       "",
		"/workspace/../etc/passwd":            "",
		"a/../../etc":                         "",
		"a\x00b":                              "",
		"\xff":                                "",
		strings.Repeat("n", 256):              "",
		strings.Repeat("nn/", 1400) + "x":     "",
		".cloudflaresandbox/x":                "",
		"/workspace/.cloudflaresandbox":       "",
		"/workspace/x/../.cloudflaresandbox/": "",
	} {
		got, err := CleanPath(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%.80q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, seed := range []string{"a", "/workspace/a", "../x", "a/../..", "/workspace/..", "\x00", "a//b/./c", ".cloudflaresandbox/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean, err := CleanPath(p)
		if err != nil {
			return
		}
		if !strings.HasPrefix(clean, "/workspace/") || path.Clean(clean) != clean || strings.ContainsRune(clean, 0) {
			t.Errorf("%q became %q", p, clean)
		}
		if again, err := CleanPath(clean); err != nil || again != clean {
			t.Errorf("%q became %q and then %q, %v", p, clean, again, err)
		}
	})
}

func TestCleanDirectory(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": "/workspace/a", "/": "/", "/tmp/": "/tmp", ".": "/workspace", "..": "/", "/workspace/a/..": "/workspace", "": "", "a\x00": "",
	} {
		if got, err := CleanDirectory(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]uint32{"644": 0o644, "0644": 0o644, "4755": 0o4755, "000": 0, "7777": 0o7777} {
		if got, err := ParseMode(in); err != nil || got != want {
			t.Errorf("%q: got %o, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "64", "00644", "0888", "rw-", "-644", "+644", "0o64", " 644", "6_4"} {
		if got, err := ParseMode(in); err == nil {
			t.Errorf("%q: got %o", in, got)
		}
	}
	if got := FormatMode(0o4755); got != "4755" {
		t.Errorf("got %s", got)
	}
	if got := FormatMode(0o44); got != "0044" {
		t.Errorf("got %s", got)
	}
}

func TestValidateEnvironmentName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"A", "_", "a1", "PATH", "http_proxy"} {
		if err := ValidateEnvironmentName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "1A", "A-B", "A.B", "A B", "A=B", "É", "A\n", "UID", "SHELLOPTS"} {
		if ValidateEnvironmentName(name) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestValidateSandboxID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "abc234567", strings.Repeat("z", 128)} {
		if err := ValidateSandboxID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", "A", "a1", "a8", "a-b", "a/b", "..", "é", strings.Repeat("z", 129), "a\n"} {
		if ValidateSandboxID(id) == nil {
			t.Errorf("%q is accepted", id)
		}
	}
}
