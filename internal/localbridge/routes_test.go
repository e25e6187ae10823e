package localbridge

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestChecksComeInTheRecordedOrder: id before key before everything else
// (OBSERVED.md, n and e+f).
func TestChecksComeInTheRecordedOrder(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const (
		badID        = `{"error":"Invalid sandbox ID format","code":"invalid_request"}`
		unauthorized = `{"error":"Unauthorized","code":"unauthorized"}`
		notFound     = "404 Not Found"
	)
	good := "Authorization: Bearer " + testKey
	for _, row := range []struct {
		method, target, auth string
		status               int
		body                 string // "*": whatever
	}{
		{"GET", "/health", "", 200, `{"ok":true}`},
		{"GET", "/health/", "", 200, "OK"},
		{"GET", "/", "", 200, "OK"},
		{"GET", "/nosuch", "", 200, "OK"},
		{"GET", "//v1/sandbox/a/running", "", 200, "OK"},
		{"GET", "/v1", good, 404, notFound},
		{"GET", "/v1/nosuch", good, 404, notFound},
		{"GET", "/v1/nosuch", "", 404, notFound},
		{"POST", "/v1/sandbox/", good, 404, notFound},
		{"GET", "/v1/sandbox", good, 404, notFound},
		{"GET", "/v1/sandbox", "", 401, unauthorized},
		{"POST", "/v1/sandbox", "", 401, unauthorized},
		{"POST", "/v1/sandbox", "Authorization: Bearer wrong", 401, unauthorized},
		{"POST", "/v1/sandbox", "Authorization: Bearer  " + testKey, 401, unauthorized},
		{"POST", "/v1/sandbox", "Authorization: " + testKey, 401, unauthorized},
		{"POST", "/v1/sandbox", "authorization: bearer " + testKey, 200, "*"},
		{"POST", "/v1/sandbox", "Authorization: BEARER " + testKey + " ", 200, "*"},
		{"POST", "/v1/sandbox?x=1", good, 200, "*"},
		{"GET", "/v1/sandbox/ABC/running", "", 400, badID},
		{"GET", "/v1/sandbox/has1digit/running", good, 400, badID},
		{"GET", "/v1/sandbox/with-dash/running", good, 400, badID},
		{"GET", "/v1/sandbox/a%62c/running", good, 400, badID},
		{"GET", "/v1/sandbox/" + strings.Repeat("q", 129) + "/running", good, 400, badID},
		{"GET", "/v1/sandbox//running", good, 404, notFound},
		{"GET", "/v1/sandbox/a/running", "", 401, unauthorized},
		{"GET", "/v1/sandbox/a/running", good, 200, `{"running":true}`},
		{"GET", "/v1/sandbox/" + strings.Repeat("q", 128) + "/running", good, 200, `{"running":true}`},
		{"GET", "/v1/sandbox/a/running/", good, 404, notFound},
		{"POST", "/v1/sandbox/a/running", good, 404, notFound},
		{"GET", "/v1/sandbox/a", good, 404, notFound},
		{"GET", "/v1/sandbox/a/", good, 404, notFound},
		{"DELETE", "/v1/sandbox/a/", good, 404, notFound},
		{"GET", "/v1/sandbox/a/exec", good, 404, notFound},
		{"POST", "/v1/sandbox/a/exec/", good, 404, notFound},
		{"GET", "/v1/sandbox/a/session", good, 404, notFound},
		{"GET", "/v1/sandbox/a/tunnel/8080", good, 404, notFound},
		{"POST", "/v1/sandbox/a/tunnel/", good, 404, notFound},
		{"DELETE", "/v1/sandbox/a/file/workspace/x", good, 404, notFound},
		{"POST", "/v1/sandbox/a/file/workspace/x", good, 404, notFound},
		{"OPTIONS", "/v1/sandbox/a/file/workspace/x", good, 404, notFound},
		{"GET", "/v1/sandbox/a/pty", good, 400, `{"error":"WebSocket upgrade required","code":"invalid_request"}`},
		{"POST", "/v1/pool/prime", good, 200, `{"ok":true}`},
		{"POST", "/v1/pool/shutdown-prewarmed", good, 200, `{"ok":true}`},
		{"GET", "/v1/pool/stats", "Authorization: bearer " + testKey, 401, unauthorized},
		{"GET", "/v1/pool/stats", "", 401, unauthorized},
		{"GET", "/v1/pool/nosuch", good, 404, notFound},
		{"GET", "/v1/pool", good, 404, notFound},
		{"GET", "/v1/pool", "", 401, unauthorized},
		{"GET", "/v1/sandbox/a/../a/running", good, 404, notFound},
		{"GET", "/v1/sandbox/a/%72unning", good, 200, `{"running":true}`},
		{"GET", "/v1/sandbox/a/file/workspace/<b>", good, 400, "invalid URI"},
		{"GET", "/v1/sandbox/a/file/workspace/\xff", good, 400, "invalid URI"},
	} {
		headers := []string{row.auth}
		if row.auth == "" {
			headers = nil
		}
		got := c.raw(row.method, row.target, "", headers...)
		if got.status != row.status || row.body != "*" && got.body != row.body {
			t.Errorf("%s %s (%s): got %s, want %d %s", row.method, row.target, row.auth, got, row.status, row.body)
		}
	}
}

