// Package scripts holds the programs that the provider runs inside a sandbox. They are bash and coreutils only: bash
// is a given, since the bridge itself runs every command by "bash -c" (BRIDGE.md, "exec"). The one in Python runs
// snippets of Python.
package scripts

import (
	_ "embed"
	"strings"
)

// Statuses of the scripts, as their "end" line tells them. 0 is success; a script tells the others by the same names.
const (
	// StatusOtherInstance: the container is not the one that the request is meant for; nothing was done.
	StatusOtherInstance = 64
	// StatusNoHome: the scripts' directory in /tmp cannot be made, usually because the disk is full.
	StatusNoHome = 65

	// StatusNoDirectory: the working directory of a command is missing or cannot be entered.
	StatusNoDirectory = 80
	// StatusRunNotStaged: the staged fields of a command are missing or incomplete; it was not started.
	StatusRunNotStaged = 81
	// StatusNoRunDirectory: the directory of a command's results cannot be made.
	StatusNoRunDirectory = 82
	// StatusCancelled: the command was ended by a cancel request.
	StatusCancelled = 83
	// StatusSupervisorGone: what watches over the command was killed, so that nothing can tell how it ended.
	StatusSupervisorGone = 84
	// StatusResultGone: the files with the command's output are not there any more, or are something else.
	StatusResultGone = 85

	// StatusIsDirectory: the path is a directory.
	StatusIsDirectory = 90
	// StatusNotStaged: a part of the staged content is missing.
	StatusNotStaged = 91
	// StatusDifferent: the staged content does not have the expected SHA-256.
	StatusDifferent = 92
	// StatusCannotWrite: the file system refused; the answer has the reason.
	StatusCannotWrite = 93
	// StatusMissing: there is nothing at the path.
	StatusMissing = 94
	// StatusUnreadable: the file cannot be read by the sandbox's user.
	StatusUnreadable = 95
	// StatusNotRegular: the path is a device, a socket or a pipe.
	StatusNotRegular = 96
	// StatusLinked: the file is too large for the answer and is linked for a GET.
	StatusLinked = 97
	// StatusTooLarge: the file has more bytes than may be read; the answer has its size.
	StatusTooLarge = 98

	// StatusCannotUnmount: what is mounted at the path stays there; the answer has the reason.
	StatusCannotUnmount = 100
)

var (
	//go:embed prelude.sh
	prelude string
	//go:embed groups.sh
	groups string
	//go:embed hidden.sh
	hidden string
	//go:embed mounts.sh
	mounts string

	//go:embed hello.sh
	hello string
	//go:embed run.sh
	run string
	//go:embed cancel.sh
	cancel string
	//go:embed install.sh
	install string
	//go:embed discard.sh
	discard string
	//go:embed inspect.sh
	inspect string
	//go:embed read.sh
	read string
	//go:embed remove.sh
	remove string
	//go:embed mount.sh
	mount string
	//go:embed unmount.sh
	unmount string
)

// The programs, ready for "bash -c". Each one's file says what it does and which arguments it takes.
var (
	Hello   = program(hello)
	Run     = program(groups, run)
	Cancel  = program(groups, cancel)
	Install = program(install)
	Discard = program(discard)
	Inspect = program(hidden, inspect)
	Read    = program(hidden, read)
	Remove  = program(remove)
	Mount   = program(mounts, mount)
	Unmount = program(mounts, unmount)
)

// program puts the prelude before the parts and leaves the comments out: the whole program travels with every request,
// stands in the container's log each time, and must stay far below the 128 KiB that a command may have.
func program(parts ...string) string {
	var b strings.Builder
	for _, part := range append([]string{prelude}, parts...) {
		for line := range strings.Lines(part) {
			trimmed := strings.TrimLeft(line, " ")
			if trimmed == "\n" || strings.HasPrefix(trimmed, "#") {
				continue
			}
			b.WriteString(trimmed)
		}
	}
	return b.String()
}
