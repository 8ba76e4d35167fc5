package main

import (
	"testing"

	"mdmgen/internal/reftest"
)

// TestRename: what names the module is renamed, and its commands, files and words are not.
func TestRename(t *testing.T) {
	t.Parallel()
	const text = "// Package p is mdmgen's; see [m/samplers.New].\npackage p\n\nimport (\n\t\"m\"\n\tx \"m/model\"\n\t\"mine/m/model\"\n)\n\nconst path = \"m/model\"\n"
	const want = "// Package p is mdmgen's; see [example.org/m/samplers.New].\npackage p\n\nimport (\n\t\"example.org/m\"\n\tx \"example.org/m/model\"\n\t\"mine/m/model\"\n)\n\nconst path = \"m/model\"\n"
	if got := string(reftest.Must(imports("p.go", []byte(text), "m", "example.org/m"))(t)); got != want {
		t.Errorf("%s", got)
	}
	for _, c := range []struct{ kind, text, want string }{
		{".mod", "module m/queue\n", "module n/queue\n"},
		{".mod", "require (\n\tm v0.0.0\n\tm.org/x v1\n)\nreplace m => ../\n", "require (\n\tn v0.0.0\n\tm.org/x v1\n)\nreplace n => ../\n"},
		{".md", "\t\"m/model\"\n\"m/model\"\nm generate, cmd/m\n`go doc -all m/samplers`\n", "\t\"n/model\"\n\"m/model\"\nm generate, cmd/m\n`go doc -all n/samplers`\n"},
		{".md", "require m v0.0.0\n\nreplace m => ../m\n", "require n v0.0.0\n\nreplace n => ../m\n"},
	} {
		if got := string(others([]byte(c.text), c.kind, "m", "n")); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
