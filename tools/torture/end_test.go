//go:build unix

package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is the time after which a child counts as hanging.
const patience = 5 * time.Minute

// interruptShare is the share of ends by Ctrl-C.
const interruptShare = 0.2

// exitInterrupt is the program's exit status after Ctrl-C.
const exitInterrupt = 130

// fresh makes an empty folder for a command.
func (b *bench) fresh(s *subject) (string, error) {
	dir := filepath.Join(b.work, s.name)
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil || s.prepare == nil {
		return dir, err
	}
	return dir, s.prepare(dir)
}

// child returns the command, ready to start in a process group of its own.
func (b *bench) child(ctx context.Context, s *subject, dir string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, b.program, s.args...)
	cmd.Dir = dir
	cmd.Env = slices.Clone(b.env)
	for _, e := range s.env {
		cmd.Env = append(cmd.Env, strings.NewReplacer("DIR", dir, "LIBRARY", b.library, "HUB", b.hub.URL).Replace(e))
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signal(cmd, syscall.SIGKILL) }
	return cmd, &said
}

// signal sends a signal to a command's process group.
func signal(cmd *exec.Cmd, s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }

// complete runs the command to its end and returns the state of its folder.
func (b *bench) complete(ctx context.Context, s *subject, dir string) (state, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, said := b.child(ctx, s, dir)
	if err := cmd.Run(); err != nil {
		return state{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return look(dir, s.journals)
}

// whole measures an uninterrupted run and keeps its results, which must be the same twice.
func (b *bench) whole(ctx context.Context, s *subject) error {
	for i := range 2 {
		dir, err := b.fresh(s)
		if err != nil {
			return err
		}
		begin := time.Now()
		got, err := b.complete(ctx, s, dir)
		if err != nil {
			return err
		}
		s.duration = time.Since(begin)
		if i == 0 {
			s.reference = got.files
		}
		if faults := got.faults(s.reference); len(faults) > 0 {
			return fmt.Errorf("two unbroken runs: %s", strings.Join(faults, "; "))
		}
	}
	return nil
}

// end starts the command, ends it at a random moment, and returns the faults in the remains and in
// the result of the next run.
func (b *bench) end(ctx context.Context, s *subject, random *rand.Rand, t *tally) (faults []string, err error) {
	moment := time.Duration(random.Float64() * float64(s.duration))
	how, sig, count := "killed", syscall.SIGKILL, &t.kills
	if random.Float64() < interruptShare {
		how, sig, count = "interrupted", syscall.SIGINT, &t.interrupts
	}
	*count++
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s after %.3f s: ", how, moment.Seconds())+fmt.Sprintf(format, args...))
	}
	dir, err := b.fresh(s)
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, said := b.child(limit, s, dir)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(moment, func() { _ = signal(cmd, sig) })
	werr := cmd.Wait()
	late := timer.Stop() || werr == nil
	_ = signal(cmd, syscall.SIGKILL) // Its children must not run on during the next run.
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	code := cmd.ProcessState.ExitCode()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	died := status.Signaled() && status.Signal() == sig // also by Ctrl-C, before the program handles it
	switch {
	case limit.Err() != nil:
		fault("did not end within %v", patience)
	case late && werr != nil:
		fault("failed by itself: %v: %s", werr, strings.TrimSpace(said.String()))
	case late:
		t.late++
	case code != exitInterrupt && !died:
		fault("exit status %d: %s", code, strings.TrimSpace(said.String()))
	}
	left, err := look(dir, s.journals)
	if err != nil {
		return nil, err
	}
	for name, digest := range left.files {
		if want, ok := s.reference[name]; !ok || digest != want {
			fault("%s is not that of an unbroken run", name)
		}
	}
	for _, folder := range s.folders {
		if n := under(left.files, folder); n > 0 && n < under(s.reference, folder) {
			fault("%s stands, with %d files", folder, n)
		}
	}
	if code == exitInterrupt && len(left.temporaries) > 0 && !s.goesOn {
		fault("Ctrl-C left %s", strings.Join(left.temporaries, ", "))
	}
	if s.refuses {
		for _, f := range s.folders {
			if err := os.RemoveAll(filepath.Join(dir, f)); err != nil {
				return nil, err
			}
		}
	}
	after, err := b.complete(ctx, s, dir)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		fault("the next run fails: %v", err)
		return faults, nil
	}
	for _, f := range after.faults(s.reference) {
		fault("after the next run %s", f)
	}
	return faults, nil
}

// under returns the number of files in a folder.
func under(files map[string]string, folder string) (n int) {
	for name := range files {
		if strings.HasPrefix(name, folder+"/") {
			n++
		}
	}
	return n
}
