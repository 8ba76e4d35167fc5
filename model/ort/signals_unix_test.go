//go:build unix

package ort

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/internal/sigtest"
)

// TestKeepingSignals takes over a signal as a library would and checks that Go still receives it.
func TestKeepingSignals(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	defer signal.Stop(c)
	reftest.OK(t, keepingSignals(func() error {
		if !sigtest.Ignore(int(syscall.SIGUSR1)) {
			t.Error("the handler could not be changed")
		}
		return nil
	}))
	reftest.OK(t, syscall.Kill(os.Getpid(), syscall.SIGUSR1))
	select {
	case <-c:
	case <-time.After(5 * time.Second):
		t.Error("the signal does not reach Go any more")
	}
}
