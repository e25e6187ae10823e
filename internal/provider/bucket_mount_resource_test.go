package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func TestBucketMountIsMountedChangedAndUnmounted(t *testing.T) {
	b := anyBridge(t)
	var id, instance, mountID string

	b.runWriteOnly(append(
		b.withStore(&id),
		resource.TestStep{
			PreConfig: b.forget,
			Config:    b.config(b.oneMount(`mount_path = "data"`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					action(mount, plancheck.ResourceActionCreate),
					changes(mount, "bucket credential_proxy credentials_wo_version endpoint instance_id mount_id mount_path read_only sandbox_id"),
					b.sentAtPlan("1 POST sandbox/:id/exec"),
				},
				PostApplyPreRefresh: []plancheck.PlanCheck{b.sentAtPlan("")},
				// One for the sandbox, one for the mount.
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan(), b.sentAtPlan("2 POST sandbox/:id/exec")},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				// The first contact, a look before and one after.
				b.sentAtState("3 POST sandbox/:id/exec, 1 POST sandbox/:id/mount"),
				capture(sandbox, "instance_id", &instance),
				capture(mount, "mount_id", &mountID),
				mountValue("instance_id", knownvalue.StringFunc(same(&instance))),
				mountValue("access_key_id_wo", knownvalue.Null()),
				mountValue("secret_access_key_wo", knownvalue.Null()),
				b.expectInside(&id, mountTable("/workspace/data")+"; echo kept > data/file; cat data/file", "/workspace/data rw\nkept\n"),
			},
		},
		resource.TestStep{
			// The same path in another spelling is no change.
			Config:           b.config(b.oneMount(`mount_path = "/workspace/./data/"`)),
			ConfigPlanChecks: before(plancheck.ExpectEmptyPlan()),
		},
		resource.TestStep{
			Config: b.config(b.oneMount(`mount_path = "/home/sandbox/data"`, `read_only = true`, `s3fs_options = ["use_path_request_style"]`)),
			ConfigPlanChecks: before(
				action(mount, plancheck.ResourceActionReplace),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				mountValue("mount_id", knownvalue.StringFunc(different(&mountID))),
				b.expectInside(&id, mountTable("/workspace/data", "/home/sandbox/data"), "/home/sandbox/data ro\n"),
			},
		},
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigPlanChecks: before(
				action(mount, plancheck.ResourceActionDestroy),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				b.sentAtState("1 GET pool/stats, 2 POST sandbox/:id/exec, 1 POST sandbox/:id/unmount"),
				b.expectInside(&id, mountTable("/workspace/data", "/home/sandbox/data"), ""),
			},
		},
	)...)
}

func TestBucketMountThatIsGoneIsPlannedAgain(t *testing.T) {
	losses := map[string]func(b *testBridge, id string){
		"unmounted from within": func(b *testBridge, id string) { b.dropMount(id, "/workspace/data") },
		"container replaced": func(b *testBridge, id string) {
			if b.local == nil {
				b.t.Skip("needs a bridge whose containers can be killed")
			}
			b.local.Kill(id)
		},
		"s3fs ended": func(b *testBridge, id string) {
			if b.local != nil {
				b.t.Skip("no process is behind a mount of the local bridge")
			}
			b.inside(id, "pkill -9 -x s3fs; until ! stat -f data > /dev/null 2>&1; do sleep 0.05; done")
		},
	}

	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			var id, first string

			b.runWriteOnly(append(
				b.withStore(&id),
				resource.TestStep{
					Config:            b.config(b.oneMount(`mount_path = "data"`)),
					ConfigStateChecks: []statecheck.StateCheck{capture(mount, "mount_id", &first)},
				},
				resource.TestStep{
					PreConfig:        func() { lose(b, id) },
					Config:           b.config(b.oneMount(`mount_path = "data"`)),
					ConfigPlanChecks: before(action(mount, plancheck.ResourceActionCreate)),
					ConfigStateChecks: []statecheck.StateCheck{
						mountValue("mount_id", knownvalue.StringFunc(different(&first))),
						b.expectInside(&id, mountTable("/workspace/data"), "/workspace/data rw\n"),
					},
				},
				resource.TestStep{
					// Gone at the time of its destruction as well.
					PreConfig:        func() { lose(b, id) },
					Config:           b.config(oneSandbox),
					ConfigPlanChecks: before(action(sandbox, plancheck.ResourceActionNoop)),
				},
			)...)
		})
	}
}

