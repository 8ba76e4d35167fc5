package ort

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/stamp"
)

// maxLibrary bounds what is written of an archive, in bytes: the largest
// library of the pinned version, its CUDA provider, has 272 MB.
const maxLibrary = 1 << 29

// checkSum compares a file's SHA-256 and returns the file's size in bytes. what is
// the file's name in the error.
func checkSum(ctx context.Context, what, path, want string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, readerContext{ctx, f})
	if err != nil {
		return 0, err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return 0, fmt.Errorf("%s is not the published one: SHA-256 is %s, expected %s", what, got, want)
	}
	return n, nil
}

// errDamaged means that a file of the cache is not as it was fetched.
var errDamaged = errors.New("it is damaged")

// publishedSum returns the SHA-256 of a library of the cache if it is one of those that
// are fetched on this system. A remembered digest costs
// microseconds; reading the library, 20 to 150 ms.
func publishedSum(ctx context.Context, path string, stamps stamp.Store) (string, error) {
	var published []string
	for _, b := range slices.Concat(builds, cudaBuilds) {
		if b.goos == runtime.GOOS && b.goarch == runtime.GOARCH {
			published = append(published, b.wheelLibrary)
			if sum := b.providers[filepath.Base(path)]; sum != "" {
				published = append(published, sum)
			}
		}
	}
	// A link's own time is not the file's.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", plainfile.Cause(err)
	}
	sum, err := stamps.SHA256(ctx, real)
	if err != nil {
		return "", err
	}
	if !slices.Contains(published, sum) {
		return "", fmt.Errorf("%w: its SHA-256 is %s, not that of the published library", errDamaged, sum)
	}
	return sum, nil
}

// readerContext is a reader that ends with a context.
type readerContext struct {
	ctx context.Context
	r   io.Reader
}

func (r readerContext) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// extract writes a file of a wheel to a new file.
func extract(archive, name, to string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("the wheel has no %s", name)
	}
	defer f.Close()
	return writeLibrary(f, to)
}

// writeLibrary writes a whole file and waits until it is on the disk: a rename
// that outlives its content would leave a broken library after a power cut.
func writeLibrary(r io.Reader, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, maxLibrary+1))
	if err == nil && n > maxLibrary {
		err = fmt.Errorf("the library is larger than %d bytes", maxLibrary)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename in a folder last. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
