package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

func TestFileKeyKeepsNamesApart(t *testing.T) {
	t.Parallel()

	keys := map[string]string{
		"a b/c":       "a b/c",
		"gr\u00fcn":   "gr\u00fcn",
		"gru\u0308n":  `"gru\u0308n"`,
		"latin1-\xe9": `"latin1-\xe9"`,
		`"quoted"`:    `"\"quoted\""`,
		"new\nline":   "new\nline",
	}

	for path, want := range keys {
		if got := fileKey(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
		if got := keyFile(want); got != path {
			t.Errorf("%s: got %q, want %q", want, got, path)
		}
	}
}

func TestCheckGlob(t *testing.T) {
	t.Parallel()

	globs := map[string]bool{
		"*": true, "**": true, "**/*.log": true, "a/{b,c}/[d-f]?": true, `\[x\]`: true, ".git": true, "..x": true, "a b": true,
		"": false, "/a": false, "./a": false, "a/": false, "a//b": false, "../a": false, "a/..": false, "[": false, "{a": false, `a\`: false,
	}

	for glob, valid := range globs {
		if err := checkGlob(glob); (err == nil) != valid {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

func TestCheckGlobSuggestsTheSameWithoutItsStart(t *testing.T) {
	t.Parallel()

	for glob, want := range map[string]string{"/a": "a", "./.git": ".git", "/.git": ".git", ".//././..x": "..x"} {
		if err := checkGlob(glob); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("write %q", want)) {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

func TestExcluderMatchesWholePaths(t *testing.T) {
	t.Parallel()

	cases := map[string]map[string]bool{
		"*.log":           {"a.log": true, "d/a.log": false, ".log": true, "a.log/b": false},
		"**/*.log":        {"a.log": true, "d/a.log": true, "d/e/.log": true, "a.logs": false},
		"**/node_modules": {"node_modules": true, "a/node_modules": true, "node_modules_": false},
		"build/**":        {"build": true, "build/a/b": true, "a/build": false},
		"a?c":             {"abc": true, "a\u00fcc": true, "a/c": false, "ac": false},
		"new\nline":       {"new\nline": true},
	}

	for glob, paths := range cases {
		excluded, known := excluder(t.Context(), types.SetValueMust(types.StringType, []attr.Value{types.StringValue(glob)}), &diag.Diagnostics{})
		if !known {
			t.Fatalf("%q is not known", glob)
		}
		for path, want := range paths {
			if got := excluded(path); got != want {
				t.Errorf("%q and %q: got %t", glob, path, got)
			}
		}
	}
}

func TestStillThereDropsWhatIsGoneOrAnotherKind(t *testing.T) {
	t.Parallel()

	entry := func(path string, kind bridge.Kind) bridge.TreeEntry { return bridge.TreeEntry{Path: path, Kind: kind} }
	was := bridge.Tree{
		entry("changed", bridge.KindFile), entry("directory", bridge.KindDirectory), entry("gone", bridge.KindFile), entry("link", bridge.KindSymlink),
		entry("now a directory", bridge.KindFile), entry("now a file", bridge.KindDirectory), entry("now a pipe", bridge.KindFile),
	}
	info := &bridge.TreeInfo{Root: bridge.KindDirectory, Tree: bridge.Tree{
		{Path: "changed", Kind: bridge.KindFile, SHA256: "other"},
		entry("directory", bridge.KindDirectory), entry("link", bridge.KindFile),
		entry("now a directory", bridge.KindDirectory), entry("now a file", bridge.KindFile), entry("now a pipe", bridge.KindOther),
	}}

	if got, want := stillThere(was, info), (bridge.Tree{was[0], was[1], was[3]}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEitherTreeHasEveryPathOnce(t *testing.T) {
	t.Parallel()

	was := bridge.Tree{{Path: "a", Kind: bridge.KindFile}, {Path: "b", Kind: bridge.KindFile}}
	wanted := bridge.Tree{{Path: "b", Kind: bridge.KindDirectory}, {Path: "b/c", Kind: bridge.KindFile}}

	if got, want := eitherTree(was, wanted), (bridge.Tree{was[0], wanted[0], wanted[1]}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDirectoryHoldsWhatIsPlanned(t *testing.T) {
	t.Parallel()

	recorded := directoryModel{
		SandboxID: types.StringValue("abc"), Path: types.StringValue("/workspace/x"), SHA256: types.StringValue("aaaa"), Revision: types.StringValue("r1"),
	}
	cases := map[string]struct {
		prior, plan func(*directoryModel)
		want        bool
	}{
		"the same":             {nil, nil, true},
		"other content":        {nil, func(m *directoryModel) { m.SHA256 = types.StringValue("bbbb") }, false},
		"other path":           {nil, func(m *directoryModel) { m.Path = types.StringValue("/workspace/y") }, false},
		"sandbox unknown":      {nil, func(m *directoryModel) { m.SandboxID = types.StringUnknown() }, false},
		"something else there": {func(m *directoryModel) { m.Revision = types.StringNull() }, nil, false},
		"other source":         {nil, func(m *directoryModel) { m.Source = types.StringValue("elsewhere") }, true},
	}

	for name, c := range cases {
		prior, plan := recorded, recorded
		if c.prior != nil {
			c.prior(&prior)
		}
		if c.plan != nil {
			c.plan(&plan)
		}
		if got := prior.holds(plan); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
