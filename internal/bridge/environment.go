package bridge

import (
	"errors"
	"fmt"
)

// Variables that bash makes read-only: it would not hand a value of ours to a command.
var readOnlyVariables = []string{"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"}

// ValidateEnvironmentName tells whether a command can be given a variable of that name.
func ValidateEnvironmentName(name string) error {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			name = ""
			break
		}
	}
	if name == "" {
		return errors.New("the name of an environment variable has letters, digits and underscores, and no digit first")
	}
	for _, reserved := range readOnlyVariables {
		if name == reserved {
			return fmt.Errorf("%s is set by the shell and cannot be changed", name)
		}
	}
	return nil
}
