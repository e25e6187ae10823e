package provider_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func TestDirectoryArrivesAsItIs(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "file", "deep/er/file=\x00\xff\n", "empty/", "link->deep", "dangling->no/where", "run.sh", "none=",
		"-dash", "with space", "new\nline", "it's", `quo"te`, `back\slash`, "grüße", "e\u0301", "latin1-\xe9", ".hidden", "$HOME", "*")
	source.chmod(t, 0o755, "run.sh")
	source.chmod(t, fs.ModeSticky|0o777, "empty")
	source.chmod(t, fs.ModeSetuid|fs.ModeSetgid|0o750, "none")
	source.chmod(t, 0o440, "file")
	config := b.config(oneDirectory(source))
	var sandboxID string

	files := map[string]knownvalue.Check{}
	for key, content := range map[string]string{
		"file": "file", "deep/er/file": "\x00\xff\n", "run.sh": "run.sh", "none": "", "-dash": "-dash", "with space": "with space",
		"new\nline": "new\nline", "it's": "it's", `quo"te`: `quo"te`, `back\slash`: `back\slash`, "grüße": "grüße", ".hidden": ".hidden", "$HOME": "$HOME", "*": "*",
		// What Terraform would change is quoted.
		`"e\u0301"`: "e\u0301", `"latin1-\xe9"`: "latin1-\xe9",
	} {
		files[key] = knownvalue.StringExact(sum([]byte(content)))
	}

	b.run(
		resource.TestStep{
			Config: config,
			ConfigPlanChecks: before(
				action(directory, plancheck.ResourceActionCreate),
				plancheck.ExpectKnownValue(directory, tfjsonpath.New("files"), knownvalue.MapExact(files)),
				plancheck.ExpectKnownValue(directory, tfjsonpath.New("sha256"), knownvalue.NotNull()),
				plancheck.ExpectUnknownValue(directory, tfjsonpath.New("revision")),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				statecheck.ExpectKnownValue(directory, tfjsonpath.New("files"), knownvalue.MapExact(files)),
				b.expectInside(&sandboxID, "cd app; stat -c '%A %N' file deep/er empty link dangling run.sh none",
					"-r--r----- 'file'\ndrwxr-xr-x 'deep/er'\ndrwxrwxrwt 'empty'\nlrwxrwxrwx 'link' -> 'deep'\nlrwxrwxrwx 'dangling' -> 'no/where'\n"+
						"-rwxr-xr-x 'run.sh'\n-rwsr-s--- 'none'\n"),
				b.expectInside(&sandboxID, "find app -mindepth 1 -printf x | wc -c; find /workspace /tmp -name '.cloudflaresandbox-*'; ls -A /workspace", "21\napp\n"),
			},
		},
		b.stable(config),
	)
}

func TestDirectoryUpdateSendsOnlyWhatChanged(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "large="+string(randomBytes(1, 1<<20)), "changed=1", "gone", "old/gone", "old/link->x", "mode", "turned/file", "became")
	config := b.config(oneDirectory(source))
	var sandboxID, revision string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID), capture(directory, "revision", &revision)},
		},
		resource.TestStep{
			PreConfig: func() {
				b.inside(sandboxID, "cd app; touch -d 2001-01-01 large mode; echo mine > mine; mkdir theirs; echo mine > theirs/mine; echo mine > turned-not")
				source.add(t, "changed=2", "new/er/file")
				source.remove(t, "gone", "old", "turned", "became")
				source.add(t, "turned", "became/file")
				source.chmod(t, 0o600, "mode")
				b.forget()
			},
			Config: config,
			ConfigPlanChecks: before(
				action(directory, plancheck.ResourceActionUpdate),
				changes(directory, "files", "revision", "sha256"),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(directory, tfjsonpath.New("revision"), knownvalue.StringFunc(different(&revision))),
				b.expectInside(&sandboxID, listed("app"),
					"d 755 ./became\nf 644 ./became/file\nf 644 ./changed\nf 644 ./large\nf 644 ./mine\nf 600 ./mode\nd 755 ./new\nd 755 ./new/er\n"+
						"f 644 ./new/er/file\nd 755 ./theirs\nf 644 ./theirs/mine\nf 644 ./turned\nf 644 ./turned-not\n"),
				b.expectInside(&sandboxID, "cd app; cat changed mine turned became/file; stat -c %Y large mode", "2mine\nturnedbecame/file978307200\n978307200\n"),
				onState(func(*tfjson.State) error {
					if uploaded, _ := b.transferred(); uploaded > 50<<10 {
						return fmt.Errorf("%d bytes went to the bridge", uploaded)
					}
					return nil
				}),
			},
		},
		b.stable(config),
		resource.TestStep{
			// And only that is taken away which was put there.
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, listed("app"), "f 644 ./mine\nd 755 ./theirs\nf 644 ./theirs/mine\nf 644 ./turned-not\n"),
			},
		},
	)
}

