//go:build unix

package library

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestAskPython asks every interpreter for a package: one that cannot run is not noticed otherwise.
func TestAskPython(t *testing.T) {
	for _, python := range pythons() {
		if out, err := helper(t.Context(), quietFolder(), python, "-I", "-c", askPython, "onnxruntime").CombinedOutput(); err != nil {
			t.Errorf("%s does not run: %v: %s", python, err, out)
		}
	}
}

// TestUserPackage finds a package among the user's own, which an isolated interpreter omits.
func TestUserPackage(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("there is no python3 to ask")
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	// A wrapper script before the interpreter may need the true home.
	python := realPython(t)
	t.Setenv("PATH", filepath.Dir(python))
	t.Setenv("HOME", t.TempDir())
	out, err := helper(t.Context(), quietFolder(), python, "-I", "-c", "import site, sys; print(site.getusersitepackages() if sys.prefix == sys.base_prefix else '')").Output()
	site := strings.TrimSpace(string(out))
	if err != nil || site == "" {
		t.Skip("the interpreter has no packages of the user: ", err)
	}
	reftest.OK(t, os.MkdirAll(filepath.Join(site, "onnxruntime"), 0o755))
	reftest.OK(t, os.WriteFile(filepath.Join(site, "onnxruntime", "__init__.py"), []byte("raise SystemExit('it is imported')"), 0o644))
	if got := pythonFolders(t.Context()); len(got) != 1 || !Same(filepath.Dir(filepath.Dir(got[0])), site) {
		t.Errorf("folders %v, want one in %s", got, site)
	}
}

// realPython returns the interpreter itself, if the first one is a script.
func realPython(t *testing.T) string {
	t.Helper()
	out, err := helper(t.Context(), quietFolder(), pythons()[0], "-I", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" {
		t.Skip("the interpreter does not tell where it is: ", err)
	}
	if base := filepath.Base(path); base != "python3" && base != "python" {
		link := filepath.Join(t.TempDir(), "python3")
		reftest.OK(t, os.WriteFile(link, []byte("#!/bin/sh\nexec '"+path+"' \"$@\"\n"), 0o755))
		return link
	}
	return path
}

// TestClients runs pip's help as a fetch runs pip: it must work with the variables that a helper
// sees.
func TestClients(t *testing.T) {
	if len(pythons()) == 0 {
		t.Skip("there is no python3 to ask")
	}
	var said []string
	for _, command := range here(t).pip() {
		out, err := helper(t.Context(), t.TempDir(), append(command, "--help")...).CombinedOutput()
		if err == nil {
			return
		}
		said = append(said, complaint(string(out), err))
	}
	t.Error("pip does not run: ", said)
}

func TestKeptEnviron(t *testing.T) {
	kept := keptEnviron([]string{"PATH=/bin", "https_proxy=a", "PIP_INDEX_URL=b", "PYENV_VERSION=e",
		"PYTHONPATH=x", "NPM_TOKEN=d", "PYTHONSTARTUP=x", "NODE_OPTIONS=x", "LD_PRELOAD=x", "BASH_ENV=x", "DYLD_INSERT_LIBRARIES=x", "SECRET=x"})
	if got, want := strings.Join(kept, " "), "PATH=/bin https_proxy=a PIP_INDEX_URL=b PYENV_VERSION=e"; got != want {
		t.Errorf("kept %s", got)
	}
}
