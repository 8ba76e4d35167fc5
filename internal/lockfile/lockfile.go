// Package lockfile gives a file to one program at a time, or a right represented by the name of a
// file. The file of a right is removed when the right is released; the file of a killed program
// remains and blocks nobody.
package lockfile

import (
	"context"
	"errors"
	"os"
	"time"

	"mdmgen/internal/plainfile"
)

// ErrHeld is the error if another program, or another part of this one, holds the lock.
var ErrHeld = errors.New("another run is writing to it: wait until it ends, or name another file")

// retry is the interval at which Wait retries.
const retry = 100 * time.Millisecond

// Lock is a lock that this program holds.
type Lock struct{ file *os.File }

// Try takes the lock whose file is at path. If it is held, Try fails with [ErrHeld] immediately.
func Try(path string) (*Lock, error) {
	f, err := OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	return &Lock{f}, nil
}

// Wait takes the lock as soon as it is free, or returns the error of ctx.
func Wait(ctx context.Context, path string) (*Lock, error) {
	tick := time.NewTicker(retry)
	defer tick.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// Release releases the lock and removes its file.
func (l *Lock) Release() error { return Remove(l.file) }

// Leave releases the lock and keeps its file, for a lock that other programs take as well: they
// need not check whether the file that they locked still exists.
func (l *Lock) Leave() error { return l.file.Close() }
