package kit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// Output is where a command's results go: standard output, or a file that
// appears whole when it is committed and not at all otherwise.
type Output struct {
	*bufio.Writer
	// flag names path in messages.
	flag   string
	path   string
	stdout io.Writer
	tmp    *os.File
	// file is what tmp or device is written through.
	file *spill
	// device is an open device or pipe, which is written to in its place.
	device *os.File
	dst    io.Writer
}

// NewOutput opens the results' destination: path, or standard output where path
// is "" or "-". That the file can be written is found out now, not after the
// work is done. flag stands before the path in messages.
func NewOutput(ctx context.Context, flag, path string, stdout io.Writer) (*Output, error) {
	o := &Output{flag: flag, path: path, stdout: stdout, dst: stdout}
	if path != "" && path != "-" {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return nil, exit.Usagef("%s %s: is a folder; name a file", flag, path)
		}
		if err == nil && !info.Mode().IsRegular() {
			// A device or a pipe is written to; a rename would replace it.
			f, err := plainfile.Await(ctx, path, os.O_WRONLY)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", flag, path, err)
			}
			o.device, o.file = f, &spill{file: f}
			o.dst = o.file
			o.Writer = bufio.NewWriterSize(o.dst, 1<<16)
			return o, nil
		}
		// A link is written through, to the file that it leads to.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			o.path = real
		}
		mode := os.FileMode(0o666) // less what the umask takes away
		if info != nil {
			mode = info.Mode().Perm()
		}
		tmp, err := Temporary(o.path, mode)
		if err != nil {
			return nil, fmt.Errorf("%s %s: cannot write there: %w", flag, path, plainfile.Cause(err))
		}
		o.tmp, o.file = tmp, &spill{file: tmp, from: tmp.Name()}
		o.dst = o.file
	}
	o.Writer = bufio.NewWriterSize(o.dst, 1<<16)
	return o, nil
}

// Streaming says that what is flushed can be read at once.
func (o *Output) Streaming() bool { return o.tmp == nil }

// NewResults is NewOutput for -o of a command that prints nothing else: what its file cannot
// take is printed, so that a full disk loses no results.
func NewResults(ctx context.Context, path string, stdout io.Writer) (*Output, error) {
	o, err := NewOutput(ctx, "-o", path, stdout)
	if err == nil && o.file != nil {
		o.file.instead = stdout
	}
	return o, err
}

// OutputFlag is -o of such a command.
func OutputFlag(path *string) *flags.Flag {
	return flags.Name(path, "name a file, or - for standard output", flags.Flag{Name: "output", Alias: "o", Category: flags.CatOutput, Writes: true,
		Usage: "`FILE` to write (default: standard output); it appears whole or not at all"})
}

// Path is where the results go, "" for standard output.
func (o *Output) Path() string { return o.path }

// Commit flushes the results and, for a file, puts it in its place.
func (o *Output) Commit() error {
	err := o.Flush()
	if o.device != nil {
		if cerr := o.device.Close(); err == nil {
			err = cerr
		}
	}
	if o.file == nil {
		return err
	}
	defer o.Discard()
	if err == nil && o.file.err == nil && o.tmp != nil {
		err = o.replace()
	}
	switch {
	case err == nil && o.file.err == nil:
		return nil
	case o.file.instead == nil:
		return fmt.Errorf("%s %s: %w", o.flag, o.path, plainfile.Cause(err))
	case o.file.err == nil:
		err = o.file.turn(err)
	}
	failed := fmt.Errorf("%s %s: %w", o.flag, o.path, plainfile.Cause(o.file.err))
	if err != nil {
		return errors.Join(failed, err)
	}
	return fmt.Errorf("%w: the results are on standard output instead", failed)
}

// replace puts the temporary file in its place, when it is on the disk.
func (o *Output) replace() error {
	if err := o.tmp.Sync(); err != nil {
		return err
	}
	// While it is open it is locked. Not every system renames an open file.
	if os.Rename(o.tmp.Name(), o.path) == nil {
		return o.tmp.Close()
	}
	if err := o.tmp.Close(); err != nil {
		return err
	}
	return os.Rename(o.tmp.Name(), o.path)
}

// Finish ends the results. An unfinished run prints on standard output what
// would have become the file: it loses nothing, makes no file and leaves an old
// one as it was.
func (o *Output) Finish(interrupted bool) error {
	if !interrupted || o.tmp == nil || o.file.err != nil {
		return o.Commit()
	}
	defer o.Discard()
	err := o.Flush()
	if err == nil && o.file.err == nil {
		err = copyAll(o.stdout, o.tmp.Name())
	}
	return err
}

// Discard removes what was not committed. It may be called after Commit.
func (o *Output) Discard() {
	if o.tmp != nil {
		o.tmp.Close()
		os.Remove(o.tmp.Name())
	}
}

// spill is a file until it cannot be written, and what instead takes from then on, which
// gets what was in the file first.
type spill struct {
	file *os.File
	// from is what can be read again, "" for a device.
	from string
	// instead is nil where a failure is one.
	instead io.Writer
	// err is why the file could not be written.
	err error
}

func (s *spill) Write(p []byte) (int, error) {
	if s.err != nil {
		return s.instead.Write(p)
	}
	n, err := s.file.Write(p)
	if err == nil || s.instead == nil {
		return n, err
	}
	if err := s.turn(err); err != nil {
		return n, err
	}
	rest, err := s.instead.Write(p[n:])
	return n + rest, err
}

// turn prints what is in the file, which failed with err.
func (s *spill) turn(err error) error {
	s.err = err
	if s.from == "" {
		return nil
	}
	return copyAll(s.instead, s.from)
}

// copyAll writes what a file holds.
func copyAll(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
