package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// What was written in part is remembered, so that the next apply completes it
// and a destroy clears it away.
func TestDirectoryWrittenInPartIsCompletedLater(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	source := newLocalDirectory(t, "a", "locked/b")
	config := b.config(oneDirectory(source))
	var sandboxID string
	refused := regexp.MustCompile(`(?s)File operation refused.*path\s+= "app".*part\s+of\s+it\s+may\s+be\s+there.*Read-only`)

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig:   func() { b.lock(sandboxID, "/workspace/app/locked") },
			Config:      config,
			ExpectError: refused,
		},
		resource.TestStep{
			PreConfig:        func() { b.unlock(sandboxID, "/workspace/app/locked") },
			Config:           config,
			ConfigPlanChecks: before(action(directory, plancheck.ResourceActionReplace)), // tainted
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cd app; cat a locked/b", "alocked/b"),
			},
		},
		resource.TestStep{
			PreConfig: func() {
				b.lock(sandboxID, "/workspace/app/later")
				source.add(t, "later/c", "new")
				source.remove(t, "a")
			},
			Config:      config,
			ExpectError: refused,
		},
		resource.TestStep{
			PreConfig: func() {
				b.unlock(sandboxID, "/workspace/app/later")
				source.remove(t, "later", "new")
			},
			Config:           config,
			ConfigPlanChecks: before(action(directory, plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cd app; find . -type f", "./locked/b\n"),
			},
		},
		b.stable(config),
	)
}

// Terraform keeps the private state of a tainted resource from its destroy. What
// was put into the sandbox goes all the same.
func TestTaintedDirectoryIsClearedAway(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	source := newLocalDirectory(t, "a/b", "locked/c", `"quoted`)
	config := b.config(oneDirectory(source))
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig:   func() { b.lock(sandboxID, "/workspace/app/locked") },
			Config:      config,
			ExpectError: regexp.MustCompile(`File operation refused`),
		},
		resource.TestStep{
			PreConfig: func() {
				b.unlock(sandboxID, "/workspace/app/locked")
				source.remove(t, "a", `"quoted`)
			},
			Config:            config,
			ConfigPlanChecks:  before(action(directory, plancheck.ResourceActionReplace)), // tainted
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cd app; ls", "locked\n")},
		},
		b.stable(config),
	)
}

// lock mounts a file system that cannot be written, which is a refusal that
// nobody in the sandbox can change.
func (b *testBridge) lock(sandboxID, path string) {
	b.t.Helper()

	sandbox := b.handle(sandboxID)
	if _, err := sandbox.Mount(b.t.Context(), bridge.MountRequest{
		Path: path, Bucket: "bucket", Endpoint: "https://bucket.example", ReadOnly: true,
		Credentials: &bridge.MountCredentials{AccessKeyID: "none", SecretAccessKey: "none"},
	}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *testBridge) unlock(sandboxID, path string) {
	b.t.Helper()

	sandbox := b.handle(sandboxID)
	info, err := sandbox.LookAtMount(b.t.Context(), path)
	if err == nil {
		err = sandbox.Unmount(b.t.Context(), path, info.Source, info.Instance)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
