// Package lockfile gives one program at a time a file, or a right that a file's name stands
// for. The file of a right is removed when the right is given back; that of a program that
// was killed stays and holds nobody up.
package lockfile

import (
	"context"
	"errors"
	"os"
	"time"

	"mdmgen/internal/plainfile"
)

// ErrHeld is the error of a lock that another program, or another part of this one, has.
var ErrHeld = errors.New("another run is writing to it: let that one end, or name another file")

// retry is how often a program asks again for a lock that another has.
const retry = 100 * time.Millisecond

// Lock is a lock that this program has.
type Lock struct{ file *os.File }

// Try takes the lock whose file is at path, or fails with [ErrHeld] at once.
func Try(path string) (*Lock, error) {
	f, err := OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	return &Lock{f}, nil
}

// Wait takes the lock as soon as nobody else has it, or ends with ctx.
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

// Release gives the lock back and removes its file.
func (l *Lock) Release() error { return Remove(l.file) }

// Leave gives the lock back and leaves its file, for one that other programs take as well: they
// need not look whether the file that they locked is still there.
func (l *Lock) Leave() error { return l.file.Close() }
