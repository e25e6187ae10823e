package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// What code in a sandbox can bring about is in package bridge's tests. These
// are about what Terraform shows, and what is on the local disk.

func TestOutputOfAFailingCommandDoesNotReachTheTerminalAsItIs(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	script := `printf '\033[2J\033]0;owned\007 \302\233 \342\200\256 visible\n' >&2; exit 1`

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		ErrorCheck: func(err error) error {
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\x07\u009b\u202e") {
				t.Errorf("control characters in %q", err)
			}
			return err
		},
		Steps: []resource.TestStep{{
			Config:      b.config(oneSandbox + execBlock("test", command("bash", "-c", script))),
			ExpectError: regexp.MustCompile(`\\x1b\[2J\\x1b\]0;owned\\x07 \\x9b \\u202e visible`),
		}},
	})
}

func TestArchiveOverItsLimitLeavesNothingOnTheLocalDisk(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	dir := t.TempDir()

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		Steps: []resource.TestStep{{
			Config: b.config(oneSandbox + `
				data "cloudflaresandbox_exec" "test" {
				  sandbox_id = cloudflaresandbox_sandbox.test.id
				  command    = ["bash", "-c", "head -c 300000 /dev/urandom >large; echo done"]
				}
` + archiveBlock(set("output_path", filepath.Join(dir, "out")), `max_bytes = 100000`, `depends_on = [data.cloudflaresandbox_exec.test]`)),
			ExpectError: regexp.MustCompile(`(?s)Archive is too large.*max_bytes\s+allows\s+100000`),
		}},
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A sandbox that no longer answers for itself is an error and no crash, and
// cannot keep Terraform from destroying it.
func TestSpoiledSandboxCanBeDestroyed(t *testing.T) {
	for name, spoil := range map[string]string{
		"garbage": "echo garbage >/tmp/.cloudflaresandbox/instance",
		"a pipe":  "rm /tmp/.cloudflaresandbox/instance; mkfifo /tmp/.cloudflaresandbox/instance",
		"closed":  "chmod 0 /tmp/.cloudflaresandbox",
	} {
		t.Run(name, func(t *testing.T) {
			b := localBridge(t, localbridge.Config{})
			c := b.cli(oneSandbox)
			c.must("apply", "-auto-approve")
			_, _ = b.tryInside(b.local.Running()[0], spoil)

			if output, err := c.try("plan"); err == nil || strings.Contains(output, "panic") {
				t.Errorf("plan: %v\n%s", err, output)
			}
			c.must("destroy", "-auto-approve", "-refresh=false")
		})
	}
}
