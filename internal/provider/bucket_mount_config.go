package provider

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// request is what the configuration asks of the bridge. It checks once more what
// was unknown when the plan was made.
func (m *bucketMountModel) request(diags *diag.Diagnostics) bridge.MountRequest {
	diags.Append(m.checkTogether()...)

	request := bridge.MountRequest{
		Path:            m.MountPath.ValueString(),
		Bucket:          m.Bucket.ValueString(),
		Endpoint:        m.Endpoint.ValueString(),
		Binding:         m.Binding.ValueString(),
		Prefix:          m.Prefix.ValueString(),
		ReadOnly:        m.ReadOnly.ValueBool(),
		CredentialProxy: m.CredentialProxy.ValueBool(),
		Options:         stringsOf(m.S3FSOptions),
	}
	if !m.AccessKeyIDWO.IsNull() {
		request.Credentials = &bridge.MountCredentials{
			AccessKeyID:     m.AccessKeyIDWO.ValueString(),
			SecretAccessKey: m.SecretAccessKeyWO.ValueString(),
		}
	}

	return request
}

// checkTogether refuses what depends on more than one attribute. Null and
// unknown pass.
func (m *bucketMountModel) checkTogether() diag.Diagnostics {
	var diags diag.Diagnostics

	if m.CredentialProxy.ValueBool() && !m.Binding.IsNull() && !m.Binding.IsUnknown() {
		diags.AddAttributeError(path.Root("credential_proxy"), "Invalid Attribute Combination",
			"A binding is mounted without credentials, so there is nothing to keep out of the sandbox. Leave credential_proxy out.")
	}

	for i, option := range m.S3FSOptions.Elements() {
		text, ok := option.(types.String)
		if !ok || text.IsNull() || text.IsUnknown() {
			continue
		}
		if err := bridge.ValidateMountOption(text.ValueString(), m.CredentialProxy.ValueBool()); err != nil {
			diags.AddAttributeError(path.Root("s3fs_options").AtListIndex(i), "Invalid option of s3fs", sentence(err))
		}
	}

	return diags
}

// stringsOf is the known strings of a list.
func stringsOf(list types.List) []string {
	texts := make([]string, 0, len(list.Elements()))
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok {
			texts = append(texts, text.ValueString())
		}
	}

	return texts
}

// mountSteps are what to do about a bucket that cannot be mounted.
var mountSteps = map[bridge.MountReason]string{
	bridge.MountOccupied: "It was left as it is. Choose another mount_path, or unmount what is there: in the sandbox, with fusermount -u.",
	bridge.MountNoCredentials: "Set access_key_id_wo and secret_access_key_wo, or give the bridge's Worker the secrets R2_ACCESS_KEY_ID and " +
		"R2_SECRET_ACCESS_KEY (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY).",
	bridge.MountNoBinding: "Add it to r2_buckets in the bridge's wrangler.jsonc and deploy the bridge, or correct the name: it is that of the " +
		"binding, not of the bucket.",
	bridge.MountNoProxy: "Credential proxies and R2 bindings both need it. Add `export { ContainerProxy } from \"@cloudflare/sandbox\"` to the source " +
		"of the bridge's Worker and deploy it, or mount the bucket by endpoint and keys, without a credential proxy.",
	bridge.MountUnreachable: "Check endpoint; it has to be reachable from inside the sandbox. For R2 it is https://ACCOUNT_ID.r2.cloudflarestorage.com.",
	bridge.MountDenied:      "Check the keys, that they are for this endpoint, and that they may read and list this bucket.",
	bridge.MountNoBucket:    "Check bucket, endpoint and prefix.",
	bridge.MountBadDirectory: "The directory is made if the sandbox's user may do so; one that exists has to be empty. Choose a path below /workspace, " +
		"/home/sandbox or /tmp, or add \"nonempty\" to s3fs_options to cover what is there.",
	bridge.MountBadOption: "See `s3fs --help` in the sandbox for the options of its version.",
	bridge.MountNoS3FS:    "Use an image that has s3fs and /dev/fuse, as the published one does.",
	bridge.MountStays:     "If it is busy, end the process in the sandbox whose working directory or open files are in it, and run Terraform again.",
	bridge.MountVanished:  "Run Terraform again.",
	bridge.MountFailed:    "Run Terraform again. If it stays so, add \"dbglevel=info\" to s3fs_options to learn more.",
}

// mountAttributes are what a reason is about, the first that is set.
var mountAttributes = map[bridge.MountReason][]string{
	bridge.MountOccupied:      {"mount_path"},
	bridge.MountNoCredentials: {"bucket"},
	bridge.MountNoBinding:     {"binding"},
	bridge.MountNoProxy:       {"binding", "credential_proxy"},
	bridge.MountUnreachable:   {"endpoint"},
	bridge.MountDenied:        {"access_key_id_wo", "bucket"},
	bridge.MountNoBucket:      {"bucket"},
	bridge.MountBadDirectory:  {"mount_path"},
	bridge.MountBadOption:     {"s3fs_options"},
	bridge.MountStays:         {"mount_path"},
	bridge.MountVanished:      {"mount_path"},
}

func mountSummary(reason bridge.MountReason) string {
	if reason == bridge.MountStays {
		return "Bucket cannot be unmounted"
	}

	return "Bucket cannot be mounted"
}

// addFailure is the common one, at the attribute that the error is about.
func (m *bucketMountModel) addFailure(diags *diag.Diagnostics, attempt string, err error) {
	set := map[string]bool{
		"binding": !m.Binding.IsNull(), "access_key_id_wo": !m.AccessKeyIDWO.IsNull(),
		"bucket": true, "credential_proxy": true, "endpoint": true, "mount_path": true, "s3fs_options": true,
	}
	at := path.Empty()

	var mount *bridge.MountError
	if errors.As(err, &mount) {
		for _, name := range mountAttributes[mount.Reason] {
			if set[name] {
				at = path.Root(name)
				break
			}
		}
	}

	addFailure(diags, at, attempt, err)
}
