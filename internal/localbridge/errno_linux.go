package localbridge

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// describeErrno names an error the way the container does
// (OBSERVED.md, b: "EISDIR: illegal operation on a directory, open '...'").
func describeErrno(errno syscall.Errno) (name, message string) {
	name = unix.ErrnoName(errno)
	switch errno {
	case syscall.EISDIR:
		return name, "illegal operation on a directory"
	case syscall.ENAMETOOLONG:
		return name, "name too long"
	case syscall.ELOOP:
		return name, "too many symbolic links encountered"
	default:
		return name, strings.ToLower(errno.Error())
	}
}
