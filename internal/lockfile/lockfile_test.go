package lockfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mdmgen/internal/lockfile"
	"mdmgen/internal/reftest"
)

// TestAlone checks that one of many at a time holds the lock, although each removes the file, and
// that nothing is left.
func TestAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var inside, had atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for had.Load() < 200 {
				l, err := lockfile.Try(path)
				if errors.Is(err, lockfile.ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two have the lock")
				}
				had.Add(1)
				inside.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	reftest.Fails(t, reftest.Err(os.Lstat(path)), "", "the file is left")
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	// The file of a killed program blocks nobody.
	reftest.OK(t, os.WriteFile(path, nil, 0o600))
	l := reftest.Must(lockfile.Wait(context.Background(), path))(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := lockfile.Wait(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("held: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = l.Release() })
	again := reftest.Must(lockfile.Wait(context.Background(), path))(t)
	reftest.OK(t, again.Release())
	if _, err := lockfile.Try(filepath.Join(t.TempDir(), "none", "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestRemove checks that an unfinished file, and its lock, are gone on every system.
func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tmp")
	for range 2 {
		f := reftest.Must(lockfile.OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o666))(t)
		if _, err := lockfile.OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o666); !errors.Is(err, lockfile.ErrHeld) {
			t.Errorf("taken twice: %v", err)
		}
		reftest.OK(t, lockfile.Remove(f))
		reftest.Fails(t, reftest.Err(os.Lstat(path)), "", "the file is left")
	}
}
