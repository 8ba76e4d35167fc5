//go:build unix

package plainfile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/plainfile"
)

func TestOpenDoesNotWaitForAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := plainfile.Open(path)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, plainfile.ErrNotRegular) {
			t.Errorf("a pipe: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
