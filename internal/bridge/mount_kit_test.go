package bridge_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// bucket starts a bucket store in the sandbox, where the bridge really mounts, and returns a request for a bucket in it.
// The local bridge contacts no store.
func bucket(t *testing.T, on *testBridge, s *bridge.Sandbox, path string) bridge.MountRequest {
	t.Helper()
	request := bridge.MountRequest{
		Path: path, Bucket: "bucket", Endpoint: "https://s3.example",
		Credentials: &bridge.MountCredentials{AccessKeyID: "test-access-key", SecretAccessKey: "test/secret+key"},
	}
	if on.local != nil {
		return request
	}
	if inside(t, s, "type -P s3fs python3 || true; ls /dev/fuse 2>/dev/null || true") == "" {
		t.Skip("needs s3fs, /dev/fuse and python3 in the sandbox, to have a bucket")
	}
	program, err := os.ReadFile("testdata/s3.py")
	if err != nil {
		t.Fatal(err)
	}
	text := string(program)
	if _, err := s.Run(t.Context(), bridge.Command{Argv: []string{"bash", "-c", "cat >/tmp/s3.py"}, Stdin: &text}); err != nil {
		t.Fatal(err)
	}
	inside(t, s, "setsid python3 /tmp/s3.py 9000 >/dev/null 2>&1 </dev/null & until (: </dev/tcp/127.0.0.1/9000) 2>/dev/null; do sleep 0.05; done")
	request.Endpoint = "http://127.0.0.1:9000"
	return request
}

// mountOf is what the kernel of the sandbox says of a path.
func mountOf(t *testing.T, s *bridge.Sandbox, path string) *bridge.MountInfo {
	t.Helper()
	info, err := s.LookAtMount(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// interceptor is a proxy before the bridge that does something else with some of the requests whose path ends in suffix.
type interceptor struct {
	*httptest.Server
	count atomic.Int64
}

// intercept calls do with the number of the request (from 1) and a function that passes it on.
func intercept(t *testing.T, to *testBridge, suffix string, do func(n int64, w http.ResponseWriter, r *http.Request, pass http.Handler)) *interceptor {
	t.Helper()
	target, err := url.Parse(to.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	i := &interceptor{}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, suffix) {
			do(i.count.Add(1), w, r, proxy)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}
