package localbridge

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mount puts an empty tmpfs where a bucket would be, under the conditions and
// with the words of s3fs.
func (a *agent) mount(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	path := query.Get("path")
	_, missing := os.Stat(path)
	// s3fs says it better.
	_ = os.MkdirAll(path, 0o755)
	if err := checkMountPoint(path, query.Get("nonempty") == "true"); err != nil {
		fail(w, "s3fs", err)
		return
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if query.Get("readonly") == "true" {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount(query.Get("name"), path, "tmpfs", flags, "mode=700"); err != nil {
		if missing != nil {
			_ = os.Remove(path)
		}
		fail(w, "mount", err)
	}
}

func checkMountPoint(path string, nonempty bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return said("s3fs: unable to access MOUNTPOINT " + path + ": No such file or directory")
	}
	if !info.IsDir() {
		return said("s3fs: MOUNTPOINT: " + path + " is not a directory.")
	}
	if entries, err := os.ReadDir(path); !nonempty && (err != nil || len(entries) > 0) {
		return said("s3fs: MOUNTPOINT directory " + path + " is not empty. if you are sure this is safe, " +
			"can use the 'nonempty' mount option.")
	}
	return nil
}

// unmount removes the mount, and its directory when that is empty.
func (a *agent) unmount(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = unix.Unmount(target, unix.UMOUNT_NOFOLLOW)
	}
	switch {
	case errors.Is(err, unix.EBUSY):
		fail(w, "fusermount", said("failed to unmount "+path+": Device or resource busy"))
	case errors.Is(err, unix.EINVAL), errors.Is(err, os.ErrNotExist):
		fail(w, "fusermount", said("entry for "+path+" not found in /etc/mtab"))
	case err != nil:
		fail(w, "umount", err)
	default:
		_ = os.Remove(path)
	}
}
