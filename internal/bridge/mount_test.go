package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestMountIsSeenAndUnmounted(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "data")
	if info := mountOf(t, s, "data"); info.Mounted {
		t.Errorf("before: %+v", info)
	}
	info, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Mounted || info.ReadOnly || info.Dead || info.Instance == "" {
		t.Errorf("got %+v", info)
	}
	if got := inside(t, s, "echo kept >data/file; cat data/file; mountpoint -q data && echo mounted"); got != "kept\nmounted\n" {
		t.Errorf("in it: %q", got)
	}
	if again := mountOf(t, s, "/workspace/../workspace/data"); *again != *info {
		t.Errorf("seen %+v, was %+v", again, info)
	}
	for range 2 {
		if err := s.Unmount(t.Context(), "data", info.Source, info.Instance); err != nil {
			t.Error(err)
		}
	}
	if info := mountOf(t, s, "data"); info.Mounted {
		t.Errorf("after unmounting: %+v", info)
	}
}

func TestMountReadOnly(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "/home/sandbox/data")
	request.ReadOnly = true
	info, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ReadOnly {
		t.Errorf("got %+v", info)
	}
	if got := inside(t, s, "echo x 2>/dev/null >/home/sandbox/data/file || echo refused"); got != "refused\n" {
		t.Errorf("a write: %q", got)
	}
}

// The table has the real path.
func TestMountBehindASymbolicLinkIsSeen(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "link/data")
	inside(t, s, `mkdir -p "real dir" && ln -s "real dir" link`)
	info, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unmount(t.Context(), "link/data", info.Source, info.Instance); err != nil {
		t.Error(err)
	}
	if left := mountOf(t, s, "link/data"); left.Mounted {
		t.Errorf("left: %+v", left)
	}
}

// The bridge takes down what is mounted when it refuses another mount there. So it is not even asked.
func TestMountOnAMountIsRefusedAndDoesNoHarm(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "data")
	var (
		wait  sync.WaitGroup
		mutex sync.Mutex
		infos []*bridge.MountInfo
	)
	for range 3 {
		wait.Go(func() {
			info, err := s.Mount(t.Context(), request)
			var refused *bridge.MountError
			if err != nil && (!errors.As(err, &refused) || refused.Reason != bridge.MountOccupied) {
				t.Error(err)
			}
			if err == nil {
				mutex.Lock()
				defer mutex.Unlock()
				infos = append(infos, info)
			}
		})
	}
	wait.Wait()
	if len(infos) != 1 {
		t.Fatalf("%d mounts succeeded", len(infos))
	}
	if now := mountOf(t, s, "data"); *now != *infos[0] {
		t.Errorf("now %+v, was %+v", now, infos[0])
	}
}

// Whatever happens to the answer, one mount is there at the end, and the sandbox has proven it.
func TestMountUnderBrokenConnections(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	for name, breaks := range map[string]func(w http.ResponseWriter, r *http.Request, pass http.Handler){
		"before it was passed on": func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"answer lost": func(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		},
		"edge error after it": func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			pass.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(524)
		},
		"edge error before it": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(522) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := intercept(t, on, "/mount", func(n int64, w http.ResponseWriter, r *http.Request, pass http.Handler) {
				if n == 1 {
					breaks(w, r, pass)
					return
				}
				pass.ServeHTTP(w, r)
			})
			s := newSandbox(t, clientFor(t, proxy.URL, on.key))
			info, err := s.Mount(t.Context(), bucket(t, on, s, "data"))
			if err != nil {
				t.Fatal(err)
			}
			if now := mountOf(t, s, "data"); *now != *info {
				t.Errorf("now %+v, was %+v", now, info)
			}
			if got := inside(t, s, "grep -c ' /workspace/data ' /proc/self/mountinfo"); got != "1\n" {
				t.Errorf("mounts: %s", got)
			}
		})
	}
}

func TestMountThatIsCancelledIsTakenDown(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	proxy := intercept(t, on, "/mount", func(_ int64, _ http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(httptest.NewRecorder(), r)
		cancel()
		<-r.Context().Done()
	})
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	if _, err := s.Mount(ctx, bucket(t, on, s, "data")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	if info := mountOf(t, s, "data"); info.Mounted {
		t.Errorf("left: %+v", info)
	}
}

// A process in the sandbox unmounts, and the bridge still has it in its books.
func TestMountAfterAnUnmountFromInside(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "data")
	first, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if on.local == nil {
		inside(t, s, "fusermount -u data")
	} else if err := on.local.DropMount(s.ID(), "/workspace/data"); err != nil {
		t.Fatal(err)
	}
	if err := s.Unmount(t.Context(), "data", first.Source, first.Instance); err != nil {
		t.Error(err)
	}
	second, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if second.Source == first.Source {
		t.Error("two mounts cannot be told apart")
	}
	// What is there now is not the first.
	if err := s.Unmount(t.Context(), "data", first.Source, first.Instance); err != nil {
		t.Error(err)
	}
	if now := mountOf(t, s, "data"); *now != *second {
		t.Errorf("now %+v, was %+v", now, second)
	}
}

func TestUnmountOfWhatIsInUseFails(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	s := newSandbox(t, on.client(t))
	info, err := s.Mount(t.Context(), bucket(t, on, s, "data"))
	if err != nil {
		t.Fatal(err)
	}
	inside(t, s, "cd data; sleep 1000 >/dev/null 2>&1 &")
	var stays *bridge.MountError
	if err := s.Unmount(t.Context(), "data", info.Source, info.Instance); !errors.As(err, &stays) || stays.Reason != bridge.MountStays {
		t.Errorf("got %v", err)
	}
	inside(t, s, "pkill sleep || kill %1 || true")
}

func TestMountRefusesAFreshContainer(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	s := newSandbox(t, on.client(t))
	old, err := s.Mount(t.Context(), bucket(t, on, s, "data"))
	if err != nil {
		t.Fatal(err)
	}
	on.local.Kill(s.ID())
	var recycled *bridge.RecycledError
	if _, err := s.Mount(t.Context(), bucket(t, on, s, "other")); !errors.As(err, &recycled) {
		t.Errorf("mount: %v, want a recycled container", err)
	}
	if err := s.Unmount(t.Context(), "data", old.Source, old.Instance); !errors.As(err, &recycled) {
		t.Errorf("unmount: %v, want a recycled container", err)
	}
	if info := mountOf(t, s, "other"); info.Mounted {
		t.Errorf("in the fresh container: %+v", info)
	}
}

// The container goes away under the request, which names none.
func TestMountWhoseContainerIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	on := startLocalBridge(t)
	var s *bridge.Sandbox
	proxy := intercept(t, on, "/mount", func(_ int64, w http.ResponseWriter, r *http.Request, pass http.Handler) {
		on.local.Kill(s.ID())
		pass.ServeHTTP(w, r)
	})
	s = newSandbox(t, clientFor(t, proxy.URL, on.key))
	var recycled *bridge.RecycledError
	if _, err := s.Mount(t.Context(), bucket(t, on, s, "data")); !errors.As(err, &recycled) {
		t.Errorf("got %v, want a recycled container", err)
	}
}
