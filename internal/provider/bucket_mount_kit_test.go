package provider_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

const (
	mount = "cloudflaresandbox_bucket_mount.test"

	accessKey = "bucket-access-key-4717"
	secretKey = "bucket/secret+key=4718"
)

// mountBlock is a bucket mount in the sandbox of oneSandbox.
func mountBlock(name string, attributes ...string) string {
	return fmt.Sprintf("resource \"cloudflaresandbox_bucket_mount\" %q {\n  sandbox_id = cloudflaresandbox_sandbox.test.id\n  %s\n}\n",
		name, strings.Join(attributes, "\n  "))
}

// keys are the credentials of a mount, by variables that no plan has.
var keys = []string{
	`access_key_id_wo = var.access_key`, `secret_access_key_wo = var.secret_key`, `credentials_wo_version = 1`,
}

// oneMount is a sandbox with a bucket of a store that it can reach.
func (b *testBridge) oneMount(attributes ...string) string {
	return oneSandbox + keyVariables + mountBlock("test", append(append(attributes, `bucket = "bucket"`, set("endpoint", b.store())), keys...)...)
}

var keyVariables = `
	variable "access_key" {
	  type      = string
	  ephemeral = true
	  default   = ` + hcl(accessKey) + `
	}
	variable "secret_key" {
	  type      = string
	  ephemeral = true
	  default   = ` + hcl(secretKey) + `
	}
`

// store is the endpoint of a bucket store. The local bridge contacts none; with
// another one it is a program in the sandbox itself, see withStore.
func (b *testBridge) store() string {
	if b.local != nil {
		return "https://s3.example"
	}

	return "http://127.0.0.1:9000"
}

// withStore is the step that makes the sandbox, and starts the bucket store in
// it where the bridge really mounts.
func (b *testBridge) withStore(id *string) []resource.TestStep {
	return []resource.TestStep{
		b.onlySandbox(id),
		{
			PreConfig: func() { b.startStore(*id) },
			Config:    b.config(oneSandbox),
		},
	}
}

func (b *testBridge) startStore(sandboxID string) {
	if b.local != nil {
		return
	}
	b.t.Helper()

	if b.inside(sandboxID, "type -P s3fs python3 > /dev/null && ls /dev/fuse || true") == "" {
		b.t.Skip("needs s3fs, /dev/fuse and python3 in the sandbox, to have a bucket")
	}

	program, err := os.ReadFile("../bridge/testdata/s3.py")
	if err != nil {
		b.t.Fatal(err)
	}
	b.inside(sandboxID, "cat > /tmp/s3.py <<'END'\n"+string(program)+"END\n"+
		"setsid python3 /tmp/s3.py 9000 > /dev/null 2>&1 < /dev/null &\n"+
		"until (: < /dev/tcp/127.0.0.1/9000) 2> /dev/null; do sleep 0.05; done\n")
}

// dropMount takes a mount down from within.
func (b *testBridge) dropMount(sandboxID, path string) {
	b.t.Helper()

	if b.local == nil {
		b.inside(sandboxID, "fusermount -u "+path)
		return
	}
	if err := b.local.DropMount(sandboxID, path); err != nil {
		b.t.Fatal(err)
	}
}

func mountValue(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(mount, tfjsonpath.New(attribute), check)
}

// mountTable says which of these paths are mounts, and how.
func mountTable(paths ...string) string {
	return "while read -r _ _ _ _ point options _; do case $point in " + strings.Join(paths, "|") +
		") echo $point ${options%%,*};; esac; done < /proc/self/mountinfo"
}
