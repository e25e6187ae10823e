package bridge_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// makeVictim is bash that makes a directory that is none of the provider's business, with names that mean something to
// its scripts, and all of it so old that it would be swept away.
const makeVictim = `
mkdir -p /workspace/victim/deep /workspace/victim/claimed
for file in kept 1 2 deep/file content.gz claimed/by; do echo "$file" >/workspace/victim/"$file"; done
find /workspace/victim -exec touch -d '2 hours ago' {} +
`

// showVictim is bash that prints all of it but the times of directories, in which something may come and go.
const showVictim = `
cd /workspace/victim
find . -type d -printf '%p %m\n' -o -printf '%p %y %m %T@\n' | sort
find . -type f -exec sha256sum {} + | sort`

// restore is bash that makes what is asked for.
const restore = `mkdir -p a && printf x >a/x && printf hello >file`

// askedAndMore is all that can be asked, and more that is brought in by files.
func askedAndMore() map[string]func(ctx context.Context, s *bridge.Sandbox) (int, error) {
	stdin, large := "input", strings.Repeat("x", 9<<20)
	all := map[string]func(ctx context.Context, s *bridge.Sandbox) (int, error){
		"run with input": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
			_, err := s.Run(ctx, bridge.Command{Argv: []string{"cat"}, Stdin: &stdin})
			return 0, err
		},
		"read much": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
			var b strings.Builder
			_, err := s.Read(ctx, "large", &b)
			return b.Len(), err
		},
		"write much": func(ctx context.Context, s *bridge.Sandbox) (int, error) {
			_, err := s.Write(ctx, bridge.WriteRequest{
				Path: "large", Content: strings.NewReader(large), Size: int64(len(large)), Mode: 0o644,
			})
			return 0, err
		},
	}
	for what, ask := range asked {
		all[what] = ask
	}
	return all
}

// askAll asks for everything, and wants all to end in time, by success or an error that says one of these, and what is
// in the victim to be as it was.
func askAll(t *testing.T, on *testBridge, s *bridge.Sandbox, plant string, excuses ...string) {
	t.Helper()
	past(t, on, s, "head -c 9M /dev/zero >large")
	before := past(t, on, s, makeVictim+plant+showVictim)
	for what, ask := range askedAndMore() {
		past(t, on, s, restore)
		ctx := inTime(t)
		_, err := ask(ctx, s)
		if ctx.Err() != nil {
			t.Errorf("%s is held up: %v", what, err)
		}
		excused := err == nil
		for _, excuse := range excuses {
			excused = excused || strings.Contains(err.Error(), excuse)
		}
		if !excused {
			t.Errorf("%s: %v", what, err)
		}
		if after := past(t, on, s, showVictim); after != before {
			t.Fatalf("%s has changed\n%sinto\n%s", what, before, after)
		}
	}
}

func TestLinkInThePlaceOfStagingLosesNothingBehindIt(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	tests := map[string]func(t *testing.T){}
	for name, test := range map[string]struct {
		plant   string
		excuses []string
	}{
		"to a directory": {"ln -s /workspace/victim /workspace/.cloudflaresandbox\n", nil},
		"to itself":      {"ln -s .cloudflaresandbox /workspace/.cloudflaresandbox\n", []string{"symbolic links"}},
		"in a circle":    {"ln -s other /workspace/.cloudflaresandbox; ln -s .cloudflaresandbox /workspace/other\n", []string{"symbolic links"}},
	} {
		tests[name] = func(t *testing.T) {
			t.Helper()
			s := newSandbox(t, impatient(t, on))
			write(t, s, "file", "hello", 0o644)
			askAll(t, on, s, test.plant, test.excuses...)
		}
	}
	together(t, tests)
}

// What arrived is replaced before the script comes that uses it. Into what such a link leads to the bridge itself may
// still write (BRIDGE.md, "Files"); the scripts do not, and take nothing away there.
func TestLinkInThePlaceOfWhatWasStagedIsNotFollowed(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	tests := map[string]func(t *testing.T){}
	for name, plant := range map[string]string{
		"of all": `rm -r "$request" && ln -s /workspace/victim "$request"`,
		"of one": `ln -sfT /workspace/victim/kept "$part"`,
	} {
		tests[name] = func(t *testing.T) {
			t.Helper()
			s := newSandbox(t, impatient(t, on))
			write(t, s, "file", "hello", 0o644)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				on.local.Handler().ServeHTTP(w, r)
				part := strings.TrimPrefix(r.URL.Path, "/v1/sandbox/"+s.ID()+"/file")
				// Not before the last one, or the bridge would write through the link.
				if r.Method != http.MethodPut || r.ContentLength == 8<<20 {
					return
				}
				if _, err := on.local.Inside(s.ID(), "part="+part+" request="+path.Dir(part)+"\n"+plant); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			planted := handle(t, impatient(t, &testBridge{url: server.URL, key: on.key}), s.ID())
			askAll(t, on, planted, "", "what was staged for", "is not what was sent", "cannot pack", "does not arrive there")
			expectNothingStaged(t, s)
		}
	}
	together(t, tests)
}

// watcher is bash that puts a link in the place of whatever is staged, as soon as it sees it: of a request's directory and
// of a part by turns.
const watcher = `
exec {bell}<> <(:)
while :; do
	for request in /workspace/.cloudflaresandbox/*; do
		[[ -d $request && ! -L $request ]] || continue
		if ((turn++ % 2)); then
			mv "$request" /workspace/aside-$turn
			ln -s /workspace/victim "$request"
		elif [[ -e $request/1 && ! -L $request/1 ]]; then
			ln -sfT /workspace/victim/kept "$request/1"
		fi
	done
	read -r -t 0.001 -u "$bell"
done`

// A link that is planted while a script is at work may get it to look at the wrong file, and to leave one of its own
// there. It holds nothing up, and what the scripts know nothing of stays.
func TestLinksPlantedMeanwhileHoldNothingUp(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, impatient(t, on))
	write(t, s, "file", "hello", 0o644)
	const show = "cat /workspace/victim/kept /workspace/victim/deep/file"
	past(t, on, s, "head -c 9M /dev/zero >large"+makeVictim+"setsid bash -c '"+watcher+"' >/dev/null 2>&1 </dev/null &")
	for what, ask := range askedAndMore() {
		past(t, on, s, restore)
		ctx := inTime(t)
		if _, err := ask(ctx, s); ctx.Err() != nil {
			t.Errorf("%s is held up: %v", what, err)
		}
		if got := past(t, on, s, show); got != "kept\ndeep/file\n" {
			t.Fatalf("%s made of it: %q", what, got)
		}
	}
	// It is quick enough sooner or later.
	for ctx := inTime(t); past(t, on, s, "ls -d /workspace/aside-* 2>/dev/null || true") == ""; {
		if _, err := askedAndMore()["write much"](ctx, s); ctx.Err() != nil {
			t.Fatalf("the watcher has caught nothing: %v", err)
		}
	}
}