func TestDirectoryDriftIsRepairedInPlace(t *testing.T) {
	drifts := map[string]string{
		"changed":                         "echo changed > file",
		"changed at its size":             "echo -n FILE > file",
		"removed":                         "rm file",
		"chmod-ed":                        "chmod 600 file",
		"directory chmod-ed":              "chmod 700 deep",
		"link elsewhere":                  "ln -sfn /etc link",
		"link made a file":                "rm link; echo x > link",
		"file made a link":                "mv file /tmp/kept; ln -s /tmp/kept file",
		"file made an empty directory":    "rm file; mkdir file",
		"directory made a file":           "rm -r deep; echo x > deep",
		"directory made a link":           "mv deep /tmp/deep; ln -s /tmp/deep deep",
		"file made a pipe":                "rm file; mkfifo file",
		"empty directory removed":         "rmdir empty",
		"all removed":                     "rm -r ./*",
		"itself removed":                  "cd ..; rm -r app",
		"itself made a link":              "cd ..; mv app /tmp/app; ln -s /tmp/app app",
		"itself made a file":              "cd ..; rm -r app; echo x > app",
		"made unreadable":                 "chmod 0 file",
		"itself closed":                   "chmod 0 .",
		"directory closed":                "chmod 0 deep",
		"the provider's records are lost": "rm -r /tmp/.cloudflaresandbox/trees; echo x > file",
	}

	for name, drift := range drifts {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			source := newLocalDirectory(t, "file", "deep/er/file", "empty/", "link->deep")
			config := b.config(oneDirectory(source))
			var sandboxID string

			what := plancheck.ResourceActionUpdate
			if name == "itself removed" {
				what = plancheck.ResourceActionCreate
			}

			b.run(
				resource.TestStep{
					Config:            config,
					ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
				},
				resource.TestStep{
					PreConfig:        func() { b.inside(sandboxID, "cd app\n"+drift) },
					Config:           config,
					ConfigPlanChecks: before(action(sandbox, plancheck.ResourceActionNoop), action(directory, what)),
					ConfigStateChecks: []statecheck.StateCheck{
						b.expectInside(&sandboxID, listed("/workspace"),
							"d 755 ./app\nd 755 ./app/deep\nd 755 ./app/deep/er\nf 644 ./app/deep/er/file\nd 755 ./app/empty\nf 644 ./app/file\nl ./app/link deep\n"),
						b.expectInside(&sandboxID, "cat app/file app/deep/er/file", "filedeep/er/file"),
						// What a link led to was not touched.
						b.expectInside(&sandboxID, "cat /tmp/kept /tmp/deep/er/file /tmp/app/file 2>/dev/null || true", keptBy[name]),
					},
				},
				b.stable(config),
			)
		})
	}
}

// keptBy is what each of the drifts has moved out of the way.
var keptBy = map[string]string{
	"file made a link": "file", "directory made a link": "deep/er/file", "itself made a link": "file",
}

func TestDirectoryInAllOfTheWorkspace(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "file", "deep/file")
	source.chmod(t, 0o700, ".")
	config := b.config(oneSandbox + directoryBlock("test", set("source", string(source)), `path = "/workspace"`))
	var sandboxID string

	b.run(
		resource.TestStep{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				b.expectInside(&sandboxID, listed("/workspace"), "d 755 ./deep\nf 644 ./deep/file\nf 644 ./file\n"),
			},
		},
		b.stable(config),
		resource.TestStep{
			Config:            b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "ls -A /workspace", "")},
		},
	)
}

func TestDirectoryLeavesOutWhatIsExcluded(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "kept", "a.log", "deep/a.log", "node_modules/x", "deep/node_modules/x/y", "build/out", "secret.key")
	if err := syscall.Mkfifo(source.at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	var sandboxID string
	config := func(globs string) string {
		return b.config(oneDirectory(source, "excludes = ["+globs+"]"))
	}

	b.run(
		resource.TestStep{
			Config: config(`"**/*.log", "**/node_modules", "pipe", "build/**", "*.{key,pem}"`),
			ConfigStateChecks: []statecheck.StateCheck{
				capture(sandbox, "id", &sandboxID),
				b.expectInside(&sandboxID, listed("app"), "d 755 ./deep\nf 644 ./kept\n"),
			},
		},
		resource.TestStep{
			// What is excluded from now on was put there, and goes.
			Config:           config(`"pipe", "deep", "kept", "node_modules"`),
			ConfigPlanChecks: before(action(directory, plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, listed("app"), "f 644 ./a.log\nd 755 ./build\nf 644 ./build/out\nf 644 ./secret.key\n"),
			},
		},
		resource.TestStep{
			// Another way to say the same is recorded, and nothing is written.
			Config: config(`"pipe", "deep/**", "kept*", "node_modules", "none"`),
			ConfigPlanChecks: before(
				action(directory, plancheck.ResourceActionUpdate),
				changes(directory, "excludes"),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("")},
		},
	)
}

