package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestMountRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	proxy := newCutter(t, on)
	s := newSandbox(t, clientFor(t, proxy.URL, on.key))
	base := bucket(t, on, s, "data")
	inside(t, s, "mkdir full; touch full/x file")
	for name, test := range map[string]struct {
		change func(*bridge.MountRequest)
		want   bridge.MountReason
	}{
		"no credentials":    {func(m *bridge.MountRequest) { m.Credentials = nil }, bridge.MountNoCredentials},
		"unknown binding":   {func(m *bridge.MountRequest) { *m = bridge.MountRequest{Path: "data", Binding: "NONE"} }, bridge.MountNoBinding},
		"proxy":             {func(m *bridge.MountRequest) { m.CredentialProxy = true }, bridge.MountNoProxy},
		"not empty":         {func(m *bridge.MountRequest) { m.Path = "full" }, bridge.MountBadDirectory},
		"a file":            {func(m *bridge.MountRequest) { m.Path = "file" }, bridge.MountBadDirectory},
		"cannot be created": {func(m *bridge.MountRequest) { m.Path = "/nowhere" }, bridge.MountBadDirectory},
	} {
		request := base
		test.change(&request)
		before := proxy.count("POST mount")
		_, err := s.Mount(t.Context(), request)
		var refused *bridge.MountError
		if !errors.As(err, &refused) || refused.Reason != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		if sent := proxy.count("POST mount") - before; sent != 1 {
			t.Errorf("%s: asked %d times", name, sent)
		}
	}
	if left := inside(t, s, "ls"); left != "file\nfull\n" {
		t.Errorf("left in /workspace: %q", left)
	}
}

// What only a bridge says that really mounts.
func TestMountRefusalsOfS3FS(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	if on.local != nil {
		t.Skip("the local bridge contacts no bucket")
	}
	s := newSandbox(t, on.client(t))
	base := bucket(t, on, s, "data")
	for name, test := range map[string]struct {
		change func(*bridge.MountRequest)
		want   bridge.MountReason
	}{
		"no bucket":   {func(m *bridge.MountRequest) { m.Bucket = "missing" }, bridge.MountNoBucket},
		"denied":      {func(m *bridge.MountRequest) { m.Bucket = "denied" }, bridge.MountDenied},
		"bad option":  {func(m *bridge.MountRequest) { m.Options = []string{"nonsense_option"} }, bridge.MountBadOption},
		"unreachable": {func(m *bridge.MountRequest) { m.Endpoint = "http://127.0.0.1:9" }, bridge.MountUnreachable},
		"denied, and it logs everything": {func(m *bridge.MountRequest) {
			m.Bucket, m.Options = "denied", []string{"dbglevel=debug", "curldbg"}
		}, bridge.MountDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := base
			request.Path = "data-" + strings.Split(name, " ")[0] + strings.Split(name+" x", " ")[1]
			request.Path = strings.ReplaceAll(request.Path, ",", "-")
			test.change(&request)
			_, err := s.Mount(t.Context(), request)
			var refused *bridge.MountError
			if !errors.As(err, &refused) || refused.Reason != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), base.Credentials.AccessKeyID) {
				t.Errorf("the key is in %v", err)
			}
		})
	}
}

// s3fs can die, and its mount stays in the table: nothing in it can be reached.
func TestDeadMountIsSeenAndReplaced(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	if on.local != nil {
		t.Skip("no process is behind a mount of the local bridge")
	}
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "data")
	first, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	inside(t, s, "pkill -9 -x s3fs; until ! stat -f data >/dev/null 2>&1; do sleep 0.05; done")
	if now := mountOf(t, s, "data"); !now.Dead || now.Source != first.Source {
		t.Errorf("got %+v", now)
	}
	second, err := s.Mount(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if now := mountOf(t, s, "data"); *now != *second || now.Dead {
		t.Errorf("now %+v, was %+v", now, second)
	}
}

// The bridge keeps its books in memory. After a restart it knows of no mount, and the mounts are still there.
func TestUnmountOfWhatTheBridgeHasForgotten(t *testing.T) {
	t.Parallel()
	on := startBridge(t)
	if on.local != nil {
		t.Skip("needs fusermount to work in the sandbox")
	}
	s := newSandbox(t, on.client(t))
	request := bucket(t, on, s, "data")
	inside(t, s, `mkdir data; umask 077; echo bucket:key:secret >/tmp/password
		s3fs bucket data -o passwd_file=/tmp/password,url=`+request.Endpoint+`,use_path_request_style,fsname=cloudflaresandbox-forgotten
		until mountpoint -q data; do sleep 0.05; done`)
	info := mountOf(t, s, "data")
	if info.Source != "cloudflaresandbox-forgotten" {
		t.Fatalf("got %+v", info)
	}
	if err := s.Unmount(t.Context(), "data", info.Source, info.Instance); err != nil {
		t.Error(err)
	}
	if now := mountOf(t, s, "data"); now.Mounted {
		t.Errorf("left: %+v", now)
	}
}
