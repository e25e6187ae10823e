package bridge

import (
	"errors"
	"fmt"
	"strings"
)

// MountReason is why a bucket is not mounted, or not unmounted.
type MountReason string

// The reasons.
const (
	MountOccupied      MountReason = "something is mounted there already"
	MountNoCredentials MountReason = "no credentials were given, and the bridge's Worker has none"
	MountNoBinding     MountReason = "the bridge's Worker has no such R2 binding"
	MountNoProxy       MountReason = "the bridge's Worker does not export ContainerProxy"
	MountUnreachable   MountReason = "the endpoint does not answer"
	MountDenied        MountReason = "the endpoint does not accept the credentials for this bucket"
	MountNoBucket      MountReason = "the endpoint has no such bucket, or the bucket no such prefix"
	MountBadDirectory  MountReason = "the directory cannot be mounted on"
	MountBadOption     MountReason = "s3fs does not take an option"
	MountNoS3FS        MountReason = "the sandbox's image cannot mount buckets"
	MountRefused       MountReason = "the bridge does not accept the settings"
	MountFailed        MountReason = "mounting failed"
	MountVanished      MountReason = "the bridge said that it is mounted, and in the sandbox it is not so"
	MountStays         MountReason = "the sandbox refused"
)

// MountError is a bucket that could not be mounted, or not unmounted.
type MountError struct {
	ID, Path string
	Reason   MountReason
	// Detail is what the bridge or s3fs said, one line; may be empty.
	Detail string
}

func (e *MountError) Error() string {
	verb := "mount a bucket at"
	if e.Reason == MountStays {
		verb = "unmount"
	}
	text := fmt.Sprintf("cannot %s %s in sandbox %s: %s", verb, e.Path, e.ID, e.Reason)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// mountError reads what the bridge says of a mount; any other error stays what it is.
func (s *Sandbox) mountError(path string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case codeMountError:
		return &MountError{ID: s.id, Path: path, Reason: mountReason(e.raw), Detail: oneLine(withoutChatter(e.text))}
	case codeUnmountError:
		return &MountError{ID: s.id, Path: path, Reason: MountStays, Detail: oneLine(e.text)}
	default:
		return err
	}
}

// mountReason goes by the words of the bridge and of s3fs: all of these come with one code.
func mountReason(text string) MountReason {
	for _, known := range []struct {
		words  string
		reason MountReason
	}{
		{"MissingCredentialsError", MountNoCredentials},
		{"not found in Worker env", MountNoBinding},
		{"exporting ContainerProxy", MountNoProxy},
		{"outbound interception", MountNoProxy},
		{"already in use", MountOccupied},
		{"InvalidMountConfigError", MountRefused},
		{"unable to connect(", MountUnreachable},
		{"invalid credentials(", MountDenied},
		{"bucket or key not found(", MountNoBucket},
		{"bucket not found(", MountNoBucket},
		{"MOUNTPOINT", MountBadDirectory},
		{"unknown option", MountBadOption},
		{"s3fs: command not found", MountNoS3FS},
		{"fuse: device not found", MountNoS3FS},
	} {
		if strings.Contains(text, known.words) {
			return known.reason
		}
	}
	return MountFailed
}

// withoutChatter leaves of s3fs's log, which the bridge quotes, what went wrong. The rest may even have request headers.
func withoutChatter(text string) string {
	const logged = "s3fs log: "
	before, log, found := strings.Cut(text, logged)
	if !found {
		return text
	}
	var lines []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "[CRT]") || strings.Contains(line, "[ERR]") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		return text
	}
	return before + logged + strings.Join(lines[max(0, len(lines)-3):], " ")
}
