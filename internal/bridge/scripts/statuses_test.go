package scripts

import (
	"regexp"
	"strings"
	"testing"
)

// A script that used a name which nothing sets would end with a success.
func TestEveryStatusThatAScriptUsesIsSetInIt(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`\$\{?([A-Z][A-Z0-9_]*)`)
	ofBash := map[string]bool{"BASHPID": true, "PATH": true, "PIPESTATUS": true, "PWD": true}
	unused := map[string]bool{}
	for _, name := range statusNames {
		if name != "" {
			unused[name] = true
		}
	}
	for name, program := range map[string]string{
		"hello": Hello, "run": Run, "cancel": Cancel, "install": Install, "discard": Discard, "inspect": Inspect, "read": Read,
		"remove": Remove, "look_mount": LookMount, "unmount": Unmount, "unpack": Unpack, "look": Look, "walk": Walk, "pack": Pack,
	} {
		first, rest, _ := strings.Cut(program, "\n")
		for _, match := range variable.FindAllStringSubmatch(rest, -1) {
			used := match[1]
			if !ofBash[used] && !strings.Contains(" "+first, " "+used+"=") {
				t.Errorf("%s: %s is used, and not set by %q", name, used, first)
			}
			delete(unused, used)
		}
	}
	for name := range unused {
		t.Errorf("%s is used by no script", name)
	}
}
