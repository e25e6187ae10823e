package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"time"
)

// MaxOutputBytes is the upper limit of [Command.MaxOutputBytes]: with both streams that long, in base64, an answer still
// fits into the 32 MiB that the bridge can carry (BRIDGE.md, "exec").
const MaxOutputBytes = 8 << 20

// maxSentBytes is what both streams and the reply may have together, for the same reason.
const maxSentBytes = 2*MaxOutputBytes + 1<<20

// Command is a command to run in a sandbox.
type Command struct {
	// Argv is the program and its arguments. The first word is always a program, never a word of the shell. It cannot
	// contain NUL.
	Argv []string
	// Script, if not empty, is put into a private file of the sandbox, whose path is appended to Argv, the interpreter.
	Script string
	// Dir is where it starts, absolute; default /workspace.
	Dir string
	// Environment is added to what the container gives to every process. See [ValidateEnvironmentName].
	Environment map[string]string
	// Stdin is its standard input; nil for none (/dev/null).
	Stdin *string
	// Timeout after which it is ended: SIGTERM to its process group, SIGKILL 5 seconds later. 0: never.
	Timeout time.Duration
	// MaxOutputBytes bounds each output stream, from 1 to [MaxOutputBytes]; default 1 MiB. More is an error.
	MaxOutputBytes int64
	// MaxReplyBytes, if not 0, gives the command one more argument, after the script: the path of a private file, whose
	// content is in the result if the command has written it. It bounds that content; more is an error.
	MaxReplyBytes int64
	// Confidential says that Argv may not stand in the container's log, as Script, Stdin and the values of Environment
	// never do.
	Confidential bool
	// Instance is the container that it is meant for; "" for that of [Sandbox.Wake].
	Instance string
	// Heartbeat, if set, is called at every sign of life while the command runs, which is every 10 seconds.
	Heartbeat func()
}

const defaultMaxOutput = 1 << 20

// Result is how a command ended and what it printed, byte for byte.
type Result struct {
	// ExitCode as the shell tells it: 128+N after signal N, 127 for a program that was not found.
	ExitCode       int
	Stdout, Stderr []byte
	// StdoutSize and StderrSize are how much was printed, of which the first 64 MiB count. Where it was more than the
	// limit, Stdout and Stderr are the end of it only.
	StdoutSize, StderrSize int64
	// Reply is nil if the command has none or has not written it. Of one over its limit it is the end only.
	Reply     []byte
	ReplySize int64
}

// validate refuses what cannot be run, before any request.
func (c *Command) validate() error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errors.New("a command needs a program")
	}
	for i, argument := range c.Argv {
		if err := ValidateArgument(argument); err != nil {
			return fmt.Errorf("argument %d of the command: %w", i, err)
		}
	}
	for name, value := range c.Environment {
		if err := ValidateEnvironmentName(name); err != nil {
			return err
		}
		if err := ValidateArgument(name + "=" + value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	if err := ValidateText(c.Script, MaxCommandBytes); err != nil {
		return fmt.Errorf("the script of the command: %w", err)
	}
	if c.Stdin != nil {
		if err := ValidateText(*c.Stdin, MaxCommandBytes); err != nil {
			return fmt.Errorf("the standard input of the command: %w", err)
		}
	}
	if err := withoutNUL(c.Dir); err != nil {
		return fmt.Errorf("the working directory of the command: %w", err)
	}
	if c.Dir != "" && !path.IsAbs(c.Dir) {
		return fmt.Errorf("the working directory %q is not absolute", c.Dir)
	}
	if c.MaxOutputBytes < 0 || c.MaxOutputBytes > MaxOutputBytes {
		return fmt.Errorf("at most %d bytes of output can be asked for", MaxOutputBytes)
	}
	if c.MaxReplyBytes < 0 || 2*cmp.Or(c.MaxOutputBytes, defaultMaxOutput)+c.MaxReplyBytes > maxSentBytes {
		return fmt.Errorf("at most %d bytes of output and reply together can be asked for", maxSentBytes)
	}
	if c.Timeout < 0 {
		return errors.New("a timeout cannot be negative")
	}
	return nil
}

// TimeoutError says that a command was ended because its time was up. Result has what it had printed until then; its
// exit code means nothing.
type TimeoutError struct {
	Timeout time.Duration
	Result  *Result
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the command was ended after its timeout of %s", e.Timeout)
}

// OutputLimitError says that a command printed more than was allowed. It has ended, with the exit code in Result; of
// the output Result has the end.
type OutputLimitError struct {
	// Stream is "stdout", "stderr" or "reply".
	Stream      string
	Size, Limit int64
	Result      *Result
}

func (e *OutputLimitError) Error() string {
	return fmt.Sprintf("the command wrote at least %d bytes to %s, more than the limit of %d", e.Size, e.Stream, e.Limit)
}

// StartError says that a command was not started.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "the command was not started: " + e.Reason }

// UnknownOutcomeError says that nothing proves how a command ended: it may have run, wholly, in part or not at all. It
// was not started a second time.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("the command may have run, but nothing proves how it ended: %v", e.Err)
}

// Unwrap gives the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }
