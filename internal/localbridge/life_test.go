package localbridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnyAuthorisedRequestStartsAContainer: OBSERVED.md, e+f.
func TestAnyAuthorisedRequestStartsAContainer(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for i, row := range []struct{ method, id, rest string }{
		{"GET", "runfirst", "/running"},
		{"GET", "subfirst", "/nosuch"},
		{"GET", "barefirst", ""},
		{"POST", "badfirst", "/exec"},
		{"PUT", "putfirst", "/file/workspace/f"},
		{"GET", "getfirst", "/file/workspace/none"},
		{"DELETE", "sessfirst", "/session/x"},
		{"POST", "perfirst", "/persist"},
		{"DELETE", "delfirst", ""},
	} {
		c.do(row.method, "/v1/sandbox/"+row.id+row.rest, "")
		if got := c.bridge.ContainersStarted(); got != i+1 {
			t.Errorf("%s %s: %d containers started, want %d", row.method, row.rest, got, i+1)
		}
	}
	if got := c.bridge.Running(); slices.Contains(got, "delfirst") || len(got) != 8 {
		t.Error(got)
	}
	c.raw("GET", "/v1/sandbox/authfirst/running", "")
	if got := c.bridge.Assigned(); got != 8 {
		t.Error(got, "assigned")
	}
}

// TestFirstRequestsRace: N first requests at once start N containers; each is
// answered from its own, the last to be ready keeps the id, the others run on
// uncounted (BRIDGE.md, Life of a container).
func TestFirstRequestsRace(t *testing.T) {
	t.Parallel()
	const n = 4
	c := startBridge(t, Config{MaxInstances: 2})
	var arrived sync.WaitGroup
	arrived.Add(n)
	start := c.bridge.pool.start
	c.bridge.pool.start = func(ctx context.Context) (*container, error) {
		arrived.Done()
		arrived.Wait()
		return start(ctx)
	}
	hosts := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { hosts[i] = c.sh("a", fmt.Sprintf("touch mark%d; hostname", i)).stdout })
	}
	all.Wait()
	if got := slices.Compact(slices.Sorted(slices.Values(hosts))); len(got) != n {
		t.Errorf("answers from %q", hosts)
	}
	if got := c.bridge.ContainersStarted(); got != n {
		t.Errorf("%d containers started", got)
	}
	if got := c.bridge.Assigned(); got != 1 {
		t.Errorf("%d assigned", got)
	}
	winner := slices.Index(hosts, c.exec("a", "hostname").stdout)
	if winner < 0 {
		t.Fatal("the id's container is none of those that answered")
	}
	if got := c.exec("a", "ls").stdout; got != fmt.Sprintf("mark%d\n", winner) {
		t.Errorf("files of the one that stays: %q", got)
	}
	c.do("DELETE", "/v1/sandbox/a", "")
	c.bridge.pool.mu.Lock()
	defer c.bridge.pool.mu.Unlock()
	running := 0
	for other := range c.bridge.pool.alive {
		// One that has just ended is forgotten a moment later.
		if other.running() {
			running++
		}
	}
	if running != n-1 {
		t.Errorf("%d containers run on after DELETE, want %d", running, n-1)
	}
}

// TestCapacity: OBSERVED.md, g.
func TestCapacity(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{MaxInstances: 2})
	c.exec("a", "true")
	c.exec("b", "true")
	full := failure("Cannot start container: instance limit reached (2/2). All container slots are in use. "+
		"Wait for existing containers to stop.", codeCapacity)
	for _, row := range []struct{ method, rest string }{
		{"POST", "/exec"}, {"PUT", "/file/workspace/f"}, {"GET", "/running"}, {"DELETE", ""}, {"GET", ""},
	} {
		wantAnswer(t, row.method+row.rest, c.do(row.method, "/v1/sandbox/c"+row.rest, ""), 503, full)
	}
	if got := c.exec("a", "echo", "still"); got.stdout != "still\n" {
		t.Error(got)
	}
	wantAnswer(t, "DELETE a", c.do("DELETE", "/v1/sandbox/a", ""), 204, "")
	if got := c.exec("c", "echo", "now"); got.stdout != "now\n" {
		t.Error(got)
	}
	c.bridge.SetMaxInstances(3)
	if got := c.exec("d", "echo", "more"); got.stdout != "more\n" {
		t.Error(got)
	}
}

