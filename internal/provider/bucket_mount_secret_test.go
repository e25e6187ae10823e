package provider_test

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// Neither what works nor what fails shows the keys of a bucket, however much is
// logged: not on the screen, in plan and state, or in the bridge's log.
func TestBucketMountKeysAreNowhere(t *testing.T) {
	b := localBridge(t, localbridge.Config{})
	mount := func(name string, attributes ...string) string {
		return mountBlock(name, append(append(attributes, `bucket = "bucket"`, `endpoint = "https://s3.example"`), keys...)...)
	}
	const variables = `
		variable "access_key" {
		  type      = string
		  ephemeral = true
		}
		variable "secret_key" {
		  type      = string
		  ephemeral = true
		}`

	works := variables + oneSandbox + mount("test", `mount_path = "data"`)
	c := b.cli(works)
	c.env = append(c.env, "TF_LOG=TRACE", "TF_VAR_access_key="+accessKey, "TF_VAR_secret_key="+secretKey)

	outputs := []string{
		c.must("plan", "-out=plan"), c.must("show", "-json", "plan"), c.must("apply", "plan"), c.must("plan"),
		readFile(t, filepath.Join(c.dir, "plan")), readFile(t, filepath.Join(c.dir, "terraform.tfstate")),
	}

	main := readFile(t, filepath.Join(c.dir, "main.tf"))
	for name, attribute := range map[string]string{
		"occupied": `mount_path = "data"`,
		"refused":  `mount_path = "/nowhere"`,
		"invalid":  `mount_path = "/"`,
	} {
		c.write("main.tf", main+mount(name, attribute))
		output, err := c.try("apply", "-auto-approve")
		if err == nil {
			t.Errorf("%s: apply succeeded", name)
		}
		outputs = append(outputs, output)
	}
	c.write("main.tf", main)
	outputs = append(outputs, c.must("apply", "-auto-approve", "-replace="+"cloudflaresandbox_bucket_mount.test"), readFile(t, filepath.Join(c.dir, "terraform.tfstate")))

	traces := []string{}
	for _, key := range []string{accessKey, secretKey} {
		traces = append(traces, key, url.QueryEscape(key), url.PathEscape(key),
			base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)))
	}
	for i, output := range append(outputs, b.local.CommandLog()...) {
		for line := range strings.SplitSeq(output, "\n") {
			if err := lacksAny(line, traces...); err != nil {
				t.Errorf("output %d: %v", i, err)
			}
		}
	}
	if !strings.Contains(outputs[0], "[TRACE]") {
		t.Error("there is no trace")
	}
}
