// Package plainfile opens and reads files in folders from untrusted sources. A name must lead to a
// regular file, its size is bounded, and in a self-contained folder no link may lead out. A FIFO
// does not hang, a device does not fill the memory, and a link to a secret is not followed.
//
// Errors are one line without the path, which the caller adds in front; they wrap [fs.ErrNotExist]
// if there is no file.
package plainfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotRegular is the error for a name that leads to a device, a pipe, a socket or a folder.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file for reading. It never waits: it rejects a pipe even if it has no writer.
func Open(path string) (*os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, Cause(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, Cause(err)
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads r to its end and returns an error for more than limit bytes. It does not rely on
// the size that a file had when it was opened.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, Cause(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d bytes: too large for such a file", limit)
	}
	return data, nil
}

// Ending returns a reader of r whose reads fail when ctx has ended.
func Ending(ctx context.Context, r io.Reader) io.Reader { return ending{ctx, r} }

type ending struct {
	ctx context.Context
	r   io.Reader
}

func (e ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// Counter is called with the byte count of each write.
type Counter func(int64)

// Write implements [io.Writer].
func (c Counter) Write(p []byte) (int, error) { c(int64(len(p))); return len(p), nil }

// Inside returns the file that name in the folder dir leads to after following all links. It returns an
// error if that is outside the folder. A hub's cache keeps snapshots/REVISION/NAME as a link to
// ../../blobs/DIGEST: links from a folder anywhere below "snapshots" may lead to the "blobs" next to it,
// and links from there to the "blobs" that all repositories of the cache share, if it has sharedMark.
func Inside(dir, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", errors.New("the name leads out of the folder")
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", Cause(err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if err != nil {
		return "", Cause(err)
	}
	if within(root, real) {
		return real, nil
	}
	for at := root; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if filepath.Base(at) != "snapshots" || at == root {
			continue
		}
		repository := filepath.Dir(at)
		if within(filepath.Join(repository, "blobs"), real) {
			return real, nil
		}
		shared := filepath.Join(filepath.Dir(repository), "blobs")
		if _, err := os.Stat(filepath.Join(shared, sharedMark)); err == nil && strings.HasPrefix(filepath.Base(repository), "models--") && within(shared, real) {
			return real, nil
		}
	}
	return "", fmt.Errorf("a link that leads out of the folder, to %s", real)
}

// sharedMark is the file that Hugging Face's library puts into a folder of shared blobs.
const sharedMark = ".huggingface-shared-blobs"

// within reports whether path is below the folder root, both absolute.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Cause removes the path that an error of package os contains.
func Cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
