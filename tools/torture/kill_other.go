//go:build !unix

package main

import (
	"errors"
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

// signalGroup kills a command: there are no groups, and Ctrl-C cannot be sent to one.
func signalGroup(cmd *exec.Cmd, interrupt bool) error {
	if interrupt {
		return errors.ErrUnsupported
	}
	return cmd.Process.Kill()
}

func diedOf(*exec.Cmd, syscall.Signal) bool { return false }
