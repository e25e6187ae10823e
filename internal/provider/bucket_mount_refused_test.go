package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// mountOf is a mount with these attributes and, unless they say otherwise, a
// path.
func mountOf(attributes ...string) string {
	if !strings.Contains(strings.Join(attributes, "\n"), "mount_path") {
		attributes = append(attributes, `mount_path = "data"`)
	}

	return fmt.Sprintf("resource \"cloudflaresandbox_bucket_mount\" \"test\" {\n%s\n%s}\n", set("sandbox_id", someID), lines(attributes))
}

func TestBucketMountRefusedByAPlan(t *testing.T) {
	const (
		bucket   = `bucket = "bucket"`
		endpoint = `endpoint = "https://s3.example"`
	)
	combination := "Invalid Attribute Combination"

	for name, c := range map[string]struct {
		config  string
		summary string
		at      string
	}{
		"nothing to mount":         {mountOf(), "Invalid Attribute Combination|Missing Attribute Configuration", `resource "cloudflaresandbox_bucket_mount"`},
		"bucket and binding":       {mountOf(bucket, endpoint, `binding = "DATA"`), combination, bucket},
		"bucket without endpoint":  {mountOf(bucket), combination, bucket},
		"endpoint without bucket":  {mountOf(`binding = "DATA"`, endpoint), combination, `binding = "DATA"`},
		"binding with a proxy":     {mountOf(`binding = "DATA"`, `credential_proxy = true`), combination, `credential_proxy = true`},
		"binding with keys":        {mountOf(`binding = "DATA"`, `access_key_id_wo = "a"`, `secret_access_key_wo = "b"`, `credentials_wo_version = 1`), combination, `binding = "DATA"`},
		"half of the keys":         {mountOf(bucket, endpoint, `access_key_id_wo = "a"`, `credentials_wo_version = 1`), combination, `access_key_id_wo = "a"`},
		"other half of the keys":   {mountOf(bucket, endpoint, `secret_access_key_wo = "b"`), combination, `secret_access_key_wo = "b"`},
		"keys without a version":   {mountOf(bucket, endpoint, `access_key_id_wo = "a"`, `secret_access_key_wo = "b"`), combination, `access_key_id_wo = "a"`},
		"version without keys":     {mountOf(bucket, endpoint, `credentials_wo_version = 1`), combination, `credentials_wo_version = 1`},
		"empty key":                {mountOf(bucket, endpoint, `access_key_id_wo = ""`, `secret_access_key_wo = "b"`, `credentials_wo_version = 1`), "Invalid access key id", `access_key_id_wo = ""`},
		"key with a newline":       {mountOf(bucket, endpoint, `access_key_id_wo = "a"`, `secret_access_key_wo = "b\n"`, `credentials_wo_version = 1`), "Invalid secret access key", `secret_access_key_wo = `},
		"bucket name":              {mountOf(`bucket = "Bucket"`, endpoint), "Invalid bucket name", `bucket = "Bucket"`},
		"bucket with a prefix":     {mountOf(`bucket = "bucket:/a"`, endpoint), "Invalid bucket name", `bucket = "bucket:/a"`},
		"binding name":             {mountOf(`binding = "1 DATA"`), "Invalid binding name", `binding = "1 DATA"`},
		"endpoint without scheme":  {mountOf(bucket, `endpoint = "s3.example"`), "Invalid endpoint", `endpoint = "s3.example"`},
		"endpoint with a password": {mountOf(bucket, `endpoint = "https://a:b@s3.example"`), "Invalid endpoint", `endpoint = `},
		"prefix":                   {mountOf(bucket, endpoint, `prefix = "reports"`), "Invalid prefix", `prefix = "reports"`},
		"the root":                 {mountOf(bucket, endpoint, `mount_path = "/"`), "Invalid mount path", `mount_path = "/"`},
		"the workspace":            {mountOf(bucket, endpoint, `mount_path = "/workspace"`), "Invalid mount path", `mount_path = "/workspace"`},
		"the temporary directory":  {mountOf(bucket, endpoint, `mount_path = "/tmp/"`), "Invalid mount path", `mount_path = "/tmp/"`},
		"the system":               {mountOf(bucket, endpoint, `mount_path = "/proc/x"`), "Invalid mount path", `mount_path = "/proc/x"`},
		"a path with a space":      {mountOf(bucket, endpoint, `mount_path = "a b"`), "Invalid mount path", `mount_path = "a b"`},
		"an empty path":            {mountOf(bucket, endpoint, `mount_path = ""`), "Invalid mount path", `mount_path = ""`},
		"option of the bridge":     {mountOf(bucket, endpoint, `s3fs_options = ["url=http://x"]`), "Invalid option of s3fs", `s3fs_options = `},
		"option of the provider":   {mountOf(bucket, endpoint, `s3fs_options = ["ro"]`), "Invalid option of s3fs", `s3fs_options = `},
		"two options in one":       {mountOf(bucket, endpoint, `s3fs_options = ["a,b"]`), "Invalid option of s3fs", `s3fs_options = `},
		"option of the proxy":      {mountOf(bucket, endpoint, `credential_proxy = true`, `s3fs_options = ["ahbe_conf=/x"]`), "Invalid option of s3fs", `s3fs_options = `},
	} {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.run(resource.TestStep{
				Config:      b.config(c.config),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`(?s)Error: (` + c.summary + `).*on terraform_plugin_test.tf line \d+.*` + regexp.QuoteMeta(c.at)),
			})
			if sent := b.sent(); sent != "" {
				t.Errorf("requests: %s", sent)
			}
		})
	}
}

