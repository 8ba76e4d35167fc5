package ort

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// Install downloads the pinned version into the cache if it is not there, as a first use would.
// With cuda it downloads the build with CUDA, which nothing else does, and reports the machine's
// support for CUDA.
func Install(ctx context.Context, cfg Config, cuda bool) (Library, *CUDA, error) {
	b, err := buildFor(runtime.GOOS, runtime.GOARCH, cuda)
	if err != nil {
		return Library{}, nil, err
	}
	cached := cfg.examine(ctx, b.path(), sourceCache)
	if cached.Reason == "" && (!cuda || missingCUDA(cached.Library) == nil) {
		return cached.Library, b.lacks(ctx, cached.Library), nil
	}
	l, err := b.fetch(ctx, cfg, nil)
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
	for _, name := range []string{b.library, "onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt"} {
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
	c := l.cuda(ctx, 0)
	return &c
}

// path returns the path where a fetch puts the library, "" if there is no cache.
func (b build) path() string {
	root, err := runtimeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(root, b.folder(), path.Base(b.library))
}
