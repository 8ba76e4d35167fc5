package model

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/stamp"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// DataFiles lists the files of external data that an ONNX file names, by the names that it uses,
// relative to its folder. All are regular files that, once links are followed, are in the folder or
// in the hub's cache that contains it; DataFiles rejects anything else. The error is a
// [*MissingError] if a file does not exist.
func DataFiles(path string) ([]string, error) {
	names, err := ort.External(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	for _, name := range names {
		switch _, err := regular(dir, name); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &MissingError{fmt.Sprintf("model %s: %.200q, which holds its weights, is missing next to it", path, name)}
		case err != nil:
			return nil, fmt.Errorf("model %s: its external data %.200q: %w", path, name, err)
		}
	}
	return names, nil
}

// FileDigest returns "sha256:" and a SHA-256: that of the ONNX file if it holds everything, else
// that of a list, one line each, of the digests of the file and of its external data files, these
// with their names. Files whose digests are remembered are read again only if all is set. Reading
// stops when ctx is done.
func FileDigest(ctx context.Context, path string, all bool) (string, error) {
	return fileDigest(ctx, cachedir.Stamps(all), path)
}

func fileDigest(ctx context.Context, stamps stamp.Store, path string) (string, error) {
	names, err := DataFiles(path)
	if err != nil {
		return "", err
	}
	sum, err := stamps.SHA256(ctx, path)
	if err != nil {
		return "", fmt.Errorf("model %s: %w", path, err)
	}
	if len(names) == 0 {
		return "sha256:" + sum, nil
	}
	var lines strings.Builder
	fmt.Fprintln(&lines, sum)
	for _, name := range names {
		real, err := plainfile.Inside(filepath.Dir(path), name)
		if err == nil {
			sum, err = stamps.SHA256(ctx, real)
		}
		if err != nil {
			return "", fmt.Errorf("model %s: its external data %.200q: %w", path, name, err)
		}
		fmt.Fprintf(&lines, "%s %q\n", sum, name)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(lines.String()))), nil
}

// asWritten reports whether an ONNX file and its external data are as this program wrote them, so
// that the file's metadata is true of its weights. It returns false if no manifest lists the file,
// and an error if the manifest lists other contents.
func asWritten(ctx context.Context, stamps stamp.Store, path string) (bool, error) {
	names, err := DataFiles(path)
	if err != nil {
		return false, err
	}
	listed, err := graph.Check(ctx, stamps, filepath.Dir(path), append([]string{filepath.Base(path)}, names...)...)
	if err != nil {
		return false, changed(filepath.Dir(path), err)
	}
	return listed, nil
}

// changed adds advice to an error about files of a folder that are not as they were written.
func changed(dir string, err error) error {
	var damaged *graph.DamagedError
	if errors.As(err, &damaged) {
		return fmt.Errorf("model %s: %w: convert the checkpoint again, or remove %s to use the files as they are", dir, err, graph.ManifestFile)
	}
	return err
}

// sidecarOf returns the path of the sidecar of an ONNX file, NAME.mdmgen.json next to NAME.onnx,
// with all links resolved, or "" if there is none.
func sidecarOf(path string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".onnx") + ".mdmgen.json"
	real, err := regular(filepath.Dir(path), name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("sidecar %s: %w", name, err)
	}
	return real, nil
}

// regular returns the file that a name in a folder leads to, which is regular.
func regular(dir, name string) (string, error) {
	real, err := plainfile.Inside(dir, name)
	if err != nil {
		return "", err
	}
	f, err := plainfile.Open(real)
	if err != nil {
		return "", err
	}
	return real, f.Close()
}
