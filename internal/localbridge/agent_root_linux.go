package localbridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// hostDirs are the places of the host that a sandbox sees, read-only.
var hostDirs = [...]string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix"}

// privateDirs are empty at each start and writable for the sandbox.
var privateDirs = [...]struct {
	path string
	mode uint32
}{
	{"workspace", 0o755}, {"home/sandbox", 0o755}, {"tmp", 0o1777}, {"var/tmp", 0o1777}, {"dev/shm", 0o1777},
}

// newRoot is where the root file system is built before it becomes the root;
// any directory that exists everywhere will do, since the mount is private.
const newRoot = "/tmp"

// buildRoot makes the container's file system and moves into it. It runs as the
// sandbox's user with CAP_SYS_ADMIN over its own namespaces and nothing else.
func buildRoot(hostname string, disk int64) error {
	resolv := externalResolvConf()
	steps := []struct {
		what string
		do   func() error
	}{
		{"hostname", func() error { return unix.Sethostname([]byte(hostname)) }},
		{"private mounts", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"root", func() error { return mountTmpfs(newRoot, 0o755, 0) }},
		{"host directories", bindHostDirs},
		{"resolv.conf", func() error { return bindFile(resolv, resolv) }},
		{"devices", makeDevices},
		{"private directories", func() error { return makePrivateDirs(disk) }},
		{"user database", makeUserDatabase},
		{"proc", mountProc},
		{"pivot_root", pivot},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func mountTmpfs(path string, mode uint32, size int64) error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	options := fmt.Sprintf("mode=%o", mode)
	if size > 0 {
		options += fmt.Sprintf(",size=%d", size)
	}
	if mode&0o1000 != 0 {
		// /tmp is root's, where root exists in here.
		if err := unix.Mount("tmpfs", path, "tmpfs", flags, options+",uid=0,gid=0"); err == nil {
			return nil
		}
	}
	return unix.Mount("tmpfs", path, "tmpfs", flags, options)
}

// bindHostDirs shows the host's directories, or copies the symbolic links that
// stand in their places.
func bindHostDirs() error {
	for _, name := range hostDirs {
		source, target := "/"+name, filepath.Join(newRoot, name)
		info, err := os.Lstat(source)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			link, err := os.Readlink(source)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, target); err != nil {
				return err
			}
			continue
		}
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
		if err := bindReadOnly(source, target); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	return nil
}

// bindReadOnly shows source at target with all mounts below it, none of them
// writable and no set-user-id bit honoured.
func bindReadOnly(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{
		Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID,
	})
}

// externalResolvConf is the file behind /etc/resolv.conf when it lies outside
// the directories that are bound anyway (/run/systemd/resolve/...), else "".
func externalResolvConf() string {
	path, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || !strings.HasPrefix(path, "/run/") {
		return ""
	}
	return path
}

// bindFile shows one file of the host, or nothing when source is empty.
func bindFile(source, target string) error {
	if source == "" {
		return nil
	}
	target = filepath.Join(newRoot, target)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		return err
	}
	return unix.Mount(source, target, "", unix.MS_BIND, "")
}

func makeDevices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bindFile("/dev/"+name, "/dev/"+name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, link := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(link, filepath.Join(newRoot, "dev", name)); err != nil {
			return err
		}
	}
	pts := filepath.Join(newRoot, "dev/pts")
	if err := os.Mkdir(pts, 0o755); err != nil {
		return err
	}
	// Terminals are a convenience; a kernel that refuses them is no reason not to run.
	_ = unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	return nil
}

func makePrivateDirs(disk int64) error {
	for _, dir := range privateDirs {
		path := filepath.Join(newRoot, dir.path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := mountTmpfs(path, dir.mode, disk); err != nil {
			return fmt.Errorf("%s: %w", dir.path, err)
		}
	}
	return os.MkdirAll(filepath.Join(newRoot, "root"), 0o700)
}

// makeUserDatabase hides the host's accounts behind the few of the image
// (OBSERVED.md, c).
func makeUserDatabase() error {
	for name, content := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/bash\n" +
			"daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n" +
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" +
			"sandbox:x:1000:1000::/home/sandbox:/bin/bash\n",
		"group": "root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\nsandbox:x:1000:\n",
	} {
		target := filepath.Join(newRoot, "etc", name)
		if _, err := os.Stat(target); err != nil {
			continue // a host without such a file has nothing to hide
		}
		source := filepath.Join(newRoot, "."+name)
		if err := os.WriteFile(source, []byte(content), 0o444); err != nil {
			return err
		}
		if err := bindReadOnly(source, target); err != nil {
			return err
		}
		if err := os.Remove(source); err != nil {
			return err
		}
	}
	return nil
}

// mountProc must come before the old root goes: the kernel allows a new proc
// only where a complete one is in sight.
func mountProc() error {
	path := filepath.Join(newRoot, "proc")
	if err := os.Mkdir(path, 0o555); err != nil {
		return err
	}
	return unix.Mount("proc", path, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func pivot() error {
	old := filepath.Join(newRoot, ".host")
	if err := os.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(newRoot, old); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/.host", unix.MNT_DETACH); err != nil {
		return err
	}
	if err := os.Remove("/.host"); err != nil {
		return err
	}
	// The sandbox's user owns the root, since only its own ids are sure to
	// exist here; without write permission it still cannot create in it.
	for _, dir := range []string{"/dev", "/home", "/var", "/"} {
		if err := os.Chmod(dir, 0o555); err != nil {
			return err
		}
	}
	return os.Chmod("/root", 0)
}
