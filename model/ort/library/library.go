package library

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/fault"
)

// A Search sets where the library is looked for, and whether it may be fetched. The zero value
// searches, and fetches one if there is none.
type Search struct {
	// Library is the runtime's library, or a folder that contains it; empty means MDMGEN_RUNTIME,
	// then the search, then a fetch.
	Library string
	// Offline forbids fetching, as MDMGEN_OFFLINE=1 does.
	Offline bool
	// Online allows fetching, whatever MDMGEN_OFFLINE is.
	Online bool
	// VerifyDigest makes every file be read again, even if its digest is remembered.
	VerifyDigest bool
	// Log is called with one-line notices, such as what was fetched. It may be nil.
	Log func(string)
	// Spell writes the settings that notices and reports name; nil means as [fault.Term] does.
	Spell func(fault.Term) string
}

// Notify logs a notice.
func (s Search) Notify(line string) {
	if s.Log != nil {
		s.Log(line)
	}
}

// IsOffline reports whether fetching is forbidden, by Offline or by MDMGEN_OFFLINE. Online
// overrides both.
func (s Search) IsOffline() bool {
	if s.Online {
		return false
	}
	switch strings.ToLower(os.Getenv("MDMGEN_OFFLINE")) {
	case "", "0", "false", "no", "off":
		return s.Offline
	}
	return true
}

// A Library is an ONNX Runtime library on this machine.
type Library struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	// Source is where it was found: "runtime" (named), "MDMGEN_RUNTIME", "beside the executable",
	// "cache", "python package", "system", "fetched".
	Source string `json:"source"`
	// SHA256 is the digest of a library in the cache, which is a published one; "" for others.
	SHA256 string `json:"sha256,omitempty"`
}

// A Candidate is a library that the search found.
type Candidate struct {
	Library
	// Reason is why it cannot be used; empty if it can.
	Reason string `json:"reason,omitempty"`
	// damaged means that a fetch put the library there, and that it has changed since.
	damaged bool
	cause   error // the error behind Reason
}

// Reject sets the reason why the library cannot be used.
func (c *Candidate) Reject(err error) { c.Reason, c.cause = fault.Line(err.Error()), err }

// LacksCUDA reports whether the library is rejected only because it has no CUDA provider.
func (c Candidate) LacksCUDA() bool { return errors.Is(c.cause, errNoCUDA) }

// A place is a step of the search. Its folders are computed when the step is reached, since one
// step runs a Python interpreter.
type place struct {
	source  string
	folders func(ctx context.Context) []string
}

// sourceCache is the Source of a [Library] in the cache.
const sourceCache = "cache"

// places are the steps of the search if no library is named.
var places = []place{
	{"beside the executable", func(context.Context) []string { return besideExecutable() }},
	{sourceCache, func(context.Context) []string { return cacheFolders() }},
	{"python package", pythonFolders},
	{"system", func(context.Context) []string { return systemFolders() }},
}

// Named returns the path given by Library or MDMGEN_RUNTIME, and the Source of a library there.
func (s Search) Named() (path, source string) {
	if s.Library != "" {
		return s.Library, named.Name
	}
	return os.Getenv("MDMGEN_RUNTIME"), "MDMGEN_RUNTIME"
}

// Find returns the library that matches the search and that accept takes, and all candidates
// up to it. A library that is named explicitly is returned or rejected with a [*MissingError]; a
// search that finds nothing returns no library and no error. accept may be nil; its error is the
// reason against a library. With renew, a damaged library in the cache ends the search, since a
// fetch replaces it.
func (s Search) Find(ctx context.Context, accept func(Library) error, renew bool) (*Library, []Candidate, error) {
	if path, source := s.Named(); path != "" {
		return s.findNamed(ctx, path, source, accept)
	}
	var all []Candidate
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, all, err
		}
		for _, dir := range p.folders(ctx) {
			found, tried := s.findIn(ctx, dir, p.source, accept)
			all = append(all, tried...)
			if found != nil {
				return found, all, nil
			}
			if renew && Damaged(tried) != nil {
				return nil, all, nil
			}
		}
	}
	return nil, all, nil
}

// findNamed resolves a path that is named: a library, or a folder that contains one.
func (s Search) findNamed(ctx context.Context, path, source string, accept func(Library) error) (*Library, []Candidate, error) {
	refuse := func(reason string) error {
		return &MissingError{Err: fault.Advise("%v: %s", fault.Term{Name: source, Value: path}, reason),
			Do: errors.New("point it at the library or folder of ONNX Runtime " + MinVersion + " or newer")}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, refuse("no such file or folder")
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil, refuse("not a regular file") // The permissions of a device do not establish trust.
	}
	if !info.IsDir() {
		one := s.examine(ctx, path, source)
		if !one.take(accept) {
			return nil, []Candidate{one}, refuse(one.Reason)
		}
		return &one.Library, []Candidate{one}, nil
	}
	var all []Candidate
	for _, sub := range insideFolders {
		found, tried := s.findIn(ctx, filepath.Join(path, sub), source, accept)
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

// insideFolders are the folders of the library in the published forms: an archive, a Python
// package, an environment's site-packages.
var insideFolders = []string{"", "lib", "bin", "capi", filepath.Join("onnxruntime", "capi")}

// findIn returns the newest usable library in a folder, and the candidates up to it.
func (s Search) findIn(ctx context.Context, dir, source string, accept func(Library) error) (*Library, []Candidate) {
	// A folder's own name may contain a bracket, so match only the names in it.
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
		tried = append(tried, s.examine(ctx, path, source))
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
	numbered, _ := filepath.Match(fileName(runtime.GOOS, "onnxruntime", ".*"), name)
	return numbered || name == fileName(runtime.GOOS, "onnxruntime", "")
}

// examine checks one file without loading it: who can write to it, the version in its name, and, if
// it is in the cache, whether it is the one fetched.
func (s Search) examine(ctx context.Context, path, source string) Candidate {
	one := Candidate{Library: Library{Path: path, Source: source}}
	err := trusted(path)
	if err == nil && source == sourceCache {
		one.SHA256, err = publishedSum(ctx, path, cachedir.Stamps(s.VerifyDigest))
		one.damaged = errors.Is(err, errDamaged)
	}
	if err == nil {
		one.Version, err = probe(path)
	}
	if err != nil {
		one.Reject(err)
	}
	return one
}

// take reports whether a candidate without a reason against it satisfies accept.
func (c *Candidate) take(accept func(Library) error) bool {
	if c.Reason == "" && accept != nil {
		if err := accept(c.Library); err != nil {
			c.Reject(err)
		}
	}
	return c.Reason == ""
}

// besideExecutable returns the folders next to the program, including lib/mdmgen of a release,
// whose program is in bin.
func besideExecutable() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	dir := filepath.Dir(resolveLinks(exe))
	return []string{dir, filepath.Join(dir, "lib"), filepath.Join(dir, "..", "lib", "mdmgen")}
}

func cacheFolders() []string {
	dir, err := cacheDir()
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

// systemFolders returns the folders that this system's loader searches.
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
