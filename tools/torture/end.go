package main

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

// patience is the time that a child has before it counts as one that hangs.
const patience = 5 * time.Minute

// interruptShare is the share of ends that are Ctrl-C.
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

// child is the command, ready to start in a process group of its own.
func (b *bench) child(ctx context.Context, s *subject, dir string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, b.program, s.args...)
	cmd.Dir = dir
	cmd.Env = slices.Clone(b.env)
	for _, e := range s.env {
		cmd.Env = append(cmd.Env, strings.NewReplacer("DIR", dir, "LIBRARY", b.library, "HUB", b.hub.URL).Replace(e))
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	ownGroup(cmd)
	return cmd, &said
}

// complete runs the command to its end.
func (b *bench) complete(ctx context.Context, s *subject, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, said := b.child(ctx, s, dir)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// whole measures an unbroken run and keeps its results, which must be the same twice.
func (b *bench) whole(ctx context.Context, s *subject) error {
	for i := range 2 {
		dir, err := b.fresh(s)
		if err != nil {
			return err
		}
		begin := time.Now()
		if err := b.complete(ctx, s, dir); err != nil {
			return err
		}
		s.duration = time.Since(begin)
		got, err := look(dir, s.journals)
		if err != nil {
			return err
		}
		if len(got.temporaries) > 0 {
			return fmt.Errorf("it leaves %s", strings.Join(got.temporaries, ", "))
		}
		if i == 1 {
			if faults := differences(got.files, s.reference); len(faults) > 0 {
				return fmt.Errorf("two unbroken runs differ: %s", strings.Join(faults, "; "))
			}
		}
		s.reference = got.files
	}
	return nil
}

// end begins the command, ends it at a random moment, and tells what is wrong with what was
// left and with what the next run makes of it.
func (b *bench) end(ctx context.Context, s *subject, random *rand.Rand, t *tally) (faults []string, err error) {
	moment := time.Duration(random.Float64() * float64(s.duration))
	interrupt := random.Float64() < interruptShare
	dir, err := b.fresh(s)
	if err != nil {
		return nil, err
	}
	how := "killed"
	if interrupt {
		how = "interrupted"
		t.interrupts++
	} else {
		t.kills++
	}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s after %.3f s: ", how, moment.Seconds())+fmt.Sprintf(format, args...))
	}

	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, said := b.child(limit, s, dir)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(moment, func() { _ = signalGroup(cmd, interrupt) })
	werr := cmd.Wait()
	late := timer.Stop() || werr == nil
	_ = signalGroup(cmd, false) // what it began must not go on beside the next run
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case limit.Err() != nil:
		fault("did not end within %v", patience)
	case late && werr != nil:
		fault("failed by itself: %v: %s", werr, strings.TrimSpace(said.String()))
	case late:
		t.late++
	case interrupt && code != exitInterrupt && !diedOf(cmd, syscall.SIGINT):
		fault("exit status %d: %s", code, strings.TrimSpace(said.String()))
	}

	left, err := look(dir, s.journals)
	if err != nil {
		return nil, err
	}
	for name, digest := range left.files {
		if want, ok := s.reference[name]; !ok {
			fault("%s stands there, of which an unbroken run knows nothing", name)
		} else if digest != want {
			fault("%s is not that of an unbroken run", name)
		}
	}
	for _, missing := range halfFolders(left.files, s.reference, s.folders) {
		fault("%s is missing from a folder that stands", missing)
	}
	if interrupt && cmd.ProcessState.ExitCode() == exitInterrupt && len(left.temporaries) > 0 && !s.goesOn {
		fault("Ctrl-C left %s", strings.Join(left.temporaries, ", "))
	}
	if !late && (left.records > 0 || len(s.journals) == 0 && len(left.temporaries) > 0) {
		t.resumed++
	}

	if s.refuses {
		for _, f := range s.folders {
			if err := os.RemoveAll(filepath.Join(dir, f)); err != nil {
				return nil, err
			}
		}
	}
	if err := b.complete(ctx, s, dir); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fault("the next run fails: %v", err)
		return faults, nil
	}
	after, err := look(dir, s.journals)
	if err != nil {
		return nil, err
	}
	for _, f := range differences(after.files, s.reference) {
		fault("after the next run %s", f)
	}
	if len(after.temporaries) > 0 {
		fault("the next run leaves %s", strings.Join(after.temporaries, ", "))
	}
	return faults, nil
}
