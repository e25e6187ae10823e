package bridge

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// mountBody is what the bridge's mount route takes.
type mountBody struct {
	Bucket    string       `json:"bucket,omitempty"`
	Binding   string       `json:"binding,omitempty"`
	MountPath string       `json:"mountPath"`
	Options   mountOptions `json:"options"`
}

type mountOptions struct {
	Endpoint        string            `json:"endpoint,omitempty"`
	ReadOnly        bool              `json:"readOnly"`
	Prefix          string            `json:"prefix,omitempty"`
	Credentials     map[string]string `json:"credentials,omitempty"`
	Options         []string          `json:"s3fsOptions"`
	CredentialProxy bool              `json:"credentialProxy,omitempty"`
}

// mountBucket asks for a mount, once. The option fsname makes s3fs name it in the kernel's table.
func (c *Client) mountBucket(ctx context.Context, id string, m MountRequest, source string) error {
	content := mountBody{
		Bucket: m.Bucket, Binding: m.Binding, MountPath: m.Path,
		Options: mountOptions{
			Endpoint: m.Endpoint, ReadOnly: m.ReadOnly, Prefix: m.Prefix, CredentialProxy: m.CredentialProxy,
			Options: append(slices.Clone(m.Options), "fsname="+source),
		},
	}
	r := request{method: http.MethodPost, path: sandboxPath(id) + "/mount"}
	if m.Credentials != nil {
		content.Options.Credentials = map[string]string{
			"accessKeyId": m.Credentials.AccessKeyID, "secretAccessKey": m.Credentials.SecretAccessKey,
		}
		r.secrets = []string{m.Credentials.AccessKeyID, m.Credentials.SecretAccessKey}
	}
	var err error
	if r.body, err = json.Marshal(content); err != nil {
		return err
	}
	return c.doOK(atMostOnce(ctx), r)
}

// unmountBucket asks to take down a mount that the bridge has made.
func (c *Client) unmountBucket(ctx context.Context, id, path string) error {
	body, err := json.Marshal(map[string]string{"mountPath": path})
	if err != nil {
		return err
	}
	r := request{method: http.MethodPost, path: sandboxPath(id) + "/unmount", body: body}
	return c.doOK(takeForAnswer(ctx, isUnmountError), r)
}

// isUnmountError recognises the bridge's own word that it cannot.
func isUnmountError(resp *http.Response) bool { return peekCode(resp) == codeUnmountError }
