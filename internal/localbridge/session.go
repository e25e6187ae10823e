package localbridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Sessions are names here and nothing more: their shells are what makes them
// unreliable on the published bridge, and BRIDGE.md ("Do not use") tells
// clients to stay away from them. Session-Id on exec is checked and ignored.

var sessionPattern = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,128}$`)

// validSessionHeader checks the Session-Id header's form; an empty one counts
// as none.
func validSessionHeader(r *request) bool {
	id := r.Header.Get("Session-Id")
	return id == "" || sessionPattern.MatchString(id) && !strings.Contains(id, "..")
}

// createSession answers POST /v1/sandbox/:id/session (OBSERVED.md, h).
func (b *Bridge) createSession(w http.ResponseWriter, r *request) {
	var body any = map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		body = map[string]any{} // no body, or none that is JSON, is fine
	}
	if body == nil {
		sendCrash(w)
		return
	}
	if r.broken {
		sendError(w, http.StatusBadGateway, codeSession, "session create failed: "+interrupted("utils.createSession"))
		return
	}
	fields, _ := body.(map[string]any)
	id := fields["id"]
	if id == nil || id == "" {
		id = fmt.Sprintf("session-%d-%s", time.Now().UnixMilli(), randomHex(2))
	}
	name := string(marshal(id)) // 5 and "5" differ
	if id == "__DISABLE_SESSION__" {
		sendError(w, http.StatusBadGateway, codeSession,
			"session create failed: Session ID '__DISABLE_SESSION__' is reserved for internal use")
		return
	}
	state := &r.container.state
	state.mu.Lock()
	exists := state.sessions[name]
	state.sessions[name] = true
	state.mu.Unlock()
	if exists {
		sendError(w, http.StatusBadGateway, codeSession,
			fmt.Sprintf("session create failed: SessionAlreadyExistsError: Session '%s' already exists", jsText(id)))
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"id": id})
}

// sessionDeleted is the answer of DELETE .../session/:sid.
type sessionDeleted struct {
	Success   bool   `json:"success"`
	SessionID string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
}

// deleteSession answers DELETE /v1/sandbox/:id/session/:sid.
func (b *Bridge) deleteSession(w http.ResponseWriter, r *request, name string) {
	exists := false
	if !r.broken {
		state := &r.container.state
		state.mu.Lock()
		key := string(marshal(name))
		exists = state.sessions[key]
		delete(state.sessions, key)
		state.mu.Unlock()
	}
	if !exists {
		sendError(w, http.StatusBadGateway, codeSession,
			fmt.Sprintf("session delete failed: SandboxError: Session '%s' not found", name))
		return
	}
	sendJSON(w, http.StatusOK, sessionDeleted{
		Success: true, SessionID: name, Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
	})
}
