package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
	"mdmgen/model/checkpoint"
)

const (
	// partialSuffix and 16 hexadecimal digits are appended to the folder's name while it is being
	// written.
	partialSuffix = ".partial-"
	// lockSuffix is appended to the folder's name for the file that a process locks while it writes
	// the folder.
	lockSuffix = ".mdmgen-lock"
)

// unfinished matches the name of a partial folder; its group is the name of the whole one.
var unfinished = regexp.MustCompile(`^(.+)\` + partialSuffix + `[0-9a-f]{16}$`)

// Unfinished reports whether name is that of a folder that is being written, or was when the
// process was killed.
func Unfinished(name string) bool { return unfinished.MatchString(name) }

// Write converts a checkpoint to a folder: ModelFile, its weights of type o.Dtype in DataFile, the
// checkpoint's config and tokenizer, and a manifest of all files. Weights are streamed: at most 64
// rows of a matrix are in memory, with [Int8] one matrix, of experts the matrices of one. If the folder
// exists and is not empty, the error wraps [fs.ErrExist]. The folder appears complete or not at all: if several processes write
// it at the same time, one succeeds and the others fail. Write stops when ctx is done. Of a large
// model, it then leaves a partial folder, as a killed process does, and the next Write of the same model
// goes on from there.
func Write(ctx context.Context, c *checkpoint.Checkpoint, o Options, dir string) error {
	if err := o.Dtype.Check(); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	return locked(dir, lockfile.Try, func(dir string) error { return write(ctx, c, o, dir) })
}

// Ensure makes a shared folder, such as one in a cache, hold the model of a checkpoint. It keeps
// the folder if whole returns true, and removes and writes it if whole returns false. It waits for
// other processes that do the same.
func Ensure(ctx context.Context, c *checkpoint.Checkpoint, o Options, dir string, whole func() (bool, error)) error {
	wait := func(path string) (*lockfile.Lock, error) { return lockfile.Wait(ctx, path) }
	return locked(dir, wait, func(dir string) error {
		if ok, err := whole(); ok || err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("graph: %s cannot be removed: %w", dir, plainfile.Cause(err))
		}
		return write(ctx, c, o, dir)
	})
}

// locked calls f with the folder's absolute path while no other process writes to it.
func locked(dir string, lock func(string) (*lockfile.Lock, error), f func(dir string) error) (err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("graph: %s: %w", dir, err)
	}
	l, err := lock(abs + lockSuffix)
	switch {
	case errors.Is(err, lockfile.ErrHeld):
		return fmt.Errorf("graph: %s: another program is writing it", dir)
	case err != nil:
		return fmt.Errorf("graph: %s cannot be created: %w", dir, err)
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	return f(abs)
}

// write makes the folder, whose lock this process holds.
func write(ctx context.Context, c *checkpoint.Checkpoint, o Options, dir string) error {
	if err := vacant(dir); err != nil {
		return fmt.Errorf("graph: %s: %w", dir, err)
	}
	partial, err := partials(dir)
	if err != nil {
		return fmt.Errorf("graph: %s: %w", dir, plainfile.Cause(err))
	}
	temp := fmt.Sprintf("%s%s%016x", dir, partialSuffix, rand.Uint64())
	if err := os.Mkdir(temp, 0o777); err != nil {
		return fmt.Errorf("graph: %s cannot be created: %w", dir, plainfile.Cause(err))
	}
	keep := false
	defer func() {
		if !keep {
			os.RemoveAll(temp)
		}
	}()
	err = writeFiles(ctx, c, o, temp, partial)
	if err == nil {
		err = ctx.Err()
	}
	if _, serr := os.Stat(filepath.Join(temp, resumeFile)); serr == nil && ctx.Err() != nil {
		keep, err = true, fmt.Errorf("%w: what was written is kept, and the same run goes on from there", err)
	}
	if err == nil {
		if err = os.Remove(filepath.Join(temp, resumeFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("graph: writing %s: %w", dir, plainfile.Cause(err))
	}
	// Some systems cannot rename onto an empty folder, and none onto a folder with entries.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("graph: %s: %w", dir, errOccupied)
	}
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("graph: %s cannot be put in place: %w", dir, plainfile.Cause(err))
	}
	return nil
}

// occupied reports that the folder already exists; it is an [fs.ErrExist].
type occupied struct{}

func (occupied) Error() string        { return "it exists already: give an empty or a new folder" }
func (occupied) Is(target error) bool { return target == fs.ErrExist }

var errOccupied = occupied{}

// vacant returns nil if dir does not exist or is an empty folder.
func vacant(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return plainfile.Cause(err)
	}
	if !info.IsDir() {
		return errOccupied
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return plainfile.Cause(err)
	}
	if len(entries) > 0 {
		return errOccupied
	}
	return nil
}

// partials returns the folders that interrupted runs left of dir, whose lock this process holds.
func partials(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if m := unfinished.FindStringSubmatch(e.Name()); m != nil && m[1] == filepath.Base(dir) && e.IsDir() {
			paths = append(paths, filepath.Join(filepath.Dir(dir), e.Name()))
		}
	}
	return paths, err
}

// sweepPartial removes them.
func sweepPartial(dir string) error {
	paths, err := partials(dir)
	for _, p := range paths {
		err = errors.Join(err, os.RemoveAll(p))
	}
	return err
}

// Sweep removes what killed processes left in a folder that contains only written models, such as
// one in a cache. It spares folders that are being written.
func Sweep(parent string) error {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	locks := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		if base, ok := strings.CutSuffix(name, lockSuffix); ok {
			locks[name] = base
		}
		if m := unfinished.FindStringSubmatch(name); m != nil {
			locks[m[1]+lockSuffix] = m[1]
		}
	}
	for lock, base := range locks {
		l, lerr := lockfile.Try(filepath.Join(parent, lock))
		if errors.Is(lerr, lockfile.ErrHeld) {
			continue
		}
		if lerr == nil {
			lerr = errors.Join(sweepPartial(filepath.Join(parent, base)), l.Release())
		}
		err = errors.Join(err, lerr)
	}
	return err
}
