package bridge

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Targets for whatever a bridge or a sandbox may say. `make fuzz` runs them; as tests they try their seeds. Those for
// single parts of an answer are beside the tests of that part.

// FuzzExecStream takes a whole answer of the exec route: what is taken for a script's reply has its proof in it.
func FuzzExecStream(f *testing.F) {
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }
	stdout := func(text string) string { return event("stdout", encodeLine(text)) }
	whole := frame("aGk=", "0 4")
	for _, seed := range []string{
		stdout(whole) + event("exit", `{"exit_code":0}`),
		stdout(whole[:40]) + stdout(whole[40:]) + event("exit", `{"exit_code":1}`),
		event("stderr", "bm8=") + event("error", `{"error":"x","code":"exec_transport_error"}`),
		strings.ReplaceAll(stdout(whole), "\n", "\r\n"), ": comment\n\nretry: 1\nid: 7\n" + stdout(whole), "\ufeff" + stdout(whole),
		"event: stdout\ndata: " + encodeLine(whole[:30]) + "\ndata: " + encodeLine(whole[30:]) + "\n\n", "data: x\n\n", "event: stdout\n", "event:stdout\ndata:!!!\n\n",
	} {
		f.Add([]byte(seed))
	}
	var answer atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(*answer.Load())
	}))
	f.Cleanup(server.Close)
	client, err := New(Config{URL: server.URL, RetryMax: 1, RetryWaitMin: time.Microsecond, RetryWaitMax: time.Microsecond})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		answer.Store(&stream)
		r := &reply{nonce: testNonce, limit: 1 << 12}
		err := newSandbox(client, "abc").exec(t.Context(), []string{"x"}, r)
		if (err == nil) != r.ended {
			t.Errorf("ended %v, %v", r.ended, err)
		}
		if r.held > r.limit || len(r.payload) > maxPayload {
			t.Errorf("%d bytes in %d lines", r.held, len(r.payload))
		}
	})
}

func encodeLine(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// FuzzTreeAnswer takes what a sandbox says of a tree.
func FuzzTreeAnswer(f *testing.F) {
	zeros := strings.Repeat("0", 64)
	asked := Tree{
		{Path: "a", Kind: KindDirectory, Mode: 0o755},
		{Path: "a/b", Kind: KindFile, Mode: 0o644, Size: 1, SHA256: zeros},
		{Path: "l", Kind: KindSymlink, Target: "a"},
	}
	f.Add([]byte("41ed 0 ./a\x0081a4 1 ./a/b\x00a1ff 1 ./l\x00\x00" + zeros + " *./a/b\x00\x00./l\x00a\x00\x00./a\x00"))
	f.Add([]byte("\x00\x00\x00"))
	f.Add([]byte("81a4 1 ../x\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := readTree(compress(text), asked)
		if err != nil {
			return
		}
		for _, e := range found {
			if _, ok := asked.byPath()[e.Path]; !ok {
				t.Errorf("%q was not asked about", e.Path)
			}
		}
	})
}

// FuzzTreeEncoding takes what may stand in a state.
func FuzzTreeEncoding(f *testing.F) {
	f.Add([]byte("d 0755\x00a\x00f 0644 1 " + strings.Repeat("0", 64) + "\x00a/b\x00l ../x\x00c\x00"))
	f.Add([]byte("o 0600\x00p\x00"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		tree, err := DecodeTree(encoded)
		if err != nil {
			return
		}
		again, err := DecodeTree(tree.Encode())
		if err != nil || !bytes.Equal(again.Encode(), tree.Encode()) {
			t.Errorf("%q became %q, %v", encoded, again.Encode(), err)
		}
	})
}

// FuzzPackedTree packs a tree of two paths and looks at the tar that goes to the sandbox: it has what the tree says, and
// nothing outside of its own directory.
func FuzzPackedTree(f *testing.F) {
	f.Add("a", "b", "content", uint16(0o644))
	f.Add("../x", "/etc", "", uint16(0o7777))
	f.Add("a/b", "a", strings.Repeat("x", 1000), uint16(0))
	f.Add(strings.Repeat("n", 200), "\xff\n", "\x00", uint16(0o4755))
	f.Fuzz(func(t *testing.T, file, link, content string, mode uint16) {
		sum := sha256.Sum256([]byte(content))
		tree := Tree{
			{Path: file, Kind: KindFile, Mode: uint32(mode) & 0o7777, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])},
			{Path: link, Kind: KindSymlink, Target: content},
		}
		tree.Sort()
		if tree.Validate(Workspace) != nil {
			return
		}
		u := TreeUpload{Path: ".", Tree: tree, Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
		var packed bytes.Buffer
		if _, err := packTree(&packed, u, diffTree(u)); err != nil {
			t.Fatalf("%q, %q: %v", file, link, err)
		}
		zipped, err := gzip.NewReader(&packed)
		if err != nil {
			t.Fatal(err)
		}
		archive, found := tar.NewReader(zipped), 0
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			name, inside := strings.CutPrefix(header.Name, "tree/")
			switch {
			case !inside || name == "":
				continue
			case path.Clean("/"+name) != "/"+name:
				t.Errorf("%q is in the archive", header.Name)
			case name == file && header.Typeflag == tar.TypeReg:
				got, err := io.ReadAll(archive)
				if err != nil || string(got) != content || header.Mode&0o600 != 0o600 {
					t.Errorf("%q: %q, %v", name, got, err)
				}
				found++
			case name == link && header.Typeflag == tar.TypeSymlink && header.Linkname == content:
				found++
			}
		}
		if found != 2 {
			t.Errorf("%d of %q and %q are in the archive", found, file, link)
		}
	})
}

// FuzzListing takes the list of a directory that is to be packed.
func FuzzListing(f *testing.F) {
	f.Add([]byte("a/\x00a/b\x00.cloudflaresandbox/\x00.cloudflaresandbox/x\x00"))
	f.Add([]byte("../x\x00/\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range selectNames(text, Workspace, func(p string) bool { return p == "a" }) {
			if !strings.HasPrefix(name, "./") || strings.ContainsRune(name, 0) || name == "./a" || name == "./.cloudflaresandbox" {
				t.Errorf("%q is chosen", name)
			}
		}
	})
}

// FuzzMountAnswer takes what a sandbox says of a mount.
func FuzzMountAnswer(f *testing.F) {
	f.Add([]byte("fuse.s3fs rw alive cloudflaresandbox-x\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := parseMount(data)
		if (info == nil) == (err == nil) {
			t.Errorf("got %v, %v", info, err)
		}
	})
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}
