package localbridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	// sandboxID is the user and group id of every command, as in the
	// published image (OBSERVED.md, b).
	sandboxID = 1000
	// hostID is who a sandbox's user is on the host when root starts the
	// bridge: an id that owns nothing, so that what root may write stays out
	// of reach.
	hostID = 65533
	// capSysAdmin is all that process 1 keeps, for mounts in its own
	// namespaces; commands have no capability at all.
	capSysAdmin = 21
)

// namespaces says how ids in a sandbox map to ids of the host.
type namespaces struct {
	asRoot bool
}

// detectNamespaces finds out what this machine allows by starting one container.
func detectNamespaces(ctx context.Context) (namespaces, error) {
	candidates := []namespaces{{asRoot: false}}
	if os.Geteuid() == 0 {
		candidates = []namespaces{{asRoot: true}, {asRoot: false}}
	}
	var failures error
	for _, ns := range candidates {
		c, err := startContainer(ctx, ns, limits{}, nil)
		if err == nil {
			c.kill()
			return ns, nil
		}
		failures = errors.Join(failures, err)
	}
	return namespaces{}, refusal(failures)
}

// refusal says what is missing and where to look for it.
func refusal(cause error) error {
	hint := "this needs Linux user, mount and pid namespaces"
	switch {
	case sysctl("/proc/sys/user/max_user_namespaces") == "0":
		hint = "user namespaces are off: sysctl user.max_user_namespaces is 0"
	case sysctl("/proc/sys/kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0:
		hint = "unprivileged user namespaces are off: sysctl kernel.unprivileged_userns_clone is 0"
	case sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0:
		hint = "AppArmor keeps capabilities from unprivileged user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns is 1"
	case errors.Is(cause, os.ErrPermission):
		hint = "namespaces are forbidden here; in a Docker container, run it with --privileged, or with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
	}
	return fmt.Errorf("localbridge cannot make a sandbox on this machine: %s: %w", hint, cause)
}

func sysctl(path string) string {
	value, err := os.ReadFile(path)
	if err != nil || len(value) == 0 {
		return ""
	}
	return string(value[:1])
}

// attributes are those of a container's process 1.
func (ns namespaces) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Setsid:      true,
		AmbientCaps: []uintptr{capSysAdmin},
	}
	if ns.asRoot {
		// The host's root appears as root, so that /etc and /usr look right;
		// nothing in the sandbox ever runs as it.
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: sandboxID, HostID: hostID, Size: 1}}
		attr.GidMappings = attr.UidMappings
		attr.GidMappingsEnableSetgroups = true
		attr.Credential = &syscall.Credential{Uid: sandboxID, Gid: sandboxID}
		return attr
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxID, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxID, HostID: os.Getegid(), Size: 1}}
	attr.Credential = &syscall.Credential{Uid: sandboxID, Gid: sandboxID, NoSetGroups: true}
	return attr
}
