//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command and all that it starts into a process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, false) }
}

// signalGroup kills the group of a command, or sends it what Ctrl-C sends.
func signalGroup(cmd *exec.Cmd, interrupt bool) error {
	if interrupt {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// diedOf says whether a signal ended a command, as one does that came before the program
// could ask for it.
func diedOf(cmd *exec.Cmd, s syscall.Signal) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == s
}
