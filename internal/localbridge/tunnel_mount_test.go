package localbridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// TestTunnels: ports, names, and that the URL leads to the port (OBSERVED.md, i).
func TestTunnels(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{TunnelZone: "example.com"})
	invalidPort := failure("Invalid port", codeInvalid)
	for _, port := range []string{"80", "3000", "70000", "0", "-1", "1023", "abc", "8080.5", "0x", "NaN", "Infinity", "8_080", "8080x"} {
		wantAnswer(t, port, c.do("POST", "/v1/sandbox/a/tunnel/"+port, ""), 400, invalidPort)
		wantAnswer(t, port, c.do("DELETE", "/v1/sandbox/a/tunnel/"+port, ""), 400, invalidPort)
	}
	for port, number := range map[string]int{"1024": 1024, "65535": 65535, "8787": 8787, "0x1F90": 8080, "0o17777": 8191, "1e4": 10000, "%208081": 8081} {
		got := c.do("POST", "/v1/sandbox/a/tunnel/"+port, "")
		if !strings.Contains(got.body, fmt.Sprintf(`"port":%d,`, number)) {
			t.Error(port, got)
		}
		wantAnswer(t, port, c.do("DELETE", "/v1/sandbox/a/tunnel/"+port, ""), 204, "")
		wantAnswer(t, port, c.do("DELETE", "/v1/sandbox/a/tunnel/"+port, ""), 204, "")
	}
	for body, want := range map[string]string{
		`{"name":5}`:           "name must be a string when provided",
		`notjson`:              "Invalid JSON body",
		`{"name":"Bad Name!"}`: "Tunnel name 'Bad Name!' is not a valid DNS label. Use lowercase letters, digits, and internal hyphens only (no dots, no leading/trailing hyphens).",
	} {
		wantAnswer(t, body, c.do("POST", "/v1/sandbox/a/tunnel/8080", body), 400, failure(want, codeInvalid))
	}

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.URL.Path) }))
	defer service.Close()
	_, port, _ := net.SplitHostPort(service.Listener.Addr().String())
	first := c.do("POST", "/v1/sandbox/a/tunnel/"+port, `{"name":"app"}`)
	var info tunnelInfo
	if err := json.Unmarshal([]byte(first.body), &info); err != nil {
		t.Fatal(err, first)
	}
	if info.ID == "" || info.Hostname == "" || info.CreatedAt == "" || info.Name != "app" || strconv.Itoa(info.Port) != port {
		t.Errorf("%+v", info)
	}
	if got := c.bridge.Tunnels("a"); len(got) != 1 || strconv.Itoa(got[0]) != port || c.bridge.Tunnels("b") != nil {
		t.Errorf("tunnels to ports %d", got)
	}
	wantAnswer(t, "get or create", c.do("POST", "/v1/sandbox/a/tunnel/"+port, `{"name":"app"}`), 200, first.body)
	wantAnswer(t, "other options", c.do("POST", "/v1/sandbox/a/tunnel/"+port, ""), 502, failure(fmt.Sprintf("tunnel failed: Tunnel on port %[1]s "+
		"was created with different options. Call destroy(%[1]s) before changing tunnel options.", port), codeTunnel))
	response, err := http.Get(info.URL + "/page")
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if string(page) != "hello from /page" {
		t.Errorf("%s", page)
	}
	open := c.bridge.pool.find("a").state.tunnels[info.Port]
	c.bridge.Kill("a")
	<-open.closed // or the test's time limit says so
	if response, err := http.Get(info.URL); err == nil {
		response.Body.Close()
		t.Error("the tunnel outlives its container")
	}
}

const goodCredentials = `"credentials":{"accessKeyId":"a","secretAccessKey":"s"}`

