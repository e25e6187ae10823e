package localbridge

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// bucketMount is a mount that the bridge has made. It says nothing of what is
// there now: a mount that a process in the sandbox takes down stays here.
type bucketMount struct {
	source   string // bucket with its prefix, or name of a binding
	binding  bool
	prefix   string
	readOnly bool
}

var (
	bucketName  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)
	bindingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const (
	missingCredentials = "No credentials found. Set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY " +
		"or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY environment variables, or pass explicit credentials in options."
	noContainerProxy = " mounts require exporting ContainerProxy from the Worker entrypoint"
)

// said is an error in the words of a program that this bridge stands for.
type said string

func (s said) Error() string { return string(s) }

func invalidMount(format string, args ...any) error {
	return fmt.Errorf("InvalidMountConfigError: "+format, args...)
}

// mountBucket checks what the sandbox itself checks, and mounts (OBSERVED.md, j).
//
// As with the published bridge, a request that fails takes down what is mounted
// at its path already, and forgets it: for a bucket with an endpoint. For a
// binding it only forgets, so that the mount stays and cannot be unmounted.
func (b *Bridge) mountBucket(r *request, m mountRequest) error {
	if m.prefix != nil && !strings.HasPrefix(*m.prefix, "/") {
		return invalidMount(`Prefix must start with '/': "%s"`, *m.prefix)
	}
	if m.binding && !slices.Contains(b.cfg.Bindings, m.source) {
		return invalidMount(`R2 binding "%s" not found in Worker env. Ensure the binding name matches `+
			`the bucket binding configured in wrangler.jsonc.`, m.source)
	}
	if r.broken {
		return errors.New(interrupted("commands.execute"))
	}
	state := &r.container.state
	state.mu.Lock()
	defer state.mu.Unlock()
	check, kind := b.checkEndpointMount, "Credential proxy bucket"
	if m.binding {
		check, kind = b.checkBindingMount, "R2 binding"
	}
	err := check(state.mounts, m)
	if err == nil && (m.binding || m.proxied) && !b.cfg.ContainerProxy {
		err = invalidMount("%s", kind+noContainerProxy)
	}
	if err == nil {
		err = r.mountFilesystem(m)
	}
	if err != nil {
		if !m.binding {
			_ = r.unmountFilesystem(m.path)
		}
		delete(state.mounts, m.path)
		return err
	}
	record := bucketMount{source: m.source, binding: m.binding, readOnly: m.readOnly}
	if m.prefix != nil {
		record.prefix = *m.prefix
		if !m.binding {
			record.source += ":" + record.prefix
		}
	}
	state.mounts[m.path] = record
	return nil
}

func (b *Bridge) checkEndpointMount(mounts map[string]bucketMount, m mountRequest) error {
	if endpoint, err := url.Parse(m.endpoint); err != nil || endpoint.Scheme == "" || endpoint.Host == "" {
		return invalidMount(`Invalid endpoint URL: "%s". Must be a valid HTTP(S) URL.`, m.endpoint)
	}
	if err := checkBucketName(bucketName, m, `Invalid bucket name: "%s". Bucket names must be 3-63 characters, lowercase `+
		`alphanumeric, dots, or hyphens, and cannot start/end with dots or hyphens.`); err != nil {
		return err
	}
	if err := checkPathFree(mounts, m.path); err != nil {
		return err
	}
	if !m.hasCredentials {
		return fmt.Errorf("MissingCredentialsError: %s", missingCredentials)
	}
	if m.proxied {
		return checkOptions(m.s3fsOptions, "credential proxy", "ahbe_conf", "use_path_request_style")
	}
	return nil
}

func (b *Bridge) checkBindingMount(mounts map[string]bucketMount, m mountRequest) error {
	if err := checkBucketName(bindingName, m, `Invalid R2 binding name: "%s". Binding names must start with a letter `+
		`or underscore and contain only letters, numbers, or underscores.`); err != nil {
		return err
	}
	if err := checkPathFree(mounts, m.path); err != nil {
		return err
	}
	if err := checkOptions(m.s3fsOptions, "R2 binding"); err != nil {
		return err
	}
	for path, other := range mounts {
		if !other.binding || other.source != m.source {
			continue
		}
		const differs = `R2 binding "%s" is already mounted at %s with a different %s. Mount the same binding only once, ` +
			`or use the same %s for additional mounts.`
		if prefix := m.prefix; prefix == nil && other.prefix != "" || prefix != nil && *prefix != other.prefix {
			return invalidMount(differs, m.source, path, "prefix", "prefix")
		}
		if other.readOnly != m.readOnly {
			return invalidMount(differs, m.source, path, "readOnly setting", "readOnly value")
		}
	}
	return nil
}

