package library

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"mdmgen/internal/cachedir"
)

// Install downloads the pinned version into the cache if it is not there, as a first use would.
// With cuda it downloads the build with CUDA, which nothing else does, and reports the machine's
// support for CUDA.
func (s Search) Install(ctx context.Context, cuda bool) (Library, *CUDA, error) {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, cuda)
	if err != nil {
		return Library{}, nil, err
	}
	cached := s.examine(ctx, b.path(), sourceCache)
	if cached.Reason == "" && (!cuda || cached.CheckCUDA() == nil) {
		return cached.Library, b.lacks(ctx, cached.Library), nil
	}
	l, err := b.fetch(ctx, s, nil)
	if err != nil {
		return Library{}, nil, err
	}
	return *l, b.lacks(ctx, *l), nil
}

// Bundle writes the pinned library for a system, in Go's names, with its licence and notices into a
// folder, for a release of the program.
func Bundle(ctx context.Context, goos, goarch, dir string) (err error) {
	b, err := buildFor(goos, goarch, false)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mdmgen-runtime-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	archive, err := b.archive(ctx, tmp)
	for _, name := range []string{b.library(), "onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt"} {
		if err == nil {
			err = extract(archive, name, filepath.Join(dir, path.Base(name)))
		}
	}
	return err
}

// lacks returns the machine's support for CUDA if the build has CUDA, else nil.
func (b build) lacks(ctx context.Context, l Library) *CUDA {
	if b.cuda == "" {
		return nil
	}
	c := l.CUDA(ctx, 0)
	return &c
}

// path returns the path where a fetch puts the library, "" if there is no cache.
func (b build) path() string {
	root, err := cacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(root, b.folder(), path.Base(b.library()))
}

// cacheDir is the part of the cache that holds fetched libraries.
func cacheDir() (string, error) {
	dir, err := cachedir.Path()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "runtime"), nil
}
