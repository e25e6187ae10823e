package bridge

import (
	"errors"
)

// errNoSandboxID says what an id must look like. The bridge answers 400 to any other (BRIDGE.md, "Routes").
var errNoSandboxID = errors.New("a sandbox id has 1 to 128 characters, each one of a-z or 2-7")

// ValidateSandboxID tells whether the bridge would take the id.
func ValidateSandboxID(id string) error {
	if id == "" || len(id) > 128 {
		return errNoSandboxID
	}
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < '2' || r > '7') {
			return errNoSandboxID
		}
	}
	return nil
}