// TestMountChecks: OBSERVED.md, j.
func TestMountChecks(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{`x`, 400, "Invalid JSON body"},
		{`{"mountPath":"/workspace/m","options":{}}`, 400, "binding must be a non-empty string for R2 binding mounts"},
		{`{"bucket":"b","mountPath":"/workspace/m"}`, 400, "options must be an object"},
		{`{"bucket":"","mountPath":"/workspace/m","options":{}}`, 400, "bucket must be a non-empty string"},
		{`{"mountPath":"","options":{}}`, 400, "mountPath must be a non-empty string"},
		{`{"mountPath":"rel","options":{}}`, 400, "mountPath must be an absolute path (start with /)"},
		{`{"bucket":"b","mountPath":"/m","options":[]}`, 400, "options must be an object"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":5}}`, 400, "options.endpoint must be a string when provided"},
		{`{"binding":"","mountPath":"/m","options":{}}`, 400, "binding must be a non-empty string when provided"},
		{`{"binding":5,"mountPath":"/m","options":{}}`, 400, "binding must be a string when provided"},
		{`{"binding":"X","mountPath":"/m","options":{"endpoint":"https://e"}}`, 400, "Provide either binding or options.endpoint, not both"},
		{`{"binding":"X","mountPath":"/m","options":{}}`, 502, `mount failed: InvalidMountConfigError: R2 binding "X" not found in Worker env. ` +
			`Ensure the binding name matches the bucket binding configured in wrangler.jsonc.`},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e","readOnly":"yes"}}`, 400, "options.readOnly must be a boolean when provided"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e","s3fsOptions":"x"}}`, 400, "options.s3fsOptions must be an array of strings when provided"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e","prefix":5}}`, 400, "options.prefix must be a string when provided"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e","credentialProxy":1}}`, 400, "options.credentialProxy must be a boolean when provided"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e","credentials":{"accessKeyId":"a"}}}`, 400, "options.credentials must include string accessKeyId and secretAccessKey"},
		{`{"bucket":"b","mountPath":"/m","options":{"endpoint":"https://e"}}`, 502, "mount failed: MissingCredentialsError: No credentials found. " +
			"Set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY environment variables, or pass explicit credentials in options."},
		{
			`{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"notaurl",` + goodCredentials + `}}`, 502,
			`mount failed: InvalidMountConfigError: Invalid endpoint URL: "notaurl". Must be a valid HTTP(S) URL.`,
		},
	} {
		code := codeInvalid
		if row.status == 502 {
			code = codeMount
		}
		wantAnswer(t, row.body, c.do("POST", "/v1/sandbox/a/mount", row.body), row.status, failure(row.want, code))
	}
	for body, want := range map[string]string{
		`{"mountPath":"/"}`:     "mountPath must not resolve to / (filesystem root)",
		`{"mountPath":"/a/.."}`: "mountPath must not resolve to / (filesystem root)",
		`{"mountPath":"rel"}`:   "mountPath must be an absolute path (start with /)",
		`{}`:                    "mountPath must be a non-empty string",
		`x`:                     "Invalid JSON body",
	} {
		wantAnswer(t, body, c.do("POST", "/v1/sandbox/a/unmount", body), 400, failure(want, codeInvalid))
	}
	for path, looked := range map[string]string{
		"/workspace/a b": "/workspace/a%20b", "/workspace/m/": "/workspace/m/", "/workspace/%2e%2e/m": "/m", "//x/y": "/y", `/w/a\tb`: "/w/ab",
	} {
		wantAnswer(t, path, c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"`+path+`"}`), 502,
			failure("unmount failed: InvalidMountConfigError: No active mount found at path: "+looked, codeUnmount))
	}
	wantAnswer(t, "unmount of nothing", c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"/workspace/m"}`), 502,
		failure("unmount failed: InvalidMountConfigError: No active mount found at path: /workspace/m", codeUnmount))
	for _, route := range []string{"mount", "unmount"} {
		wantAnswer(t, route+" null", c.do("POST", "/v1/sandbox/a/"+route, "null"), 500, "Internal Server Error")
	}
}

func TestAMountIsAMountPoint(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{Bindings: []string{"BUCKET"}, ContainerProxy: true})
	for name, body := range map[string]string{
		"/workspace/m": `{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example",` + goodCredentials + `,"s3fsOptions":["fsname=mine"]}}`,
		"/workspace/r": `{"binding":"BUCKET","mountPath":"/workspace/r","options":{"readOnly":true,"prefix":"/p"}}`,
	} {
		wantAnswer(t, name, c.do("POST", "/v1/sandbox/a/mount", body), 200, `{"ok":true}`)
		if got := c.exec("a", "mountpoint", "-q", name); got.end() != exited(0) {
			t.Error(name, got)
		}
	}
	if got := c.sh("a", "touch m/f && ! touch r/f 2>/dev/null && echo right"); got.stdout != "right\n" {
		t.Error(got)
	}
	if got := c.sh("a", `grep -c " - tmpfs mine " /proc/self/mountinfo`); got.stdout != "1\n" {
		t.Error("fsname:", got)
	}
	for _, name := range []string{"/workspace/m", "/workspace/r"} {
		wantAnswer(t, name, c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"`+name+`"}`), 200, `{"ok":true}`)
		if got := c.exec("a", "test", "!", "-e", name); got.end() != exited(0) {
			t.Error(name, got)
		}
	}
}

// A refused mount takes down the one that is at its path, or forgets it
// (measured with the published bridge and s3fs 1.90).
func TestARefusedMountHarmsTheOneThatIsThere(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{Bindings: []string{"BUCKET"}, ContainerProxy: true})
	const (
		mount    = "/v1/sandbox/a/mount"
		endpoint = `{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example",` + goodCredentials + `}}`
		binding  = `{"binding":"BUCKET","mountPath":"/workspace/m","options":{}}`
		mounted  = "mountpoint -q /workspace/m && echo mounted || echo free"
	)
	inUse := func(bucket string) string {
		return failure(`mount failed: InvalidMountConfigError: Mount path "/workspace/m" is already in use by bucket "`+bucket+
			`". Unmount the existing bucket first or use a different mount path.`, codeMount)
	}
	wantAnswer(t, "first", c.do("POST", mount, endpoint), 200, `{"ok":true}`)
	wantAnswer(t, "second", c.do("POST", mount, endpoint), 502, inUse("b"))
	if got := c.sh("a", mounted); got.stdout != "free\n" {
		t.Error("after the second:", got)
	}
	wantAnswer(t, "binding", c.do("POST", mount, binding), 200, `{"ok":true}`)
	wantAnswer(t, "second binding", c.do("POST", mount, binding), 502, inUse("BUCKET"))
	if got := c.sh("a", mounted); got.stdout != "mounted\n" {
		t.Error("after the second binding:", got)
	}
	wantAnswer(t, "forgotten", c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"/workspace/m"}`), 502,
		failure("unmount failed: InvalidMountConfigError: No active mount found at path: /workspace/m", codeUnmount))
}

// A mount that a process in the sandbox takes down stays in the bridge's books.
func TestAMountTakenDownInsideIsRemembered(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	const body = `{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example",` + goodCredentials + `}}`
	wantAnswer(t, "mount", c.do("POST", "/v1/sandbox/a/mount", body), 200, `{"ok":true}`)
	if err := c.bridge.DropMount("a", "/workspace/m"); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, "unmount", c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"/workspace/m"}`), 502, failure("unmount failed: "+
		"BucketUnmountError: fusermount -u failed (exit 1): fusermount: entry for /workspace/m not found in /etc/mtab", codeUnmount))
	if got := c.do("POST", "/v1/sandbox/a/mount", body); got.status != 502 {
		t.Error("mount:", got)
	}
	wantAnswer(t, "mount again", c.do("POST", "/v1/sandbox/a/mount", body), 200, `{"ok":true}`)
	holder := c.open("a", argvBody("bash", "-c", "cd /workspace/m && echo in && sleep 1000"))
	defer holder.close()
	holder.next()
	wantAnswer(t, "busy", c.do("POST", "/v1/sandbox/a/unmount", `{"mountPath":"/workspace/m"}`), 502, failure("unmount failed: "+
		"BucketUnmountError: fusermount -u failed (exit 1): fusermount: failed to unmount /workspace/m: Device or resource busy", codeUnmount))
}

// What s3fs itself refuses (measured with s3fs 1.90).
func TestMountPointsThatS3FSRefuses(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.sh("a", "mkdir full; touch full/x file")
	for path, want := range map[string]string{
		"/workspace/full": "s3fs: MOUNTPOINT directory /workspace/full is not empty. if you are sure this is safe, can use the 'nonempty' mount option.",
		"/workspace/file": "s3fs: MOUNTPOINT: /workspace/file is not a directory.",
		"/m":              "s3fs: unable to access MOUNTPOINT /m: No such file or directory",
	} {
		body := `{"bucket":"b","mountPath":"` + path + `","options":{"endpoint":"https://e.example",` + goodCredentials + `}}`
		wantAnswer(t, path, c.do("POST", "/v1/sandbox/a/mount", body), 502, failure("mount failed: S3FSMountError: S3FS mount failed: "+want, codeMount))
	}
	body := `{"bucket":"b","mountPath":"/workspace/full","options":{"endpoint":"https://e.example",` + goodCredentials + `,"s3fsOptions":["nonempty"]}}`
	wantAnswer(t, "nonempty", c.do("POST", "/v1/sandbox/a/mount", body), 200, `{"ok":true}`)
}

func TestContainerProxyIsNeeded(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{Bindings: []string{"BUCKET"}})
	for kind, body := range map[string]string{
		"R2 binding":              `{"binding":"BUCKET","mountPath":"/workspace/m","options":{}}`,
		"Credential proxy bucket": `{"bucket":"b","mountPath":"/workspace/m","options":{"endpoint":"https://e.example","credentialProxy":true,` + goodCredentials + `}}`,
	} {
		wantAnswer(t, kind, c.do("POST", "/v1/sandbox/a/mount", body), 502, failure("mount failed: InvalidMountConfigError: "+kind+
			" mounts require exporting ContainerProxy from the Worker entrypoint", codeMount))
	}
}

// A named tunnel needs an API token, and leaves its DNS record behind when its
// container is lost.
func TestNamedTunnels(t *testing.T) {
	t.Parallel()
	const tunnel, named = "/tunnel/8080", `{"name":"app"}`
	without := startBridge(t, Config{})
	wantAnswer(t, "no token", without.do("POST", "/v1/sandbox/a"+tunnel, named), 502,
		failure("tunnel failed: Named tunnels require CLOUDFLARE_API_TOKEN. Set it as a secret in your wrangler.jsonc.", codeTunnel))

	c := startBridge(t, Config{TunnelZone: "example.com"})
	taken := "DNS record for app.example.com already exists with different content (owned by you, not us): existing content="
	for i, step := range []struct {
		what   string
		do     func() answer
		status int
	}{
		{"first", func() answer { return c.do("POST", "/v1/sandbox/a"+tunnel, named) }, 200},
		{"other sandbox", func() answer { return c.do("POST", "/v1/sandbox/b"+tunnel, named) }, 502},
		{"delete", func() answer { return c.do("DELETE", "/v1/sandbox/a"+tunnel, "") }, 204},
		{"other sandbox", func() answer { return c.do("POST", "/v1/sandbox/b"+tunnel, named) }, 200},
		{"destroy", func() answer { return c.do("DELETE", "/v1/sandbox/b", "") }, 204},
		{"again", func() answer { return c.do("POST", "/v1/sandbox/a"+tunnel, named) }, 200},
		{"lost container", func() answer { c.bridge.Sleep("a"); return c.do("POST", "/v1/sandbox/a"+tunnel, named) }, 502},
	} {
		got := step.do()
		if got.status != step.status || step.status == 502 && !strings.Contains(got.body, taken) {
			t.Errorf("%d, %s: %v, want %d", i, step.what, got, step.status)
		}
	}
}
