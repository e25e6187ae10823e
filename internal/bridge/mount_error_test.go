package bridge

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The texts are those of the published bridge with s3fs 1.90.
func TestMountReasonsAreReadFromTheBridgesWords(t *testing.T) {
	t.Parallel()
	const s3fs = "mount failed: S3FSMountError: S3FS mount failed: "
	const log = "FUSE filesystem never appeared at /workspace/m. s3fs log: 2026-11-29T18:43:36.242Z [INF] curl.cpp:InitMimeType(434): " +
		"Loaded mime information from /etc/mime.types\n2026-11-29T18:43:36.247Z [INF] s3fs.cpp:s3fs_init(3382): init v1.90\n" +
		"2026-11-29T18:43:36.253Z [CRT] s3fs.cpp:s3fs_check_service(3590): "
	for text, want := range map[string]MountReason{
		"mount failed: MissingCredentialsError: No credentials found. Set R2_ACCESS_KEY_ID and ...":                            MountNoCredentials,
		`mount failed: InvalidMountConfigError: R2 binding "X" not found in Worker env. Ensure ...`:                            MountNoBinding,
		"mount failed: InvalidMountConfigError: R2 binding mounts require exporting ContainerProxy from the Worker entrypoint": MountNoProxy,
		`mount failed: InvalidMountConfigError: Mount path "/m" is already in use by bucket "b". Unmount ...`:                  MountOccupied,
		`mount failed: InvalidMountConfigError: Invalid bucket name: "Bk". Bucket names must ...`:                              MountRefused,
		s3fs + log + "unable to connect(host=http://127.0.0.1:9000) - result of checking service.":                             MountUnreachable,
		s3fs + log + "invalid credentials(host=http://127.0.0.1:9001) - result of checking service.":                           MountDenied,
		s3fs + log + "bucket or key not found(host=http://127.0.0.1:9001) - result of checking service.":                       MountNoBucket,
		s3fs + "s3fs: MOUNTPOINT directory /workspace/full is not empty. if you are sure ...":                                  MountBadDirectory,
		s3fs + "s3fs: unable to access MOUNTPOINT /m: No such file or directory":                                               MountBadDirectory,
		s3fs + "fuse: unknown option `nonsense'":                                                                               MountBadOption,
		s3fs + "bash: line 136: s3fs: command not found":                                                                       MountNoS3FS,
		"mount failed: OperationInterruptedError: Sandbox operation commands.execute was interrupted":                          MountFailed,
	} {
		if got := mountReason(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := withoutChatter(s3fs + log + "unable to connect(x)"); strings.Contains(got, "[INF]") || !strings.HasSuffix(got, "unable to connect(x)") {
		t.Errorf("kept: %s", got)
	}
}

// The texts are those of the published bridge.
func TestTunnelReasonsAreReadFromTheBridgesWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]TunnelReason{
		`sandbox.tunnels.* requires the RPC transport. Enable it with transport: "rpc" in sandbox options.`:                 TunnelTransport,
		"Named tunnels require CLOUDFLARE_API_TOKEN. Set it as a secret in your wrangler.jsonc.":                            TunnelNoToken,
		"Tunnel on port 8080 was created with different options. Call destroy(8080) before changing tunnel options.":        TunnelOtherName,
		`DNS record for app.example.com already exists with different content (owned by you, not us): existing content="x"`: TunnelNameTaken,
		"Cloudflare zones lookup failed with status 403. Set CLOUDFLARE_ZONE_ID explicitly or grant ...":                    TunnelAccount,
		"Cloudflare API error: 10000: Authentication error":                                                                 TunnelAccount,
		"OperationInterruptedError: Tunnel recovery attempts were exhausted":                                                TunnelFailed,
	} {
		if got := tunnelReason("tunnel failed: " + text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A bridge that says back what it was sent gives nothing away, however it writes it.
func TestMountErrorsHaveNoCredentials(t *testing.T) {
	t.Parallel()
	const id, secret = "ACCESS key/id+1", `se"cr&et/+value=2`
	forms := func(text string) []string {
		quoted, _ := json.Marshal(text)
		return []string{text, strings.Trim(string(quoted), `"`), url.QueryEscape(text), url.PathEscape(text), base64.StdEncoding.EncodeToString([]byte(text))}
	}
	echo := strings.Join(append(forms(id), forms(secret)...), " ")
	for name, answer := range map[string]func(w http.ResponseWriter){
		"as the bridge": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadGateway)
			_ = json.NewEncoder(w).Encode(errorAnswer{Error: "mount failed: S3FSMountError: " + echo, Code: codeMountError})
		},
		"plain": func(w http.ResponseWriter) { http.Error(w, echo, http.StatusInternalServerError) },
		"an HTML page": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>" + echo + "</title>"))
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		client, err := New(Config{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		err = client.mountBucket(t.Context(), "abc", MountRequest{Credentials: &MountCredentials{AccessKeyID: id, SecretAccessKey: secret}}, "x")
		server.Close()
		if err == nil || !strings.Contains(err.Error(), "***") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, form := range append(forms(id), forms(secret)...) {
			if strings.Contains(err.Error(), form) {
				t.Errorf("%s: %s is in %v", name, form, err)
			}
		}
	}
}

func TestMountSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	bad := map[string]error{
		"path":     firstError(CleanMountPath("/mnt/a b")),
		"root":     firstError(CleanMountPath("/")),
		"work":     firstError(CleanMountPath("a/..")),
		"tmp":      firstError(CleanMountPath("/tmp")),
		"proc":     firstError(CleanMountPath("/proc/x")),
		"staging":  firstError(CleanMountPath(".cloudflaresandbox/x")),
		"home":     firstError(CleanMountPath("/tmp/.cloudflaresandbox")),
		"unicode":  firstError(CleanMountPath("é")),
		"bucket":   ValidateBucketName("Bucket"),
		"bucket:":  ValidateBucketName("bucket:/prefix"),
		"binding":  ValidateBindingName("1X"),
		"endpoint": ValidateMountEndpoint("s3.example"),
		"ftp":      ValidateMountEndpoint("ftp://s3.example"),
		"user":     ValidateMountEndpoint("https://key:secret@s3.example"),
		"comma":    ValidateMountEndpoint("https://s3.example/,ro"),
		"prefix":   ValidateMountPrefix("reports"),
		"/":        ValidateMountPrefix("/"),
		"passwd":   ValidateMountOption("passwd_file=/x", false),
		"ro":       ValidateMountOption("ro", false),
		"two":      ValidateMountOption("a,b", false),
		"dash":     ValidateMountOption("-o x", false),
		"proxy":    ValidateMountOption("ahbe_conf=/x", true),
		"colon":    ValidateAccessKeyID("a:b"),
		"newline":  ValidateSecretAccessKey("secret\n"),
		"empty":    ValidateSecretAccessKey(""),
	}
	for name, err := range bad {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s shows a secret: %v", name, err)
		}
	}
	for given, want := range map[string]string{"m": "/workspace/m", "/mnt/./x/": "/mnt/x", "/home/sandbox/a": "/home/sandbox/a"} {
		if got, err := CleanMountPath(given); err != nil || got != want {
			t.Errorf("%s: %q, %v", given, got, err)
		}
	}
	for _, option := range []string{"nonempty", "max_stat_cache_size=1000", "use_path_request_style"} {
		if err := ValidateMountOption(option, false); err != nil {
			t.Error(err)
		}
	}
}

func firstError(_ string, err error) error { return err }
