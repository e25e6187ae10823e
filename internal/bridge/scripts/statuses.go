package scripts

import (
	"fmt"
	"strings"
)

// Statuses of the scripts, as their "end" line tells them. 0 is success.
const (
	// StatusOtherInstance: the container is not the one that the request is meant for; nothing was done.
	StatusOtherInstance = 64
	// StatusNoHome: the scripts' directory in /tmp cannot be made, usually because the disk is full.
	StatusNoHome = 65

	// StatusNoDirectory: the working directory of a command is missing or cannot be entered.
	StatusNoDirectory = 80
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
	// StatusNotStaged: what was staged for the request is missing or incomplete.
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
	// StatusNotDirectory: the path is something else than a directory, or a link.
	StatusNotDirectory = 99

	// StatusNoList: the list of a tree is not known in the container, and was not sent.
	StatusNoList = 100
	// StatusIncomplete: the file system refused in the middle, so that a part has been done; the answer has the reason.
	StatusIncomplete = 101

	// StatusCannotUnmount: what is mounted at the path stays there; the answer has the reason.
	StatusCannotUnmount = 110
)

// statusNames are the variables by which the scripts know the statuses, at their numbers: so no two can have the same.
var statusNames = [...]string{
	StatusOtherInstance:  "OTHER_INSTANCE",
	StatusNoHome:         "NO_HOME",
	StatusNoDirectory:    "NO_DIRECTORY",
	StatusNoRunDirectory: "NO_RUN_DIRECTORY",
	StatusCancelled:      "CANCELLED",
	StatusSupervisorGone: "SUPERVISOR_GONE",
	StatusResultGone:     "RESULT_GONE",
	StatusIsDirectory:    "IS_DIRECTORY",
	StatusNotStaged:      "NOT_STAGED",
	StatusDifferent:      "DIFFERENT",
	StatusCannotWrite:    "CANNOT_WRITE",
	StatusMissing:        "MISSING",
	StatusUnreadable:     "UNREADABLE",
	StatusNotRegular:     "NOT_REGULAR",
	StatusLinked:         "LINKED",
	StatusTooLarge:       "TOO_LARGE",
	StatusNotDirectory:   "NOT_DIRECTORY",
	StatusNoList:         "NO_LIST",
	StatusIncomplete:     "INCOMPLETE",
	StatusCannotUnmount:  "CANNOT_UNMOUNT",
}

// statuses is the line that sets those of the variables that a program uses. They are not read-only: a command may be given
// variables of the same names.
func statuses(program string) string {
	var set []string
	for number, name := range statusNames {
		if name != "" && strings.Contains(program, `"$`+name+`"`) {
			set = append(set, fmt.Sprintf("%s=%d", name, number))
		}
	}
	return strings.Join(set, " ") + "\n"
}