func TestPostSandboxOnlyMintsAnID(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	got := c.do("POST", "/v1/sandbox", "whatever")
	if !regexp.MustCompile(`^\{"id":"[a-z2-7]{26}"\}$`).MatchString(got.body) {
		t.Error(got)
	}
	if kind := got.header.Get("Content-Type"); kind != "application/json" {
		t.Error("Content-Type", kind)
	}
	if c.bridge.ContainersStarted() != 0 {
		t.Error("a container was started")
	}
}

func TestABridgeWithoutKeyChecksNone(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{NoKey: true})
	if c.bridge.Key() != "" {
		t.Error("it has a key")
	}
	for _, target := range []string{"/v1/pool/stats", "/v1/sandbox/a/running"} {
		if got := c.raw("GET", target, ""); got.status != http.StatusOK {
			t.Error(target, got)
		}
	}
}

func TestPoolStats(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{MaxInstances: 2})
	wantAnswer(t, "capped", c.do("GET", "/v1/pool/stats", ""), 200, `{"warm":0,"assigned":0,"total":0,`+
		`"config":{"warmTarget":0,"refreshInterval":10000,"maxInstances":2,"scaleBatchSize":5},"maxInstances":2}`)
	c.exec("a", "true")
	c.bridge.SetMaxInstances(0)
	wantAnswer(t, "unlimited", c.do("GET", "/v1/pool/stats", ""), 200, `{"warm":0,"assigned":1,"total":1,`+
		`"config":{"warmTarget":0,"refreshInterval":10000,"maxInstances":0,"scaleBatchSize":5},"maxInstances":null}`)
}

// TestSessions: names without a shell (session.go).
func TestSessions(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const path = "/v1/sandbox/a/session"
	wantAnswer(t, "create", c.do("POST", path, `{"id":"s1","cwd":"/tmp"}`), 200, `{"id":"s1"}`)
	wantAnswer(t, "again", c.do("POST", path, `{"id":"s1"}`), 502,
		failure("session create failed: SessionAlreadyExistsError: Session 's1' already exists", codeSession))
	wantAnswer(t, "null", c.do("POST", path, `null`), 500, "Internal Server Error")
	wantAnswer(t, "number", c.do("POST", path, `{"id":5}`), 200, `{"id":5}`)
	for _, body := range []string{"", "garbage", "{}", "[]", `{"id":""}`} {
		if got := c.do("POST", path, body); !strings.HasPrefix(got.body, `{"id":"session-`) {
			t.Errorf("%q: %s", body, got)
		}
	}
	wantAnswer(t, "bad header", c.do("POST", "/v1/sandbox/a/exec", argvBody("true"), "Session-Id: bad/id"), 400,
		failure("Invalid session ID format", codeInvalid))
	wantAnswer(t, "bad header on PUT", c.do("PUT", "/v1/sandbox/a/file/workspace/x", "x", "Session-Id: a..b"), 400,
		failure("Invalid session ID format", codeInvalid))
	wantAnswer(t, "unknown session on PUT", c.do("PUT", "/v1/sandbox/a/file/workspace/x", "x", "Session-Id: nosuch"), 200, `{"ok":true}`)
	if got := c.do("DELETE", path+"/s1", ""); !strings.HasPrefix(got.body, `{"success":true,"sessionId":"s1","timestamp":"`) {
		t.Error(got)
	}
	wantAnswer(t, "delete again", c.do("DELETE", path+"/s1", ""), 502,
		failure("session delete failed: SandboxError: Session 's1' not found", codeSession))
}

// TestHandlerBehindAnotherServer: a prefix stripped in front does not change
// how names are decoded.
func TestHandlerBehindAnotherServer(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	front := httptest.NewServer(http.StripPrefix("/front", c.bridge.Handler()))
	defer front.Close()
	request, err := http.NewRequestWithContext(t.Context(), "PUT", front.URL+"/front"+fileRoute+"/a%3Bb%20c;d", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+testKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := c.exec("a", "find", "-type", "f"); got.stdout != "./a%3Bb c;d\n" {
		t.Error(response.Status, got)
	}
}
