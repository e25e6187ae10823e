package localbridge

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// request is one request for a sandbox, past all checks, with its container.
type request struct {
	*http.Request
	id        string
	container *container
	rest      string // decoded path after /v1/sandbox/:id
	broken    bool   // the container has just crashed, see FailNext
}

// idPattern is checked before the key is (BRIDGE.md, Routes).
var idPattern = regexp.MustCompile(`^[a-z2-7]{1,128}$`)

// serve does what the Worker does before its routes: it finds the path, checks
// id and key, and hands everything outside /v1 to a handler that says OK
// (OBSERVED.md, n).
func (b *Bridge) serve(w http.ResponseWriter, r *http.Request) {
	// A body that nobody reads would reset the connection under the answer.
	defer func() { _, _ = io.CopyN(io.Discard, r.Body, 2*maxUpload) }()
	raw, ok := rawPath(r)
	if !ok {
		sendPlain(w, http.StatusBadRequest, "text/plain", "invalid URI")
		return
	}
	path := decodeName(raw)
	switch {
	case raw == "/health" && methodOf(r) == http.MethodGet:
		sendOK(w)
	case raw == "/v1/sandbox", strings.HasPrefix(raw, "/v1/sandbox/"):
		b.serveSandbox(w, r, raw, path)
	case raw == "/v1/pool", strings.HasPrefix(raw, "/v1/pool/"):
		b.servePool(w, r, path)
	case raw == "/v1", strings.HasPrefix(raw, "/v1/"), raw == "/health":
		sendNotFound(w)
	default:
		sendPlain(w, http.StatusOK, "text/plain;charset=UTF-8", "OK")
	}
}

// serveSandbox checks id and key, in this order, and finds the container:
// every authorised request below an id starts one, a 404 included.
func (b *Bridge) serveSandbox(w http.ResponseWriter, r *http.Request, raw, path string) {
	rawID, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(raw, "/v1/sandbox"), "/"), "/")
	if rawID != "" && !idPattern.MatchString(rawID) {
		sendInvalid(w, "Invalid sandbox ID format")
		return
	}
	if !b.authorized(r, true) {
		sendError(w, http.StatusUnauthorized, codeUnauthorized, "Unauthorized")
		return
	}
	if rawID == "" {
		if raw == "/v1/sandbox" && r.Method == http.MethodPost {
			sendJSON(w, http.StatusOK, map[string]string{"id": newID()})
			return
		}
		sendNotFound(w)
		return
	}
	if b.pool.failNext(rawID) {
		b.route(w, &request{Request: r, id: rawID, rest: strings.TrimPrefix(path, "/v1/sandbox/"+rawID), broken: true})
		return
	}
	c, err := b.pool.get(r.Context(), rawID)
	if err != nil {
		var full capacityError
		if errors.As(err, &full) {
			sendError(w, http.StatusServiceUnavailable, codeCapacity, err.Error())
		} else {
			sendError(w, http.StatusBadGateway, codePool, "pool error: "+err.Error())
		}
		return
	}
	defer c.state.leave()
	b.route(w, &request{Request: r, id: rawID, container: c, rest: strings.TrimPrefix(path, "/v1/sandbox/"+rawID)})
}

// route dispatches below /v1/sandbox/:id. There is no 405: an unknown method
// is an unknown route.
func (b *Bridge) route(w http.ResponseWriter, r *request) {
	first, arg, deep := strings.Cut(strings.TrimPrefix(r.rest, "/"), "/")
	route := methodOf(r.Request) + " " + first
	switch {
	case r.rest == "" && r.Method == http.MethodDelete:
		b.destroy(w, r)
	case route == "PUT file":
		b.putFile(w, r, arg)
	case route == "GET file":
		b.getFile(w, r, arg)
	case !deep:
		b.plainRoute(w, r, route)
	case arg != "" && !strings.Contains(arg, "/"):
		if whole, err := url.PathUnescape(arg); err == nil && utf8.ValidString(whole) {
			arg = whole // the router decodes parameters once more, and fully
		}
		b.argRoute(w, r, route, arg)
	default:
		sendNotFound(w)
	}
}

// plainRoute serves the routes of one word.
func (b *Bridge) plainRoute(w http.ResponseWriter, r *request, route string) {
	switch route {
	case "POST exec":
		b.exec(w, r)
	case "GET running":
		sendJSON(w, http.StatusOK, map[string]bool{"running": !r.broken})
	case "GET pty":
		b.pty(w, r)
	case "POST persist":
		b.persist(w, r)
	case "POST hydrate":
		b.hydrate(w, r)
	case "POST mount":
		b.mount(w, r)
	case "POST unmount":
		b.unmount(w, r)
	case "POST session":
		b.createSession(w, r)
	default:
		sendNotFound(w)
	}
}

// argRoute serves the routes of a word and an argument.
func (b *Bridge) argRoute(w http.ResponseWriter, r *request, route, arg string) {
	switch route {
	case "DELETE session":
		b.deleteSession(w, r, arg)
	case "POST tunnel":
		b.openTunnel(w, r, arg)
	case "DELETE tunnel":
		b.closeTunnel(w, r, arg)
	default:
		sendNotFound(w)
	}
}

// methodOf takes HEAD for GET, as the Worker's router does; net/http drops the body.
func methodOf(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// authorized checks the bearer key. The scheme's name may have any case on
// sandbox routes, not on the pool's (OBSERVED.md, n).
func (b *Bridge) authorized(r *http.Request, anyCase bool) bool {
	if b.cfg.NoKey {
		return true
	}
	header := r.Header.Get("Authorization")
	scheme, key, _ := strings.Cut(header, " ")
	if scheme != "Bearer" && !(anyCase && strings.EqualFold(scheme, "Bearer")) {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(key), []byte(b.cfg.Key)) == 1
}

// destroy ends the container that this request may just have started.
func (b *Bridge) destroy(w http.ResponseWriter, r *request) {
	if !r.broken {
		b.releaseNames(r.container)
	}
	b.pool.drop(r.id)
	w.WriteHeader(http.StatusNoContent)
}

// servePool answers the pool's routes; none of them starts a container for an id.
func (b *Bridge) servePool(w http.ResponseWriter, r *http.Request, path string) {
	if !b.authorized(r, false) {
		sendError(w, http.StatusUnauthorized, codeUnauthorized, "Unauthorized")
		return
	}
	switch methodOf(r) + " " + path {
	case "GET /v1/pool/stats":
		sendJSON(w, http.StatusOK, b.pool.stats())
	case "POST /v1/pool/prime":
		b.pool.prime()
		sendOK(w)
	case "POST /v1/pool/shutdown-prewarmed":
		b.pool.shutdownWarm()
		sendOK(w)
	default:
		sendNotFound(w)
	}
}

// pty exists only to refuse: terminals are not part of this bridge.
func (b *Bridge) pty(w http.ResponseWriter, r *request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		sendInvalid(w, "WebSocket upgrade required")
		return
	}
	sendError(w, http.StatusBadGateway, codeExec, "terminal failed: localbridge has no terminals")
}

// newID mints an id of 26 characters out of 16 random bytes.
func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails, by its documentation
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// operation is the context of what a request does in its container. It does
// not end when the client leaves: the command runs on (BRIDGE.md, Life of a
// container).
func (r *request) operation() context.Context { return r.container.operation() }
