package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// MaxPythonOutputBytes is the upper limit of [Command.MaxOutputBytes] for [Sandbox.RunPython], whose answer carries, beside
// the two streams, a result in two forms.
const MaxPythonOutputBytes = 4 << 20

// maxPythonErrorBytes is more than the program in the sandbox lets an exception have, and its own words take.
const maxPythonErrorBytes = 512 << 10

// PythonResult is what became of a snippet of Python.
type PythonResult struct {
	Stdout, Stderr []byte
	// Repr is the repr of the value of the expression at the snippet's end; nil if there is none, or its value is None.
	Repr *string
	// JSON is the same value in JSON; nil if it has no such form.
	JSON *string
	// Exception is what the snippet ended with; nil if it ended well.
	Exception *PythonException
}

// PythonException is an uncaught exception, or another way of not coming to one's end.
type PythonException struct {
	// Name is that of the exception's class; [ProcessEnded] if the process ended without a word.
	Name string
	// Value is the exception as text, Traceback as Python shows it.
	Value, Traceback string
}

// ProcessEnded is the name in place of an exception's where the snippet's process ended before the snippet had: it was
// killed, or left by os._exit, or became another program.
const ProcessEnded = "ProcessEnded"

// InterpreterError says that the snippet was not started, since what should have run it did not: it is missing, is no
// Python, or is too old.
type InterpreterError struct {
	Executable string
	// Result is what it did instead.
	Result *Result
}

func (e *InterpreterError) Error() string {
	switch e.Result.ExitCode {
	case exitNotFound:
		return fmt.Sprintf("there is no %s in the sandbox", e.Executable)
	case exitNotExecutable:
		return fmt.Sprintf("%s in the sandbox cannot be executed", e.Executable)
	default:
		return fmt.Sprintf("%s in the sandbox ended with exit code %d, without having started the code", e.Executable, e.Result.ExitCode)
	}
}

// Exit codes by which a shell tells that there was nothing to run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// RunPython runs a snippet of Python in a process of its own. The command's Argv is the interpreter, and it has no Script;
// the rest of it, and the errors, are as for [Sandbox.Run], with two more: [*InterpreterError], and an [*OutputLimitError]
// whose stream is "result" or "result_json". An exception is a result.
func (s *Sandbox) RunPython(ctx context.Context, code string, command Command) (*PythonResult, error) {
	if command.MaxOutputBytes == 0 {
		command.MaxOutputBytes = defaultMaxOutput
	}
	if command.MaxOutputBytes > MaxPythonOutputBytes {
		return nil, fmt.Errorf("at most %d bytes of output can be asked for", MaxPythonOutputBytes)
	}
	if len(command.Argv) == 0 || command.Script != "" {
		return nil, errors.New("a snippet needs an interpreter, and has no other script")
	}
	if err := ValidateText(code, MaxPythonCodeBytes); err != nil {
		return nil, fmt.Errorf("the code: %w", err)
	}
	command.Script = scripts.Python(code, command.MaxOutputBytes)
	command.Confidential = true
	command.MaxReplyBytes = 2*command.MaxOutputBytes + maxPythonErrorBytes
	result, err := s.Run(ctx, command)
	if err != nil {
		return nil, err
	}
	if result.Reply == nil {
		return nil, &InterpreterError{Executable: command.Argv[0], Result: result}
	}
	return judgePython(result, command.MaxOutputBytes)
}

// judgePython reads the reply. It is believed as far as it can be read: the snippet may have written what it liked, but
// about nothing else than itself.
func judgePython(result *Result, limit int64) (*PythonResult, error) {
	p := &PythonResult{Stdout: result.Stdout, Stderr: result.Stderr}
	fields, whole := pythonFields(result.Reply)
	if oversize, ok := fields["oversize"]; ok && whole {
		if name, size, ok := pythonOversize(oversize); ok {
			return nil, &OutputLimitError{Stream: name, Size: size, Limit: limit, Result: result}
		}
		whole = false
	}
	_, failed := fields["name"]
	switch {
	case !whole:
		p.Exception = &PythonException{Name: ProcessEnded, Value: fmt.Sprintf("the process ended with %s before the code had come to its end",
			exitText(result.ExitCode))}
	case failed:
		p.Exception = &PythonException{Name: fields["name"], Value: fields["value"], Traceback: fields["traceback"]}
	case result.ExitCode != 0:
		p.Exception = &PythonException{Name: ProcessEnded, Value: fmt.Sprintf("the code came to its end, but its process then ended with %s",
			exitText(result.ExitCode))}
	default:
		p.Repr, p.JSON = field(fields, "result"), field(fields, "result_json")
	}
	return p, nil
}

// pythonFields takes a reply apart. whole tells whether it is complete.
func pythonFields(reply []byte) (fields map[string]string, whole bool) {
	fields = map[string]string{}
	for {
		line, rest, found := bytes.Cut(reply, []byte("\n"))
		if string(line) == "end" {
			return fields, found && len(rest) == 0
		}
		name, length, found := strings.Cut(string(line), " ")
		size, err := strconv.Atoi(length)
		if !found || err != nil || size < 0 || size >= len(rest) || rest[size] != '\n' || !utf8.Valid(rest[:size]) {
			return nil, false
		}
		fields[name], reply = string(rest[:size]), rest[size+1:]
	}
}

// pythonOversize reads which result is too large, and how large it is.
func pythonOversize(text string) (name string, size int64, ok bool) {
	name, digits, _ := strings.Cut(text, " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	return name, size, err == nil && size > 0 && (name == "result" || name == "result_json")
}

func field(fields map[string]string, name string) *string {
	if value, ok := fields[name]; ok {
		return &value
	}
	return nil
}

// exitText names an exit code, and the signal that may be behind it.
func exitText(code int) string {
	if code > 128 {
		return fmt.Sprintf("exit code %d (signal %d)", code, code-128)
	}
	return fmt.Sprintf("exit code %d", code)
}
