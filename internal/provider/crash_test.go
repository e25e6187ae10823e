package provider_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
	"terraform-provider-cloudflaresandbox/internal/provider"
)

// crashVariable names the call, and the type, in which the provider of a test
// crashes, such as "ReadDataSource cloudflaresandbox_exec".
const crashVariable = "CRASH_IN"

const crashed = "a defect"

// serveCrashing serves a provider that crashes there.
func serveCrashing(where string) int {
	err := tf6server.Serve(provider.Address, func() tfprotov6.ProviderServer {
		return &crashingServer{ProviderServer: providerserver.NewProtocol6(provider.New("test")())(), where: where}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return 0
}

// crashingServer is the provider with a defect that shows in the midst of a call:
// where the bridge's client has been given all that it needs.
type crashingServer struct {
	tfprotov6.ProviderServer

	where string
}

func (s *crashingServer) in(ctx context.Context, call, name string) context.Context {
	if s.where == call+" "+name {
		return crashingContext{ctx}
	}

	return ctx
}

func (s *crashingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return s.ProviderServer.ReadResource(s.in(ctx, "ReadResource", req.TypeName), req)
}

func (s *crashingServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return s.ProviderServer.ReadDataSource(s.in(ctx, "ReadDataSource", req.TypeName), req)
}

func (s *crashingServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	// What is only in the configuration is not there at a destroy.
	if destroys, err := req.PlannedState.IsNull(); err == nil && !destroys {
		ctx = s.in(ctx, "ApplyResourceChange", req.TypeName)
	}

	return s.ProviderServer.ApplyResourceChange(ctx, req)
}

func (s *crashingServer) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	return s.ProviderServer.OpenEphemeralResource(s.in(ctx, "OpenEphemeralResource", req.TypeName), req)
}

// crashingContext is one that the bridge's client cannot use.
type crashingContext struct{ context.Context }

func (c crashingContext) Value(key any) any {
	if strings.Contains(string(debug.Stack()), "internal/bridge.(*Client).") {
		panic(crashed)
	}

	return c.Context.Value(key)
}

// What a crash prints of the stacks of a provider that has its hands full of
// secrets goes to Terraform's screen and log.
func TestCrashShowsNoSecret(t *testing.T) {
	b := localBridge(t, localbridge.Config{Key: secretRows["api_key"].value})
	c := b.secretsCLI()
	c.must("apply", "-auto-approve")

	replace := func(address string) []string { return []string{"apply", "-auto-approve", "-replace=" + address} }
	for _, crash := range []struct {
		where string
		args  []string
	}{
		{"ReadResource cloudflaresandbox_exec", []string{"plan"}},
		{"ReadDataSource cloudflaresandbox_exec", []string{"plan"}},
		{"ReadDataSource cloudflaresandbox_python", []string{"plan"}},
		{"OpenEphemeralResource cloudflaresandbox_exec", []string{"plan"}},
		{"OpenEphemeralResource cloudflaresandbox_python", []string{"plan"}},
		// These are not in the state any more afterwards.
		{"ApplyResourceChange cloudflaresandbox_exec", replace("cloudflaresandbox_exec.test")},
		{"ApplyResourceChange cloudflaresandbox_file", replace("cloudflaresandbox_file.content_wo")},
		{"ApplyResourceChange cloudflaresandbox_bucket_mount", replace("cloudflaresandbox_bucket_mount.test")},
	} {
		t.Run(crash.where, func(t *testing.T) {
			crashing := *c
			crashing.t = t
			trace := filepath.Join(t.TempDir(), "trace.log")
			crashing.env = slices.Concat(c.env, []string{
				crashVariable + "=" + crash.where, "GOTRACEBACK=all", "TF_LOG=TRACE", "TF_LOG_PATH=" + trace,
				// A crash leaves its socket behind.
				"TMPDIR=" + c.dir,
			})
			output, err := crashing.try(crash.args...)
			log := readFile(t, trace)
			for _, caught := range []captured{
				{"what Terraform prints", output, func(row secretRow) bool { return row.shown }},
				{"Terraform's log", log, func(row secretRow) bool { return row.shown }},
			} {
				if !strings.Contains(caught.text, "panic: "+crashed) || !strings.Contains(caught.text, "internal/bridge.(*Client)") {
					t.Errorf("no crash in %s: %v\n%s", caught.place, err, caught.text)
				}
				caught.check(t)
			}
		})
	}
}
