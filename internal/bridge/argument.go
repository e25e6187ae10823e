package bridge

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// MaxArgumentBytes is the most that Linux gives a program as one argument, or as one variable with its name (BRIDGE.md,
	// "exec").
	MaxArgumentBytes = 128<<10 - 1
	// MaxCommandBytes is the most that a command's arguments, environment, script and input can have together. They go into
	// the sandbox in one part.
	MaxCommandBytes = partSize
	// MaxPythonCodeBytes is the most that a snippet of Python can have: it travels in base64, with the program that runs it.
	MaxPythonCodeBytes = 6_000_000
)

// ValidateArgument tells whether a program can be given the text as an argument.
func ValidateArgument(text string) error {
	if len(text) > MaxArgumentBytes {
		return fmt.Errorf("it has %d bytes, and Linux gives a program arguments and variables of at most %d: "+
			"what is longer can go into stdin or a file", len(text), MaxArgumentBytes)
	}
	return withoutNUL(text)
}

// ValidateText tells whether a script, an input or a snippet can be given to a program, if it can have at most most bytes.
func ValidateText(text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("it has %d bytes, and can have at most %d: what is longer can go into a file in the sandbox", len(text), most)
	}
	return withoutNUL(text)
}

func withoutNUL(text string) error {
	if strings.ContainsRune(text, 0) {
		return errors.New("it contains a NUL character, which no program can be given")
	}
	return nil
}
