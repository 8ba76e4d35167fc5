package plainfile

import (
	"context"
	"errors"
	"io"
	"os"
)

// Named reads a file named by the user, or a pipe until its end, of at most limit bytes. It waits
// until ctx ends at the latest. It returns an error for a device, which may have no end.
func Named(ctx context.Context, path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeDevice != 0 {
		return nil, errors.New("is a device: name a file or a pipe")
	}
	f, err := OpenNamed(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// OpenNamed opens a file, a pipe or a device named by the user for reading. It waits for a pipe's
// writer, and for its data, until ctx ends at the latest.
func OpenNamed(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := Await(ctx, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return f, nil // Its data is available immediately.
	}
	return &interruptible{ctx: ctx, under: f}, nil
}

// Await opens an existing file, like [os.OpenFile]. It waits for the other end of a pipe until ctx
// ends at the latest, and then abandons the goroutine that waits.
func Await(ctx context.Context, path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeType&^os.ModeDir == 0 {
		f, err := os.OpenFile(path, flag, 0)
		return f, Cause(err)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, flag, 0)
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		return o.f, Cause(o.err)
	}
}

// Interruptible returns a reader of r whose reads end with ctx, even while they wait, so that a
// program that waits for its user's next line can be interrupted. It reads nothing before the first
// Read. It belongs to one goroutine. A read that is in progress when ctx ends is abandoned.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, under: r}
}

type interruptible struct {
	ctx   context.Context
	under io.Reader
	// pipe delivers what was read, nil before the first Read.
	pipe *io.PipeReader
}

// Under returns the underlying reader.
func (i *interruptible) Under() io.Reader { return i.under }

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	if i.pipe == nil {
		var w *io.PipeWriter
		i.pipe, w = io.Pipe()
		context.AfterFunc(i.ctx, func() { w.CloseWithError(i.ctx.Err()) })
		go func() {
			_, err := io.Copy(w, i.under)
			w.CloseWithError(err) // EOF if err is nil
		}()
	}
	return i.pipe.Read(p)
}

// Close ends the reading and closes the underlying reader.
func (i *interruptible) Close() error {
	if i.pipe != nil {
		i.pipe.Close()
	}
	return i.under.(io.Closer).Close()
}
