package localbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mountRequest is a valid body of POST .../mount. It holds no credentials:
// nothing here needs them, so nothing here can leak them.
type mountRequest struct {
	source         string // bucket, or name of a binding
	binding        bool
	path           string
	endpoint       string
	prefix         *string
	readOnly       bool
	hasCredentials bool
	proxied        bool // options.credentialProxy
	s3fsOptions    []string
}

// mount answers POST /v1/sandbox/:id/mount. What the published bridge would
// mount with s3fs is an empty file system here, but a real mount point.
func (b *Bridge) mount(w http.ResponseWriter, r *request) {
	fields, ok := readObject(w, r)
	if !ok {
		return
	}
	request, complaint := parseMount(fields)
	if complaint != "" {
		sendInvalid(w, complaint)
		return
	}
	if err := b.mountBucket(r, request); err != nil {
		sendError(w, http.StatusBadGateway, codeMount, "mount failed: "+err.Error())
		return
	}
	sendOK(w)
}

// unmount answers POST /v1/sandbox/:id/unmount.
func (b *Bridge) unmount(w http.ResponseWriter, r *request) {
	fields, ok := readObject(w, r)
	if !ok {
		return
	}
	path, complaint := mountPath(fields)
	if complaint == "" {
		if path = urlPath(path); path == "/" {
			complaint = "mountPath must not resolve to / (filesystem root)"
		}
	}
	if complaint != "" {
		sendInvalid(w, complaint)
		return
	}
	if err := r.unmountBucket(path); err != nil {
		sendError(w, http.StatusBadGateway, codeUnmount, "unmount failed: "+err.Error())
		return
	}
	sendOK(w)
}

// readObject reads a JSON body, and answers where the Worker would already fail.
func readObject(w http.ResponseWriter, r *request) (fields map[string]any, ok bool) {
	var body any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		sendInvalid(w, "Invalid JSON body")
		return nil, false
	}
	if body == nil {
		sendCrash(w)
		return nil, false
	}
	fields, _ = body.(map[string]any)
	return fields, true
}

func mountPath(fields map[string]any) (path, complaint string) {
	path, _ = fields["mountPath"].(string)
	switch {
	case path == "":
		return "", "mountPath must be a non-empty string"
	case !strings.HasPrefix(path, "/"):
		return "", "mountPath must be an absolute path (start with /)"
	}
	return path, ""
}

// urlPath is what becomes of an unmount path in a file URL. Characters that
// need escaping there come out escaped, so such a mount is not found again.
func urlPath(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	var out strings.Builder
	for i := range len(path) {
		if b := path[i]; b <= ' ' || b >= 0x7f || strings.IndexByte("\"<>`{}^", b) >= 0 {
			fmt.Fprintf(&out, "%%%02X", b)
		} else {
			out.WriteByte(b)
		}
	}
	return resolveDots(out.String())
}

var (
	bucketName  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)
	bindingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const missingCredentials = "No credentials found. Set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY " +
	"or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY environment variables, or pass explicit credentials in options."

// mountBucket checks what the sandbox itself checks, and mounts
// (OBSERVED.md, j).
func (b *Bridge) mountBucket(r *request, m mountRequest) error {
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("InvalidMountConfigError: "+format, args...)
	}
	if m.prefix != nil && !strings.HasPrefix(*m.prefix, "/") {
		return invalid(`Prefix must start with '/': "%s"`, *m.prefix)
	}
	if m.binding {
		if !slices.Contains(b.cfg.Bindings, m.source) {
			return invalid(`R2 binding "%s" not found in Worker env. Ensure the binding name matches `+
				`the bucket binding configured in wrangler.jsonc.`, m.source)
		}
		if !bindingName.MatchString(m.source) {
			return invalid(`Invalid R2 binding name: "%s".`, m.source)
		}
	} else {
		if endpoint, err := url.Parse(m.endpoint); err != nil || endpoint.Scheme == "" || endpoint.Host == "" {
			return invalid(`Invalid endpoint URL: "%s". Must be a valid HTTP(S) URL.`, m.endpoint)
		}
		if !bucketName.MatchString(m.source) {
			return invalid(`Invalid bucket name: "%s".`, m.source)
		}
	}
	if r.broken {
		return errors.New(interrupted("commands.execute"))
	}
	state := &r.container.state
	state.mu.Lock()
	defer state.mu.Unlock()
	if other, used := state.mounts[m.path]; used {
		return invalid(`Mount path "%s" is already in use by bucket "%s".`, m.path, other)
	}
	if !m.binding && !m.hasCredentials {
		return fmt.Errorf("MissingCredentialsError: %s", missingCredentials)
	}
	if m.binding || m.proxied {
		for _, option := range m.s3fsOptions {
			if name, _, _ := strings.Cut(option, "="); name == "passwd_file" || name == "url" {
				return invalid(`s3fs option "%s" cannot be overridden for this mount`, name)
			}
		}
	}
	target := withPath("/mount", m.path) + fmt.Sprintf("&readonly=%t", m.readOnly)
	resp, err := r.container.call(r.operation(), http.MethodPut, target, nil)
	if err != nil {
		return fmt.Errorf("S3FSMountError: S3FS mount failed: %w", err)
	}
	state.mounts[m.path] = m.source
	return resp.Body.Close()
}

func (r *request) unmountBucket(path string) error {
	if r.broken {
		return errors.New(interrupted("commands.execute"))
	}
	state := &r.container.state
	state.mu.Lock()
	defer state.mu.Unlock()
	if _, mounted := state.mounts[path]; !mounted {
		return fmt.Errorf("InvalidMountConfigError: No active mount found at path: %s", path)
	}
	resp, err := r.container.call(r.operation(), http.MethodDelete, withPath("/mount", path), nil)
	if err != nil {
		return fmt.Errorf("BucketUnmountError: fusermount -u failed (exit 1): %w", err)
	}
	delete(state.mounts, path)
	return resp.Body.Close()
}
