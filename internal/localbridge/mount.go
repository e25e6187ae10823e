package localbridge

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	path = strings.NewReplacer(`\`, "/", "\t", "", "\n", "", "\r", "").Replace(strings.TrimSpace(path))
	if rest, isHost := strings.CutPrefix(path, "//"); isHost {
		_, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
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

// resolveDots removes "." and ".." segments, also percent-encoded ones.
func resolveDots(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	out := segments[:0:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, segment)
		}
	}
	return "/" + strings.Join(out, "/")
}