func TestDirectoryOfAThousandFilesTakesFewRequests(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t)
	for i := range 1000 {
		source.add(t, fmt.Sprintf("module-%02d/a file with a rather long name, number %04d.txt", i/20, i))
	}
	config := b.config(oneDirectory(source))

	b.run(
		resource.TestStep{
			Config:           config,
			ConfigPlanChecks: before(b.sentAtPlan("")),
			ConfigStateChecks: []statecheck.StateCheck{
				// Of these, two are the sandbox's.
				b.sentAtState("1 POST sandbox, 2 POST sandbox/:id/exec, 1 PUT sandbox/:id/file"),
			},
		},
		resource.TestStep{
			PreConfig: b.forget,
			Config:    config,
			ConfigPlanChecks: before(
				plancheck.ExpectEmptyPlan(),
				b.sentAtPlan("2 POST sandbox/:id/exec"), // one for the sandbox, one for the directory
			),
		},
		resource.TestStep{
			PreConfig: func() { source.add(t, "new") },
			Config:    config,
			ConfigPlanChecks: before(
				action(directory, plancheck.ResourceActionUpdate),
				b.forgetAtPlan(),
			),
			ConfigStateChecks: []statecheck.StateCheck{b.sentAtState("2 POST sandbox/:id/exec, 1 PUT sandbox/:id/file")},
		},
	)
}

func TestDirectoryOfARecycledContainerIsPlannedAgain(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	source := newLocalDirectory(t, "file", "deep/file")
	config := b.config(oneDirectory(source) + directoryBlock("all", set("source", string(source)), `path = "/workspace"`))
	var sandboxID string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
		},
		resource.TestStep{
			PreConfig: func() { b.local.Kill(sandboxID) },
			Config:    config,
			ConfigPlanChecks: before(
				action(directory, plancheck.ResourceActionCreate),
				action("cloudflaresandbox_directory.all", plancheck.ResourceActionUpdate),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(sandbox, tfjsonpath.New("id"), knownvalue.StringFunc(same(&sandboxID))),
				b.expectInside(&sandboxID, "cat app/file app/deep/file file deep/file", "filedeep/filefiledeep/file"),
			},
		},
		b.stable(config),
	)
}

func TestDirectoryRefreshThatMayNotWakeStartsNothing(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	config := b.config(oneDirectory(newLocalDirectory(t, "file")), noWake)
	var id string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &id)},
		},
		b.asleepUnproven(config, &id),
		b.asleepProven(config, directory, b.expectInside(&id, "cat app/file", "file")),
	)
}

func TestDirectoryThatCannotBeReadIsAnErrorAtSource(t *testing.T) {
	sources := map[string]struct {
		prepare func(t *testing.T) string
		message string
	}{
		"missing": {func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "none") }, `there\s+is\s+no\s+local\s+directory`},
		"a file":  {func(t *testing.T) string { t.Helper(); return localFile(t, nil) }, `is\s+not\s+a\s+directory`},
		"a pipe in it": {func(t *testing.T) string {
			t.Helper()
			d := newLocalDirectory(t, "file")
			if err := syscall.Mkfifo(d.at("pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			return string(d)
		}, `neither\s+a\s+file\s+nor`},
		"unreadable file": {func(t *testing.T) string {
			t.Helper()
			if os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			d := newLocalDirectory(t, "file")
			d.chmod(t, 0, "file")
			return string(d)
		}, `permission\s+denied`},
		"a staging name": {func(t *testing.T) string { t.Helper(); return string(newLocalDirectory(t, ".cloudflaresandbox/x")) }, `stages`},
	}

	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config:      b.config(oneSandbox + directoryBlock("test", set("source", source.prepare(t)), `path = "/workspace"`)),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?is)Local directory cannot be.*source = .*` + source.message),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

func TestDirectoryRefusesGlobsThatNeverMatch(t *testing.T) {
	for _, glob := range []string{"[", "a{", "", "/abs", "./here", "dir/", "../up", "a//b", "a/./b"} {
		t.Run(glob, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config:      b.config(oneDirectory(newLocalDirectory(t), "excludes = ["+hcl(glob)+"]")),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?s)Invalid glob.*excludes`),
			})
		})
	}
}

