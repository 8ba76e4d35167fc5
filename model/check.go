package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/stamp"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
	"mdmgen/model/world"
)

// Check reads all files of the model that ref names, even those remembered as unchanged, and
// returns its digest. It needs no runtime, and no facts that the files lack.
func Check(ctx context.Context, ref string, builtins []Builtin) (string, error) {
	kind, path, err := Resolve(ref, builtins)
	if err != nil {
		return "", err
	}
	switch kind {
	case KindONNX:
		return checkONNX(ctx, cachedir.Stamps(true), ref, path)
	case KindWorld:
		w, err := world.Open(path)
		if err != nil {
			return "", err
		}
		return w.Facts().Digest, nil
	}
	c, err := openFiles(ref, path, Options{Builtins: builtins, Runtime: ort.Config{Search: library.Search{VerifyDigest: true}}})
	if err != nil {
		return "", err
	}
	sum, err := c.Digest(ctx)
	return sum, errors.Join(err, c.Close())
}

// checkONNX checks an ONNX file, and all files written with it if this program wrote them.
func checkONNX(ctx context.Context, stamps stamp.Store, ref, path string) (string, error) {
	d, err := ort.Describe(ort.Source{Path: path})
	if err != nil {
		return "", err
	}
	read, own, err := graphFacts(d)
	if err != nil {
		return "", fmt.Errorf("model %s: %w", ref, err)
	}
	f := read
	written, err := digestONNX(ctx, path, own, read, &f, stamps)
	if err == nil && written {
		err = changed(filepath.Dir(path), graph.CheckAll(ctx, stamps, filepath.Dir(path)))
	}
	if err != nil {
		return "", err
	}
	return f.Digest, nil
}

// CheckConverted reads all converted weights in the cache, even those remembered as unchanged. It
// returns the number of models, and an error for each one that is not as it was written, with what
// to do.
func CheckConverted(ctx context.Context) (models int, problems []error, err error) {
	root, err := convertedDir()
	if err != nil {
		return 0, nil, err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if !e.IsDir() || graph.Unfinished(e.Name()) {
			continue
		}
		models++
		err := graph.CheckAll(ctx, cachedir.Stamps(true), dir)
		if ctx.Err() != nil {
			return models, problems, ctx.Err()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("converted weights %s: %w: opening the model converts them again; the folder may be removed", dir, err))
		}
	}
	return models, problems, err
}
