package bridge

import (
	"errors"
	"fmt"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// PathReason is why an operation on a path failed.
type PathReason string

// The reasons.
const (
	ReasonMissing     PathReason = "there is no such file"
	ReasonIsDirectory PathReason = "it is a directory"
	ReasonNotRegular  PathReason = "it is not a regular file"
	ReasonUnreadable  PathReason = "the sandbox's user may not read it"
	ReasonRefused     PathReason = "the sandbox's file system refused"
)

// PathError is an operation on a path that the sandbox's file system did not allow. Nothing was changed.
type PathError struct {
	ID, Operation, Path string
	Reason              PathReason
	// Detail is what the system said, one line; for ReasonRefused.
	Detail string
}

func (e *PathError) Error() string {
	text := fmt.Sprintf("cannot %s %s in sandbox %s: %s", e.Operation, e.Path, e.ID, e.Reason)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// IsMissing tells whether the error says that there is no such file.
func IsMissing(err error) bool {
	var e *PathError
	return errors.As(err, &e) && e.Reason == ReasonMissing
}

// pathError makes the error of a script's answer.
func (s *Sandbox) pathError(operation, path string, a *answer) error {
	e := &PathError{ID: s.id, Operation: operation, Path: path}
	switch a.status {
	case scripts.StatusMissing:
		e.Reason = ReasonMissing
	case scripts.StatusIsDirectory:
		e.Reason = ReasonIsDirectory
	case scripts.StatusNotRegular:
		e.Reason = ReasonNotRegular
	case scripts.StatusUnreadable:
		e.Reason = ReasonUnreadable
	case scripts.StatusCannotWrite:
		e.Reason, e.Detail = ReasonRefused, oneLine(string(a.data))
	default:
		return fmt.Errorf("cannot %s %s in sandbox %s: unknown status %d", operation, path, s.id, a.status)
	}
	return e
}