func checkBucketName(pattern *regexp.Regexp, m mountRequest, complaint string) error {
	if bucket, prefix, found := strings.Cut(m.source, ":"); found {
		return invalidMount("Bucket name cannot contain ':'. To mount a prefix, use the 'prefix' option:\n"+
			"  mountBucket('%s', '%s', { ...options, prefix: '%s' })", bucket, m.path, prefix)
	}
	if !pattern.MatchString(m.source) {
		return invalidMount(complaint, m.source)
	}
	return nil
}

func checkPathFree(mounts map[string]bucketMount, path string) error {
	if other, used := mounts[path]; used {
		return invalidMount(`Mount path "%s" is already in use by bucket "%s". Unmount the existing bucket first `+
			`or use a different mount path.`, path, other.source)
	}
	return nil
}

func checkOptions(options []string, kind string, more ...string) error {
	for _, option := range options {
		if name, _, _ := strings.Cut(option, "="); name == "passwd_file" || name == "url" || slices.Contains(more, name) {
			return invalidMount(`s3fs option "%s" cannot be overridden for %s mounts`, name, kind)
		}
	}
	return nil
}

// mountFilesystem does what s3fs would, but for the bucket.
func (r *request) mountFilesystem(m mountRequest) error {
	const failed = "S3FSMountError: S3FS mount failed: "
	if scheme, _, _ := strings.Cut(m.endpoint, ":"); !m.binding && scheme != "http" && scheme != "https" {
		return said(failed + "s3fs: option url has invalid format, missing http / https protocol")
	}
	name := "s3fs"
	for _, option := range m.s3fsOptions {
		if given, ok := strings.CutPrefix(option, "fsname="); ok {
			name = given
		}
	}
	target := withPath("/mount", m.path) + fmt.Sprintf("&readonly=%t&nonempty=%t&name=%s",
		m.readOnly, slices.Contains(m.s3fsOptions, "nonempty"), url.QueryEscape(name))
	resp, err := r.container.call(r.operation(), http.MethodPut, target, nil)
	if err != nil {
		var refused *agentError
		if errors.As(err, &refused) && refused.During == "s3fs" {
			return said(failed + refused.Message)
		}
		return fmt.Errorf(failed+"%w", err)
	}
	return resp.Body.Close()
}

// unmountBucket answers for what the bridge has mounted, and for nothing else.
func (r *request) unmountBucket(path string) error {
	if r.broken {
		return errors.New(interrupted("commands.execute"))
	}
	state := &r.container.state
	state.mu.Lock()
	defer state.mu.Unlock()
	if _, mounted := state.mounts[path]; !mounted {
		return invalidMount("No active mount found at path: %s", path)
	}
	if err := r.unmountFilesystem(path); err != nil {
		return fmt.Errorf("BucketUnmountError: fusermount -u failed (exit 1): %w", err)
	}
	delete(state.mounts, path)
	return nil
}

// unmountFilesystem does what fusermount would.
func (r *request) unmountFilesystem(path string) error {
	resp, err := r.container.call(r.operation(), http.MethodDelete, withPath("/mount", path), nil)
	if err == nil {
		return resp.Body.Close()
	}
	var refused *agentError
	if errors.As(err, &refused) && refused.During == "fusermount" {
		return said("fusermount: " + refused.Message)
	}
	return err
}

// DropMount takes down what is mounted at a path behind the bridge's back, as
// fusermount does in a sandbox of the published one. Commands in a sandbox of
// this bridge have no right to.
func (b *Bridge) DropMount(id, path string) error {
	c := b.pool.find(id)
	if c == nil {
		return fmt.Errorf("sandbox %s has no container", id)
	}
	return (&request{container: c}).unmountFilesystem(path)
}