func TestDirectoryChangedAfterThePlanIsNotWritten(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "file=1", "other")
	config := b.config(oneDirectory(source))
	var sandboxID string

	b.run(
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{capture(sandbox, "id", &sandboxID)},
		},
		resource.TestStep{
			PreConfig: func() { source.add(t, "file=2", "new") },
			Config:    config,
			ConfigPlanChecks: before(onPlan(func(*tfjson.Plan) error {
				return source.addOne("other=changed")
			})),
			// Terraform itself sees first that the plan does not hold any more.
			ExpectError: regexp.MustCompile(`(?s)Local directory changed after the plan|inconsistent`),
		},
		resource.TestStep{
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{onPlan(func(*tfjson.Plan) error {
				return b.expectInside(&sandboxID, "cat app/*", "1other")(nil)
			})}},
		},
		resource.TestStep{
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{b.expectInside(&sandboxID, "cat app/*", "2newchanged")},
		},
	)
}

func TestDirectoryInTheWayOfAFileIsAnErrorAtPathAndChangesNothing(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "taken", "new")
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig:   func() { b.inside(sandboxID, "mkdir -p app/taken; echo mine > app/taken/mine") },
			Config:      b.config(oneDirectory(source)),
			ExpectError: regexp.MustCompile(`(?s)File operation refused.*path\s+= "app".*app/taken.*is\s+a\s+directory`),
		},
		resource.TestStep{
			Config: b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, listed("/workspace"), "d 755 ./app\nd 755 ./app/taken\nf 644 ./app/taken/mine\n"),
			},
		},
	)
}

func TestDirectoryNeverWritesThroughPlantedLinks(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "deep/er/file", "file", "link->deep")
	var sandboxID string

	b.run(
		b.onlySandbox(&sandboxID),
		resource.TestStep{
			PreConfig: func() {
				b.inside(sandboxID, "mkdir -p app /tmp/out/er; echo kept > /tmp/out/er/file; ln -s /tmp/out app/deep; ln -s /tmp/out/er/file app/file")
			},
			Config: b.config(oneDirectory(source)),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "find /tmp/out -type f -exec cat {} +; cat app/deep/er/file", "kept\ndeep/er/file"),
			},
		},
		resource.TestStep{
			// Nor is anything removed through one.
			PreConfig: func() { b.inside(sandboxID, "rm -r app/deep; ln -s /tmp/out app/deep") },
			Config:    b.config(oneSandbox),
			ConfigStateChecks: []statecheck.StateCheck{
				b.expectInside(&sandboxID, "cat /tmp/out/er/file; readlink app/deep", "kept\n/tmp/out\n"),
			},
		},
	)
}

func TestDirectoryReplacedByPathAndSandboxAndNotByTheirSpelling(t *testing.T) {
	b := anyBridge(t)
	source := string(newLocalDirectory(t, "file"))
	config := func(path string) string {
		return b.config(oneSandbox + directoryBlock("test", set("source", source), set("path", path)))
	}

	b.run(
		resource.TestStep{Config: config("app")},
		resource.TestStep{Config: config("/workspace/x/../app/"), ConfigPlanChecks: before(plancheck.ExpectEmptyPlan())},
		resource.TestStep{Config: config("other"), ConfigPlanChecks: before(action(directory, plancheck.ResourceActionReplace))},
	)
}

func TestDirectoryOfUnknownSourceIsPlannedAsUnknown(t *testing.T) {
	b := anyBridge(t)
	source := newLocalDirectory(t, "file")

	b.run(resource.TestStep{
		Config: b.config(`resource "terraform_data" "source" { input = ` + hcl(string(source)) + ` }` + oneSandbox +
			directoryBlock("test", "source = terraform_data.source.output", `path = "app"`)),
		ConfigPlanChecks: before(
			plancheck.ExpectUnknownValue(directory, tfjsonpath.New("files")),
			plancheck.ExpectUnknownValue(directory, tfjsonpath.New("sha256")),
		),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(directory, tfjsonpath.New("files"), knownvalue.MapSizeExact(1)),
		},
	})
}

func TestDirectoryImportSaysWhyNot(t *testing.T) {
	b := anyBridge(t)

	b.run(resource.TestStep{
		Config:        b.config(oneDirectory(newLocalDirectory(t, "file"))),
		ResourceName:  directory,
		ImportState:   true,
		ImportStateId: "abc/workspace/app",
		ExpectError:   regexp.MustCompile(`(?s)cannot be imported.*Declare it`),
	})
}
