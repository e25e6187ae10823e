package provider

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// recorded is a file as the state has it.
func recorded() fileModel {
	return fileModel{
		SandboxID: types.StringValue("abc"), Path: types.StringValue("/workspace/x"), Mode: types.StringValue("0644"),
		SHA256: types.StringValue("aaaa"), Size: types.Int64Value(1), Revision: types.StringValue("r1"),
	}
}

func TestPlanFile(t *testing.T) {
	t.Parallel()

	known := func(sha256 string, size int64) contentDigest {
		return contentDigest{sha256: sha256, size: size, known: true}
	}
	version := func(n int64) func(*fileModel) {
		return func(m *fileModel) { m.ContentWOVersion = types.Int64Value(n) }
	}
	text, number := types.StringValue, types.Int64Value
	keep := plannedFile{sha256: text("aaaa"), size: number(1), revision: text("r1")}
	write := plannedFile{sha256: text("bbbb"), size: number(2), revision: types.StringUnknown()}
	rewrite := plannedFile{sha256: text("aaaa"), size: number(1), revision: types.StringUnknown()}
	later := plannedFile{sha256: types.StringUnknown(), size: types.Int64Unknown(), revision: types.StringUnknown()}
	hidden := plannedFile{sha256: types.StringNull(), size: types.Int64Null(), revision: types.StringUnknown()}
	hiddenKept := plannedFile{sha256: types.StringNull(), size: types.Int64Null(), revision: text("r1")}

	asSecret := func(m *fileModel) {
		version(1)(m)
		m.SHA256, m.Size = types.StringNull(), types.Int64Null()
	}

	cases := map[string]struct {
		prior  func(*fileModel) // nil: there is none
		plan   func(*fileModel)
		digest contentDigest
		want   plannedFile
	}{
		"new":                    {nil, func(*fileModel) {}, known("bbbb", 2), write},
		"new, content unknown":   {nil, func(*fileModel) {}, contentDigest{}, later},
		"new, secret":            {nil, version(1), contentDigest{secret: true}, hidden},
		"same":                   {func(*fileModel) {}, func(*fileModel) {}, known("aaaa", 1), keep},
		"other content":          {func(*fileModel) {}, func(*fileModel) {}, known("bbbb", 2), write},
		"content unknown":        {func(*fileModel) {}, func(*fileModel) {}, contentDigest{}, later},
		"other mode":             {func(*fileModel) {}, func(m *fileModel) { m.Mode = text("0600") }, known("aaaa", 1), rewrite},
		"mode unknown":           {func(*fileModel) {}, func(m *fileModel) { m.Mode = types.StringUnknown() }, known("aaaa", 1), rewrite},
		"other path":             {func(*fileModel) {}, func(m *fileModel) { m.Path = text("/workspace/y") }, known("aaaa", 1), rewrite},
		"sandbox unknown":        {func(*fileModel) {}, func(m *fileModel) { m.SandboxID = types.StringUnknown() }, known("aaaa", 1), rewrite},
		"something else there":   {func(m *fileModel) { m.Revision = types.StringNull() }, func(*fileModel) {}, known("aaaa", 1), rewrite},
		"secret, same version":   {asSecret, version(1), contentDigest{secret: true}, hiddenKept},
		"secret, other version":  {asSecret, version(2), contentDigest{secret: true}, hidden},
		"secret, changed inside": {func(m *fileModel) { asSecret(m); m.Revision = types.StringNull() }, version(1), contentDigest{secret: true}, hidden},
		"content, then secret":   {func(*fileModel) {}, version(1), contentDigest{secret: true}, hidden},
		"secret, then content":   {asSecret, func(*fileModel) {}, known("bbbb", 2), write},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			plan := recorded()
			c.plan(&plan)
			var prior *fileModel
			if c.prior != nil {
				before := recorded()
				c.prior(&before)
				prior = &before
			}

			if got := planFile(prior, plan, c.digest); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// noPrivate is a private state without anything in it.
type noPrivate struct{}

func (noPrivate) GetKey(context.Context, string) ([]byte, diag.Diagnostics) { return nil, nil }

func TestObserveFile(t *testing.T) {
	t.Parallel()

	sum := strings.Repeat("b", 64)
	cases := map[string]struct {
		state                        func(*fileModel)
		info                         bridge.FileInfo
		sha256, mode, revision, size string
	}{
		"the same": {
			nil,
			bridge.FileInfo{Kind: bridge.KindFile, Mode: 0o644, Size: 1, SHA256: "aaaa"},
			`"aaaa"`, `"0644"`, `"r1"`, "1",
		},
		"other content": {
			nil,
			bridge.FileInfo{Kind: bridge.KindFile, Mode: 0o644, Size: 2, SHA256: sum},
			`"` + sum + `"`, `"0644"`, `"r1"`, "2",
		},
		"other mode": {
			nil,
			bridge.FileInfo{Kind: bridge.KindFile, Mode: 0o4755, Size: 1, SHA256: "aaaa"},
			`"aaaa"`, `"4755"`, `"r1"`, "1",
		},
		"mode in the configuration's writing": {
			func(m *fileModel) { m.Mode = types.StringValue("644") },
			bridge.FileInfo{Kind: bridge.KindFile, Mode: 0o644, Size: 1, SHA256: "aaaa"},
			`"aaaa"`, `"644"`, `"r1"`, "1",
		},
		"a directory": {
			nil,
			bridge.FileInfo{Kind: bridge.KindDirectory, Mode: 0o755},
			"<null>", `"0644"`, "<null>", "<null>",
		},
		"behind a closed directory": {
			nil,
			bridge.FileInfo{Kind: bridge.KindMissing, Unreadable: true},
			"<null>", `"0644"`, "<null>", "<null>",
		},
		"unreadable as it was made": {
			func(m *fileModel) { m.Mode = types.StringValue("0000") },
			bridge.FileInfo{Kind: bridge.KindFile, Size: 1, Unreadable: true},
			`"aaaa"`, `"0000"`, `"r1"`, "1",
		},
		"unreadable by a change": {
			nil,
			bridge.FileInfo{Kind: bridge.KindFile, Size: 1, Unreadable: true},
			"<null>", `"0000"`, `"r1"`, "1",
		},
		"secret of unknown origin": {
			func(m *fileModel) { m.ContentWOVersion = types.Int64Value(1); m.SHA256 = types.StringNull() },
			bridge.FileInfo{Kind: bridge.KindFile, Mode: 0o644, Size: 1, SHA256: "aaaa"},
			"<null>", `"0644"`, "<null>", "1",
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := recorded()
			if c.state != nil {
				c.state(&m)
			}
			if diags := m.observe(t.Context(), c.info, noPrivate{}); diags.HasError() {
				t.Fatal(diags)
			}

			got := strings.Join([]string{m.SHA256.String(), m.Mode.String(), m.Revision.String(), m.Size.String()}, " ")
			if want := strings.Join([]string{c.sha256, c.mode, c.revision, c.size}, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSecretVerifierKnowsOnlyItsContent(t *testing.T) {
	t.Parallel()

	verifier, err := newSecretVerifier("aaaa")
	if err != nil {
		t.Fatal(err)
	}
	if !verifier.matches("aaaa") {
		t.Error("its own content does not match")
	}
	if verifier.matches("aaab") {
		t.Error("another content matches")
	}

	again, err := newSecretVerifier("aaaa")
	if err != nil {
		t.Fatal(err)
	}
	if string(again.Hash) == string(verifier.Hash) {
		t.Error("the same content gives the same hash twice, so it could be looked up")
	}
}

func TestParseFileImportID(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ sandboxID, file string }{
		"abc/workspace/x":         {"abc", "/workspace/x"},
		"abc/workspace/a/../b c":  {"abc", "/workspace/b c"},
		"abc":                     {},
		"abc/":                    {},
		"abc/etc/passwd":          {},
		"abc/workspace":           {},
		"ABC/workspace/x":         {},
		"/workspace/x":            {},
		"abc/workspace/../etc/pw": {},
	}

	for id, want := range cases {
		sandboxID, file, err := parseFileImportID(id)
		if (err != nil) != (want.file == "") {
			t.Errorf("%s: error %v", id, err)
		}
		if err == nil && (sandboxID != want.sandboxID || file != want.file) {
			t.Errorf("%s: got %s and %s", id, sandboxID, file)
		}
	}
}
