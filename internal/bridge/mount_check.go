package bridge

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// What can be at a mount's path. The bridge finds a mount again only by the letters that a URL leaves as they are.
var mountPathPattern = regexp.MustCompile(`^[A-Za-z0-9._~@+=:,/-]+$`)

// CleanMountPath resolves a mount's path, absolute (anywhere in the container) or relative to /workspace. It refuses
// where nothing can be mounted without harm.
func CleanMountPath(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("a path must not be empty")
	case !mountPathPattern.MatchString(p):
		return "", fmt.Errorf("%q cannot be mounted on: the path may have letters, digits and . _ ~ @ + = : , - only, "+
			"since the bridge could not find others again to unmount them", p)
	case len(p) > maxPathLength:
		return "", fmt.Errorf("a path can have %d bytes, this one has %d", maxPathLength, len(p))
	}
	if !path.IsAbs(p) {
		p = Workspace + "/" + p
	}
	p = path.Clean(p)
	for _, own := range []string{"/", Workspace, "/tmp"} {
		if p == own {
			return "", fmt.Errorf("%s itself cannot be mounted on: the sandbox would lose what it works with; "+
				"choose a directory in it", own)
		}
	}
	for _, root := range []string{"/proc", "/sys", "/dev", stagingRoot, scriptsHome} {
		if p == root || strings.HasPrefix(p, root+"/") {
			return "", fmt.Errorf("%s is needed by the system or by the provider itself; choose another directory", root)
		}
	}
	return p, nil
}

var (
	bucketPattern  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)
	bindingPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// ValidateBucketName tells whether the bridge would take the name of a bucket.
func ValidateBucketName(name string) error {
	if !bucketPattern.MatchString(name) {
		return fmt.Errorf("%q is not a bucket's name: it has up to 63 lower-case letters, digits, dots and hyphens, with a letter "+
			"or digit first and last; a part of the bucket is named by a prefix", name)
	}
	return nil
}

// ValidateBindingName tells whether the bridge would take the name of an R2 binding.
func ValidateBindingName(name string) error {
	if !bindingPattern.MatchString(name) {
		return fmt.Errorf("%q is not the name of a binding: it has letters, digits and underscores, and no digit first", name)
	}
	return nil
}

// ValidateMountEndpoint tells whether s3fs could use the URL. It shows nothing of a URL that may hold a secret.
func ValidateMountEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return errors.New(`an endpoint is a URL that starts with "https://" or "http://" and names a host`)
	case u.User != nil:
		return errors.New("an endpoint must not hold a user name or password; credentials go into their own attributes")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New(`an endpoint must not have a query ("?") or fragment ("#")`)
	}
	return validateOptionText("an endpoint", endpoint)
}

// ValidateMountPrefix tells whether the bridge would take the prefix.
func ValidateMountPrefix(prefix string) error {
	if len(prefix) < 2 || !strings.HasPrefix(prefix, "/") {
		return fmt.Errorf(`%q is not a prefix: it starts with "/" and names a part of the bucket, like "/reports"`, prefix)
	}
	if strings.ContainsFunc(prefix, isControl) {
		return errors.New("a prefix cannot have control characters")
	}
	return nil
}

// ownMountOptions are those that have another place, or would be overridden in silence.
var ownMountOptions = map[string]string{
	"passwd_file": "the bridge sets it, from the credentials",
	"url":         "the bridge sets it, from the endpoint",
	"ro":          "set read_only instead",
	"rw":          "set read_only instead",
	"fsname":      "the provider sets it, to recognise its mount",
}

// proxyMountOptions are those that the bridge sets for a credential proxy.
var proxyMountOptions = []string{"ahbe_conf", "use_path_request_style"}

// ValidateMountOption tells whether an option of s3fs, like "max_stat_cache_size=1000", can be given.
func ValidateMountOption(option string, credentialProxy bool) error {
	name, _, _ := strings.Cut(option, "=")
	if name == "" || strings.HasPrefix(name, "-") {
		return fmt.Errorf("%q is not an option of s3fs: write a name, or name=value, without -o", option)
	}
	if why, own := ownMountOptions[name]; own {
		return fmt.Errorf("the option %s cannot be given: %s", name, why)
	}
	if credentialProxy && slices.Contains(proxyMountOptions, name) {
		return fmt.Errorf("the option %s cannot be given with a credential proxy: the bridge sets it", name)
	}
	return validateOptionText("an option", option)
}

// validateOptionText refuses what would be taken for the start of another option.
func validateOptionText(what, text string) error {
	if strings.ContainsRune(text, ',') || strings.ContainsFunc(text, isControl) {
		return fmt.Errorf("%s cannot have commas or control characters; several options are several elements", what)
	}
	return nil
}

// ValidateAccessKeyID tells whether the text can stand in the file that s3fs reads credentials from, one line with
// colons between its parts. Neither this error nor that of [ValidateSecretAccessKey] shows the value.
func ValidateAccessKeyID(key string) error {
	if strings.ContainsRune(key, ':') {
		return errors.New("an access key id has no colon")
	}
	return ValidateSecretAccessKey(key)
}

// ValidateSecretAccessKey tells whether the text can be a secret access key.
func ValidateSecretAccessKey(key string) error {
	switch {
	case key == "":
		return errors.New("a key must not be empty")
	case strings.TrimSpace(key) != key:
		return errors.New("a key must not start or end with white space (perhaps a newline); trimspace() removes it")
	case strings.ContainsFunc(key, isControl):
		return errors.New("a key cannot have control characters")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// validate refuses what the bridge would refuse or misunderstand, before any request.
func (m *MountRequest) validate() error {
	var errs []error
	if m.Binding != "" {
		errs = append(errs, ValidateBindingName(m.Binding))
		if m.Bucket != "" || m.Endpoint != "" || m.Credentials != nil || m.CredentialProxy {
			errs = append(errs, errors.New("a binding is mounted without bucket, endpoint and credentials"))
		}
	} else {
		errs = append(errs, ValidateBucketName(m.Bucket), ValidateMountEndpoint(m.Endpoint))
	}
	if m.Prefix != "" {
		errs = append(errs, ValidateMountPrefix(m.Prefix))
	}
	for _, option := range m.Options {
		errs = append(errs, ValidateMountOption(option, m.CredentialProxy))
	}
	if m.Credentials != nil {
		errs = append(errs, ValidateAccessKeyID(m.Credentials.AccessKeyID), ValidateSecretAccessKey(m.Credentials.SecretAccessKey))
	}
	return errors.Join(errs...)
}
