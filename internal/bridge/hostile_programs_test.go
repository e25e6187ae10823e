package bridge_test

import (
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// hostilePath is that of an image in which the sandbox's user may write to the first directory.
const hostilePath = "/home/sandbox/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// plantPrograms puts a program there for each that the system has, but those that the test itself lets run, and tells of
// every call in /workspace/called.
const plantPrograms = `
PATH=/usr/bin:/bin
mkdir ~/bin
cd ~/bin || exit
for program in /usr/bin/* /usr/sbin/* /bin/* /sbin/*; do
	printf '#!/bin/sh\necho "$0" >>/workspace/called\nexit 1\n' >"${program##*/}"
done
chmod 755 ./*
rm true python3`

// tellTale is what a shell reads at its start where BASH_ENV names it. It speaks in our scripts alone: the bridge's own
// shell, which starts them, reads it rightly.
const tellTale = `
mapfile -d '' -t argv </proc/$$/cmdline
[[ ${argv[3]-} != cloudflaresandbox ]] || echo sourced >>/workspace/called
`

func TestPlantedProgramsAreNotCalled(t *testing.T) {
	t.Parallel()
	on := limited(t, localbridge.Config{Environment: []string{
		"PATH=" + hostilePath,
		"BASH_ENV=/workspace/rc",
		"ENV=/workspace/rc",
		// As bash exports a function.
		"BASH_FUNC_sha256sum%%=() { echo function >>/workspace/called; command sha256sum \"$@\"; }",
		"BASH_FUNC_stat%%=() { echo function >>/workspace/called; command stat \"$@\"; }",
	}})
	s := newSandbox(t, on.client(t))
	write(t, s, "rc", tellTale, 0o644)
	past(t, on, s, plantPrograms)
	if got := past(t, on, s, "sha256sum; ls; printf '%s' \"$(</workspace/called)\"; : >/workspace/called"); got != "function\n/home/sandbox/bin/sha256sum\n/home/sandbox/bin/ls" {
		t.Fatalf("who calls a program by its name gets %q", got)
	}

	write(t, s, "file", "hello", 0o600)
	infos, err := s.Inspect(t.Context(), "file")
	if err != nil || infos[0].SHA256 != sum("hello") || infos[0].Mode != 0o600 {
		t.Errorf("got %+v, %v", infos, err)
	}
	// What comes in parts, and what is read by a link.
	large := strings.Repeat("x", 9<<20)
	write(t, s, "large", large, 0o644)
	var got strings.Builder
	if info, err := s.Read(t.Context(), "large", &got); err != nil || info.SHA256 != sum(large) || got.String() != large {
		t.Errorf("got %+v, %v", info, err)
	}
	tree := newTree().directory("d", 0o755).file("d/x", "x", 0o644)
	if err := s.UploadTree(t.Context(), bridge.TreeUpload{Path: "a", Tree: tree.Tree, Open: tree.open}); err != nil {
		t.Error(err)
	}
	for what, ask := range asked {
		past(t, on, s, "PATH=/usr/bin:/bin\n"+restore)
		if _, err := ask(inTime(t), s); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := past(t, on, s, "printf '%s' \"$(</workspace/called)\""); got != "" {
		t.Errorf("called were %s", got)
	}
}

// What the caller gives to a command is for the command alone, and what a shell reads at its start is not read.
func TestEnvironmentOfACommandAndStartFilesChangeNoScript(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, startBridge(t).client(t))
	inside(t, s, `
		mkdir bin
		printf '#!/bin/sh\necho called >>/workspace/called\nexit 1\n' >bin/sha256sum
		cp bin/sha256sum bin/base64
		chmod 755 bin/*
		for file in ~/.bashrc ~/.bash_profile ~/.profile ~/.bash_login ~/.inputrc; do
			printf 'sha256sum() { echo called >>/workspace/called; }\nexport -f sha256sum\nPATH=/workspace/bin:$PATH\n' >$file
		done`)
	write(t, s, "file", "hello", 0o600)
	environment := map[string]string{
		"PATH": "/workspace/bin:/usr/bin:/bin", "BASH_ENV": "/workspace/rc", "ENV": "/workspace/rc", "SHELLOPTS_": "x", "IFS": "0", "CDPATH": "/etc",
		"GLOBIGNORE": "*", "POSIXLY_CORRECT": "1", "LD_PRELOAD": "/workspace/none.so", "TMPDIR": "/none", "POSIX": "1", "BASH_XTRACEFD": "1", "PS4": "x",
	}
	write(t, s, "rc", "echo sourced >&2\n", 0o644)
	result, err := s.Run(t.Context(), bridge.Command{Argv: []string{"/bin/sh", "-c", "echo out"}, Environment: environment})
	if err != nil || result.ExitCode != 0 || string(result.Stdout) != "out\n" {
		t.Errorf("got %+v, %v", result, err)
	}
	if got := inside(t, s, "cat called 2>/dev/null || true"); got != "" {
		t.Errorf("%d times", strings.Count(got, "called"))
	}
}
