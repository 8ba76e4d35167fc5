package library

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// askPython prints the folders of the package named by its argument. The isolated interpreter omits
// the user's own packages, which precede the system's unless the interpreter is in a virtual
// environment. The package is not imported, which would take a second.
const askPython = `import importlib.util, site, sys
if sys.prefix == sys.base_prefix: sys.path.insert(0, site.getusersitepackages())
s = importlib.util.find_spec(sys.argv[1])
print("\n".join(s.submodule_search_locations) if s and s.submodule_search_locations else "")`

// runPip is python -I -m pip for a pip that may be among the user's own packages.
const runPip = `import runpy, site, sys
sys.path.append(site.getusersitepackages())
runpy.run_module("pip", run_name="__main__", alter_sys=True)`

// pythonFolders returns the folder of the onnxruntime package of the active
// Python environment.
func pythonFolders(ctx context.Context) []string {
	dirs := packageFolders(ctx, "onnxruntime")
	for i := range dirs {
		dirs[i] = filepath.Join(dirs[i], "capi")
	}
	return dirs
}

// packageFolders returns the folders of a package in the active Python environments: the one whose
// wheel contains this program and those that the shell has activated, else in the environment of
// the first python3 that runs.
func packageFolders(ctx context.Context, name string) []string {
	var dirs []string
	for _, env := range slices.Compact([]string{programEnvironment(), os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX")}) {
		if env == "" {
			continue
		}
		for _, site := range sitePackages() {
			found, _ := fsGlob(env, path.Join(site, name))
			dirs = append(dirs, found...)
		}
	}
	if len(dirs) > 0 {
		return dirs
	}
	for _, python := range pythons() {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		out, err := helper(ctx, quietFolder(), python, "-I", "-c", askPython, name).Output()
		cancel()
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); line != "" {
				dirs = append(dirs, line)
			}
		}
		break
	}
	return dirs
}

// programEnvironment returns the environment that contains this program if it came in a wheel,
// which puts programs into the folder bin, or Scripts on Windows.
func programEnvironment() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(exe))
}

// sitePackages returns patterns of the package folders in an environment: its own, and the user's
// on Windows or the system's on Debian.
func sitePackages() []string {
	if runtime.GOOS == "windows" {
		return []string{"Lib/site-packages", "site-packages"}
	}
	return []string{"lib/python3*/site-packages", "lib/python3*/dist-packages"}
}

// fsGlob matches a pattern below a folder whose own name is taken literally.
func fsGlob(dir, pattern string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(dir), pattern)
	for i := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(found[i]))
	}
	return found, err
}

// pythons returns the interpreters in the search path.
func pythons() []string {
	var found []string
	for _, name := range []string{"python3", "python"} {
		// Skip one found through a relative entry of the path, as package exec advises.
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	return found
}