// What others mount at the path is neither taken for the resource's own nor
// taken down.
func TestBucketMountThatWasReplacedIsLeftAlone(t *testing.T) {
	b := anyBridge(t)
	var id string

	b.runWriteOnly(append(
		b.withStore(&id),
		resource.TestStep{Config: b.config(b.oneMount(`mount_path = "data"`))},
		resource.TestStep{
			PreConfig: func() {
				b.post(id, "unmount", map[string]any{"mountPath": "/workspace/data"})
				b.post(id, "mount", map[string]any{"bucket": "bucket", "mountPath": "/workspace/data", "options": map[string]any{
					"endpoint": b.store(), "s3fsOptions": []string{"fsname=other"},
					"credentials": map[string]any{"accessKeyId": "a", "secretAccessKey": "s"},
				}})
			},
			Config:           b.config(b.oneMount(`mount_path = "data"`)),
			ConfigPlanChecks: before(action(mount, plancheck.ResourceActionCreate)),
			ExpectError:      regexp.MustCompile(`(?s)Bucket cannot be mounted.*mount_path = "data".*other.*Choose another mount_path`),
		},
		resource.TestStep{
			Config:            b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&id, `grep -c " - [a-z.0-9]* other " /proc/self/mountinfo`, "1\n")},
		},
	)...)
}

func TestBucketMountOfASleepingSandbox(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(b.oneMount(`mount_path = "data"`), noWake)
	var id string

	b.runWriteOnly(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		b.asleepUnproven(config, &id),
		b.asleepProven(config, mount),
		b.destroyedAsleep(config),
	)
}

func TestBucketMountKeysAreMountedAgainByVersion(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	versioned := func(version int) string {
		return b.config(strings.Replace(b.oneMount(`mount_path = "data"`), "credentials_wo_version = 1", fmt.Sprintf("credentials_wo_version = %d", version), 1))
	}

	b.runWriteOnly(
		resource.TestStep{Config: versioned(1)},
		resource.TestStep{
			Config:           versioned(2),
			ConfigPlanChecks: before(action(mount, plancheck.ResourceActionReplace)),
		},
	)
}

func TestBucketMountOfABinding(t *testing.T) {
	b := localBridge(t, localbridge.Config{Bindings: []string{"DATA"}, ContainerProxy: true})
	config := b.config(oneSandbox + mountBlock("test", `mount_path = "data"`, `binding = "DATA"`, `prefix = "/reports"`, `read_only = true`))
	var id string

	b.run(
		resource.TestStep{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &id),
				b.expectInside(&id, mountTable("/workspace/data"), "/workspace/data ro\n"),
			},
		},
		resource.TestStep{Config: config, ConfigPlanChecks: before(plancheck.ExpectEmptyPlan())},
	)
}

func TestBucketMountWhoseContainerIsLostMeanwhileFails(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	var id string

	b.runWriteOnly(append(
		b.withStore(&id),
		resource.TestStep{
			PreConfig:   func() { b.beforeNext("/mount", func() { b.local.Kill(id) }) },
			Config:      b.config(b.oneMount(`mount_path = "data"`)),
			ExpectError: regexp.MustCompile(`Container was replaced meanwhile`),
		},
		resource.TestStep{Config: b.config(b.oneMount(`mount_path = "other"`))},
	)...)
}

func TestBucketMountInUseCannotBeDestroyed(t *testing.T) {
	b := anyBridge(t)
	var id string

	b.runWriteOnly(append(
		b.withStore(&id),
		resource.TestStep{Config: b.config(b.oneMount(`mount_path = "data"`))},
		resource.TestStep{
			PreConfig:   func() { b.inside(id, "cd data; sleep 1000 > /dev/null 2>&1 & echo $! > /tmp/holder") },
			Config:      b.config(oneSandbox),
			ExpectError: regexp.MustCompile(`(?s)Bucket cannot be unmounted.*busy.*end\s+the\s+process`),
		},
		resource.TestStep{
			PreConfig: func() {
				b.inside(id, "kill $(cat /tmp/holder); while [ -e /proc/$(cat /tmp/holder)/cwd/ ]; do sleep 0.05; done")
			},
			Config:           b.config(oneSandbox),
			ConfigPlanChecks: before(action(mount, plancheck.ResourceActionDestroy)),
		},
	)...)
}
