package plainfile

import (
	"context"
	"errors"
	"io"
	"os"
)

// Named reads what a user named: a file, or a pipe until its end, of at most limit bytes. It waits
// no longer than ctx lasts. A device, which may have no end, is refused.
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

// OpenNamed opens what a user named for reading: a file, a pipe or a device. It waits for a pipe's
// writer, and for what that writes, no longer than ctx lasts.
func OpenNamed(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := Await(ctx, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{Interruptible(ctx, f), f}, nil
}

// Await opens a file that is there, as [os.OpenFile] does, and waits for the other end of a
// pipe no longer than ctx lasts; then the goroutine that waits is abandoned.
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

// Interruptible returns a reader of r that ends with ctx, also while it waits: a program
// that waits for its user's next line must not wait to be interrupted. It belongs to one
// goroutine. A read that is under way when ctx ends is abandoned.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, r: r, results: make(chan readResult, 1)}
}

type interruptible struct {
	ctx     context.Context
	r       io.Reader
	buf     [1 << 16]byte
	pending []byte
	results chan readResult
}

// Under is what is read.
func (i *interruptible) Under() io.Reader { return i.r }

type readResult struct {
	n   int
	err error
}

func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.pending) > 0 {
		n := copy(p, i.pending)
		i.pending = i.pending[n:]
		return n, nil
	}
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	go func() {
		n, err := i.r.Read(i.buf[:])
		i.results <- readResult{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case res := <-i.results:
		n := copy(p, i.buf[:res.n])
		i.pending = i.buf[n:res.n]
		if len(i.pending) > 0 {
			return n, nil // The error, if there is one, comes again.
		}
		return n, res.err
	}
}