// What the bridge says is shown at the attribute that it is about, with what to
// do.
func TestBucketMountRefusedByTheBridge(t *testing.T) {
	withBucket := func(b *testBridge, attributes ...string) string {
		return oneSandbox + keyVariables + mountBlock("test", append(attributes, `bucket = "bucket"`, set("endpoint", b.store()))...)
	}

	for name, c := range map[string]struct {
		config func(b *testBridge) string
		want   string
	}{
		"no keys": {
			func(b *testBridge) string { return withBucket(b, `mount_path = "data"`) },
			`bucket = "bucket".*access_key_id_wo\s+and\s+secret_access_key_wo.*R2_ACCESS_KEY_ID`,
		},
		"unknown binding": {
			func(*testBridge) string {
				return oneSandbox + mountBlock("test", `mount_path = "data"`, `binding = "NONE"`)
			},
			`binding = "NONE".*r2_buckets`,
		},
		"proxy that the Worker lacks": {
			func(b *testBridge) string {
				return withBucket(b, append(keys, `mount_path = "data"`, `credential_proxy = true`)...)
			},
			`credential_proxy = true.*export\s+{\s+ContainerProxy`,
		},
		"directory that cannot be made": {
			func(b *testBridge) string { return withBucket(b, append(keys, `mount_path = "/nowhere"`)...) },
			`mount_path = "/nowhere".*has\s+to\s+be\s+empty`,
		},
		"directory that is not empty": {
			func(b *testBridge) string {
				return withBucket(b, append(keys, `mount_path = "data"`, `depends_on = [cloudflaresandbox_file.test]`)...) +
					fileBlock("test", `path = "data/file"`, `content = "x"`)
			},
			`mount_path = "data".*nonempty`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := anyBridge(t)
			b.runWriteOnly(resource.TestStep{
				Config:      b.config(c.config(b)),
				ExpectError: regexp.MustCompile(`(?s)Error: Bucket cannot be mounted.*on terraform_plugin_test.tf line \d+.*` + c.want),
			})
		})
	}
}

// The Worker of a binding has to export ContainerProxy, too.
func TestBucketMountOfABindingNeedsContainerProxy(t *testing.T) {
	b := localBridge(t, localbridge.Config{Bindings: []string{"DATA"}})

	b.run(resource.TestStep{
		Config:      b.config(oneSandbox + mountBlock("test", `mount_path = "data"`, `binding = "DATA"`)),
		ExpectError: regexp.MustCompile(`(?s)Bucket cannot be mounted.*binding = "DATA".*export\s+{\s+ContainerProxy`),
	})
}

// s3fs says what only it can know, where the bridge really mounts.
func TestBucketMountRefusedByTheStore(t *testing.T) {
	for bucket, want := range map[string]string{
		"missing": `bucket = "missing".*no\s+such\s+bucket`,
		"denied":  `access_key_id_wo.*may\s+read\s+and\s+list`,
	} {
		t.Run(bucket, func(t *testing.T) {
			b := anyBridge(t)
			if b.local != nil {
				t.Skip("the local bridge contacts no bucket")
			}
			var id string
			b.runWriteOnly(append(
				b.withStore(&id),
				resource.TestStep{
					Config:      b.config(strings.Replace(b.oneMount(`mount_path = "data"`), `bucket = "bucket"`, set("bucket", bucket), 1)),
					ExpectError: regexp.MustCompile(`(?s)Bucket cannot be mounted.*` + want),
				},
				resource.TestStep{Config: b.config(oneSandbox)},
			)...)
		})
	}
}
