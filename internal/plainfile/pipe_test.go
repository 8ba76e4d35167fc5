//go:build unix

package plainfile_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/reftest"
)

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// soon returns the error of an operation that must not wait for the other end of a pipe.
func soon(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the other end")
		return nil
	}
}

func TestOpenDoesNotWaitForAPipe(t *testing.T) {
	path := pipe(t)
	done := make(chan error, 1)
	go func() {
		_, err := plainfile.Open(path)
		done <- err
	}()
	if err := soon(t, done); !errors.Is(err, plainfile.ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
}

// TestNamedEndsWithItsContext cancels while waiting for a pipe's writer, and while an existing
// writer is silent.
func TestNamedEndsWithItsContext(t *testing.T) {
	for _, silent := range []bool{false, true} {
		path := pipe(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := plainfile.Named(ctx, path, 10)
			done <- err
		}()
		if silent {
			w := reftest.Must(os.OpenFile(path, os.O_WRONLY, 0))(t)
			defer w.Close()
			reftest.Must(w.WriteString("begin"))(t)
		}
		select {
		case err := <-done:
			t.Errorf("silent %t: it did not wait: %v", silent, err)
			continue
		case <-time.After(20 * time.Millisecond):
		}
		cancel()
		if err := soon(t, done); !errors.Is(err, context.Canceled) {
			t.Errorf("silent %t: %v, want that it was cancelled", silent, err)
		}
		if _, err := plainfile.Named(ctx, path, 10); !errors.Is(err, context.Canceled) {
			t.Errorf("begun after its context's end: %v", err)
		}
	}
}

// TestNamedReadsAPipe reads data that arrives in pieces, to the end, and writes to a pipe whose
// reader comes later.
func TestNamedReadsAPipe(t *testing.T) {
	path := pipe(t)
	done := make(chan error, 1)
	go func() {
		w, err := plainfile.Await(t.Context(), path, os.O_WRONLY)
		for _, piece := range []string{"in ", "two"} {
			if err == nil {
				_, err = io.WriteString(w, piece)
			}
			time.Sleep(time.Millisecond)
		}
		done <- errors.Join(err, w.Close())
	}()
	got, err := plainfile.Named(t.Context(), path, 6)
	if err != nil || string(got) != "in two" {
		t.Errorf("%q, %v", got, err)
	}
	reftest.OK(t, soon(t, done))
}
