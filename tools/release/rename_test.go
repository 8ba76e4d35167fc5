package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
)

// TestRename checks that names of the module are renamed, and that its commands, files and words
// are not.
func TestRename(t *testing.T) {
	t.Parallel()
	script := reftest.Must(filepath.Abs("../rename-module"))(t)
	dir := t.TempDir()
	run := func(words ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", words, err, out)
		}
	}
	files := []struct{ name, text, want string }{
		{"go.mod", "module m\n", "module e.org/m\n"},
		{"check/go.mod", "module m/check\n\nrequire (\n\tm v0.0.0\n\tm.org/x v1\n)\n\nreplace m => ../\n", "module e.org/m/check\n\nrequire (\n\te.org/m v0.0.0\n\tm.org/x v1\n)\n\nreplace e.org/m => ../\n"},
		{
			"p.go",
			"// Package p is m's; see [m/samplers.New].\npackage p\n\nimport (\n\t\"m\"\n\t\"mine/m/model\"\n\tx \"m/model\"\n)\n\nconst path = \"m/model\"\n",
			"// Package p is m's; see [e.org/m/samplers.New].\npackage p\n\nimport (\n\t\"e.org/m\"\n\tx \"e.org/m/model\"\n\t\"mine/m/model\"\n)\n\nconst path = \"m/model\"\n",
		},
		{"a.md", "\t\"m/model\"\n\"m/model\"\nm generate, cmd/m\n`go doc -all m/samplers`\n", "\t\"e.org/m/model\"\n\"m/model\"\nm generate, cmd/m\n`go doc -all e.org/m/samplers`\n"},
		{"b.md", "require m v0.0.0\n\nreplace m => ../m\n", "require e.org/m v0.0.0\n\nreplace e.org/m => ../m\n"},
	}
	reftest.OK(t, os.Mkdir(filepath.Join(dir, "check"), 0o755))
	for _, f := range files {
		reftest.OK(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644))
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run(script, "e.org/m")
	for _, f := range files {
		if got := string(reftest.Must(os.ReadFile(filepath.Join(dir, f.name)))(t)); got != f.want {
			t.Errorf("%s: %s", f.name, got)
		}
	}
}
