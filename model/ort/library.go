package ort

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// A Library is an ONNX Runtime library on this machine.
type Library struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	// Source says where it was found: "--runtime", "MDMGEN_RUNTIME", "beside the
	// executable", "cache", "python package", "system", "fetched".
	Source string `json:"source"`
	// SHA256 is the digest of a library of the cache, which is a published one; "" for
	// others.
	SHA256 string `json:"sha256,omitempty"`
}

// A Candidate is a library that the search met.
type Candidate struct {
	Library
	// Reason says why it cannot be used; empty if it can.
	Reason string `json:"reason,omitempty"`
	// damaged means that a fetch put the library there, and that it is no longer what
	// was fetched.
	damaged bool
	cause   error // of Reason
}

// A place is a step of the search. Folders are asked for when the step is
// reached, since one of them asks a Python interpreter.
type place struct {
	source  string
	folders func(ctx context.Context) []string
}

// sourceCache is the [Library]'s Source of what a fetch has left.
const sourceCache = "cache"

// places are the steps of the search where nothing points at a library.
var places = []place{
	{"beside the executable", func(context.Context) []string { return besideExecutable() }},
	{sourceCache, func(context.Context) []string { return cacheFolders() }},
	{"python package", pythonFolders},
	{"system", func(context.Context) []string { return systemFolders() }},
}

// named returns what --runtime or MDMGEN_RUNTIME says.
func (c Config) named() (path, source string) {
	if c.Library != "" {
		return c.Library, "--runtime"
	}
	return os.Getenv("MDMGEN_RUNTIME"), "MDMGEN_RUNTIME"
}

// find returns the library that a configuration means and accept takes, and all
// candidates up to it. A library that was pointed at is taken or refused with a
// [*MissingError]; a search that finds nothing returns no library and no error.
// accept may be nil; it says why a library cannot be used. With renew a damaged
// library of the cache ends the search, since a fetch makes it again.
func find(ctx context.Context, cfg Config, accept func(Library) error, renew bool) (*Library, []Candidate, error) {
	if path, source := cfg.named(); path != "" {
		return cfg.findNamed(ctx, path, source, accept)
	}
	var all []Candidate
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, all, err
		}
		for _, dir := range p.folders(ctx) {
			found, tried := cfg.findIn(ctx, dir, p.source, accept)
			all = append(all, tried...)
			if found != nil {
				return found, all, nil
			}
			if renew && damaged(tried) != nil {
				return nil, all, nil
			}
		}
	}
	return nil, all, nil
}

// findNamed resolves --runtime: a library, or a folder that holds one.
func (c Config) findNamed(ctx context.Context, path, source string, accept func(Library) error) (*Library, []Candidate, error) {
	refuse := func(reason string) error {
		return &MissingError{What: fmt.Sprintf("%s %s: %s", source, path, reason),
			Do: "point it at the library or folder of ONNX Runtime " + MinVersion + " or newer"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, refuse("no such file or folder")
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil, refuse("not a regular file") // Device permissions do not establish trust.
	}
	if !info.IsDir() {
		one := c.examine(ctx, path, source)
		if !one.take(accept) {
			return nil, []Candidate{one}, refuse(one.Reason)
		}
		return &one.Library, []Candidate{one}, nil
	}
	var all []Candidate
	for _, sub := range insideFolders {
		found, tried := c.findIn(ctx, filepath.Join(path, sub), source, accept)
		all = append(all, tried...)
		if found != nil {
			return found, all, nil
		}
	}
	if len(all) > 0 {
		return nil, all, refuse(filepath.Base(all[0].Path) + ": " + all[0].Reason)
	}
	return nil, all, refuse("no ONNX Runtime library is in that folder")
}

// insideFolders are the places of the library in what the makers publish: an
// archive, a Python package, an environment's site-packages.
var insideFolders = []string{"", "lib", "bin", "capi", filepath.Join("onnxruntime", "capi")}

// findIn returns the newest usable library in a folder, and all that are there.
func (c Config) findIn(ctx context.Context, dir, source string, accept func(Library) error) (*Library, []Candidate) {
	// A folder's own name may hold a bracket, so that only the names in it are
	// matched.
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	var tried []Candidate
	seen := map[string]bool{}
	for _, e := range entries {
		if !isLibraryName(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		target, err := filepath.EvalSymlinks(path)
		if err != nil || seen[target] {
			continue
		}
		seen[target] = true
		tried = append(tried, c.examine(ctx, path, source))
	}
	slices.SortStableFunc(tried, func(a, b Candidate) int { return compareVersions(b.Version, a.Version) })
	for i := range tried {
		if tried[i].take(accept) {
			return &tried[i].Library, tried[:i+1]
		}
	}
	return nil, tried
}

func isLibraryName(name string) bool {
	return slices.ContainsFunc(libraryPatterns(), func(pattern string) bool {
		ok, _ := filepath.Match(pattern, name)
		return ok
	})
}

// examine judges one file without loading it: who can write to it, the version in
// its name, and in the cache whether it is what was fetched.
func (c Config) examine(ctx context.Context, path, source string) Candidate {
	one := Candidate{Library: Library{Path: path, Source: source}}
	err := trusted(path)
	if err == nil && source == sourceCache {
		one.SHA256, err = publishedSum(ctx, path, Stamps(c.VerifyDigest))
		one.damaged = errors.Is(err, errDamaged)
	}
	if err == nil {
		one.Version, err = probe(path)
	}
	if err != nil {
		one.Reason = oneLine(err.Error())
	}
	return one
}

// take asks accept for a candidate against which nothing speaks yet.
func (c *Candidate) take(accept func(Library) error) bool {
	if c.Reason == "" && accept != nil {
		if err := accept(c.Library); err != nil {
			c.Reason, c.cause = oneLine(err.Error()), err
		}
	}
	return c.Reason == ""
}

// besideExecutable also returns the folder of a release, which has the program in bin and the
// library in lib/mdmgen.
func besideExecutable() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	dir := filepath.Dir(behindLinks(exe))
	return []string{dir, filepath.Join(dir, "lib"), filepath.Join(dir, "..", "lib", "mdmgen")}
}

func cacheFolders() []string {
	dir, err := runtimeDir()
	if err != nil {
		return nil
	}
	sweepLater(dir)
	var dirs []string
	for _, b := range builds {
		if b.goos == runtime.GOOS && b.goarch == runtime.GOARCH {
			dirs = append(dirs, filepath.Join(dir, b.folder()))
		}
	}
	return dirs
}

// systemFolders returns the folders that the loader of this system searches.
func systemFolders() []string {
	switch runtime.GOOS {
	case "windows":
		return filepath.SplitList(os.Getenv("PATH"))
	case "darwin":
		return append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), "/opt/homebrew/lib", "/usr/local/lib", "/usr/lib")
	}
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, base := range []string{"/usr/local/lib", "/usr/lib"} {
		dirs = append(dirs, filepath.Join(base, triplet), base, base+"64")
	}
	return dirs
}
