package localbridge

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// arguments are the limits as process 1 is told them.
func (l limits) arguments() []string {
	return []string{strconv.FormatInt(l.disk, 10), strconv.Itoa(l.processes)}
}

// parseLimits reads what arguments has written.
func parseLimits(disk, processes string) limits {
	var l limits
	l.disk, _ = strconv.ParseInt(disk, 10, 64)
	l.processes, _ = strconv.Atoi(processes)
	return l
}

// setProcesses limits this process and all that it will start. The kernel counts for each user of a user namespace, so
// that every container has the number for itself.
func (l limits) setProcesses() error {
	if l.processes == 0 {
		return nil
	}
	most := uint64(l.processes)
	return unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most})
}