// TestAfterItsContainerAnIDStartsEmpty, whatever ended the container.
func TestAfterItsContainerAnIDStartsEmpty(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for name, end := range map[string]func(id string) bool{
		"crash":  c.bridge.Kill,
		"sleep":  c.bridge.Sleep,
		"asleep": func(string) bool { c.bridge.SleepAll(); return true },
		"delete": func(id string) bool { return c.do("DELETE", "/v1/sandbox/"+id, "").status == 204 },
		"exit": func(id string) bool { // process 1 ends by itself
			container := c.bridge.pool.find(id)
			c.sh(id, "kill -TERM 1")
			<-container.done
			return true
		},
	} {
		c.sh(name, "touch f /tmp/f ~/f /dev/shm/f; sleep 4711 >/dev/null 2>&1 &")
		if !end(name) {
			t.Errorf("%s: nothing ended", name)
		}
		if got := c.bridge.Running(); slices.Contains(got, name) {
			t.Errorf("%s: running %q", name, got)
		}
		if got := c.sh(name, "ls /workspace /tmp ~ /dev/shm | grep f; pgrep sleep"); got.stdout != "" || got.end() != exited(1) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if c.bridge.Kill("never") || c.bridge.Sleep("never") {
		t.Error("an id without a container had one")
	}
	wantAnswer(t, "DELETE of an unknown id", c.do("DELETE", "/v1/sandbox/never", ""), 204, "")
}

func TestAnIdleContainerGoesToSleep(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{IdleTimeout: 50 * time.Millisecond})
	if got := c.sh("a", "touch f; sleep 0.2; ls"); got.stdout != "f\n" {
		t.Error("it slept while it was used:", got)
	}
	if container := c.bridge.pool.find("a"); container != nil {
		<-container.done
	}
	if got := c.exec("a", "ls"); got.stdout != "" {
		t.Error(got)
	}
}

// TestTheMomentsAfterACrash: OBSERVED.md, e+f.
func TestTheMomentsAfterACrash(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.exec("a", "true")
	for _, row := range []struct {
		method, rest, body string
		status             int
		want               string
	}{
		{"POST", "/exec", argvBody("true"), 200, "event: error\ndata: " +
			failure("exec failed: "+interrupted("commands.executeStream"), codeExec) + "\n\n"},
		{"GET", "/file/workspace/f", "", 502, failure("read failed: "+interrupted("files.readFileStream"), codeExec)},
		{"PUT", "/file/workspace/f", "x", 502, failure("write failed: "+interrupted("files.writeFile"), codeArchiveWrite)},
		{"GET", "/running", "", 200, `{"running":false}`},
		{"POST", "/session", "", 502, failure("session create failed: "+interrupted("utils.createSession"), codeSession)},
		{"POST", "/persist", "", 502, failure("persist failed: "+interrupted("commands.execute"), codeArchiveRead)},
		{"DELETE", "", "", 204, ""},
	} {
		c.bridge.Kill("a")
		c.bridge.FailNext("a", 1)
		wantAnswer(t, row.method+row.rest, c.do(row.method, "/v1/sandbox/a"+row.rest, row.body), row.status, row.want)
		if got := c.exec("a", "echo", "fresh"); got.stdout != "fresh\n" {
			t.Error(got)
		}
	}
}

// TestWhatEndsARunningExec: its container's end, or an oversized upload to the
// same sandbox, which leaves the command itself alone (OBSERVED.md, b4, e+f).
func TestWhatEndsARunningExec(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	for name, end := range map[string]func(id string){
		"kill":   func(id string) { c.bridge.Kill(id) },
		"delete": func(id string) { c.do("DELETE", "/v1/sandbox/"+id, "") },
		"upload": func(id string) {
			c.do("PUT", "/v1/sandbox/"+id+"/file/workspace/big", strings.Repeat("x", 13_000_000))
		},
	} {
		c.sh(name, "mkfifo go done")
		stream := c.open(name, argvBody("sh", "-c", "echo one; read x <go; echo two; echo finished >done"))
		stream.next()
		end(name)
		stream.rest()
		stream.close()
		if stream.stdout != "one\n" || stream.end() != "error "+failure(cutExec, codeExec) {
			t.Errorf("%s: %s", name, stream.result)
		}
		if name == "upload" {
			if got := c.sh(name, "echo x >go; cat done"); got.stdout != "finished\n" {
				t.Error("the command did not run on:", got)
			}
		}
	}
}

func TestAnOversizedUploadCutsReads(t *testing.T) {
	t.Parallel()
	for _, clean := range []bool{false, true} {
		c := startBridge(t, Config{CleanCuts: clean})
		c.sh("a", "head -c 60000000 /dev/urandom >b60")
		request, _ := http.NewRequestWithContext(t.Context(), "GET", c.bridge.URL()+fileRoute+"/b60", nil)
		request.Header.Set("Authorization", "Bearer "+testKey)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, response.Body, 1000); err != nil {
			t.Fatal(err)
		}
		c.do("PUT", fileRoute+"/big", strings.Repeat("x", 13_000_000))
		n, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if n > 50_000_000 || (err == nil) != clean {
			t.Errorf("clean cuts %v: %d bytes more, then %v", clean, n, err)
		}
	}
}

func TestACommandOutlivesItsClient(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.sh("a", "mkfifo go done")
	stream := c.open("a", argvBody("sh", "-c", "echo one; read x <go; seq 100000; echo finished >done"))
	stream.next()
	stream.close()
	if got := c.sh("a", "echo x >go; cat done"); got.stdout != "finished\n" {
		t.Error(got)
	}
}

func TestManyOperationsAtOnce(t *testing.T) {
	t.Parallel()
	c := startBridge(t, Config{})
	c.exec("a", "true")
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			name, body := fmt.Sprintf("/f%d", i), strings.Repeat("x", 20_000+i)
			wantAnswer(t, name, c.do("PUT", fileRoute+name, body), 200, `{"ok":true}`)
			wantAnswer(t, name, c.do("GET", fileRoute+name, ""), 200, body)
			if got := c.exec("a", "echo", name); got.stdout != name+"\n" {
				t.Error(got)
			}
		})
	}
	all.Wait()
}
