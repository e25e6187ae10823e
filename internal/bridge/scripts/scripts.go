// Package scripts holds the programs that the provider runs inside a sandbox. They are bash and coreutils only: bash
// is a given, since the bridge itself runs every command by "bash -c" (BRIDGE.md, "exec"). The one in Python runs
// snippets of Python.
package scripts

import (
	_ "embed"
	"strings"
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
	//go:embed look_mount.sh
	lookMount string
	//go:embed unmount.sh
	unmount string
)

// The programs, ready for "bash -c". Each one's file says what it does and which arguments it takes.
var (
	Hello     = program(hello)
	Run       = program(groups, run)
	Cancel    = program(groups, cancel)
	Install   = program(install)
	Discard   = program(discard)
	Inspect   = program(hidden, inspect)
	Read      = program(hidden, read)
	Remove    = program(remove)
	LookMount = program(mounts, lookMount)
	Unmount   = program(mounts, unmount)
)

// program puts the statuses and the prelude before the parts and leaves the comments out: the whole program travels with
// every request, stands in the container's log each time, and must stay far below the 128 KiB that a command may have.
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
	return statuses(b.String()) + b.String()
}
