package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// output is where a command's results go: standard output, or a file that
// appears whole when it is committed and not at all otherwise.
type output struct {
	*bufio.Writer
	// flag names path in messages.
	flag   string
	path   string
	stdout io.Writer
	tmp    *os.File
	// device is an open device or pipe, which is written to in its place.
	device *os.File
	dst    io.Writer
}

// newOutput opens the results' destination: path, or standard output where path
// is "" or "-". That the file can be written is found out now, not after the
// work is done. flag stands before the path in messages.
func newOutput(flag, path string, stdout io.Writer) (*output, error) {
	o := &output{flag: flag, path: path, stdout: stdout, dst: stdout}
	if path != "" && path != "-" {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return nil, usagef("%s %s: is a folder; name a file", flag, path)
		}
		if err == nil && !info.Mode().IsRegular() {
			// A device or a pipe is written to; a rename would replace it.
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", flag, path, unwrapPath(err))
			}
			o.device, o.dst = f, f
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
		tmp, err := temporary(o.path, mode)
		if err != nil {
			return nil, fmt.Errorf("%s %s: cannot write there: %w", flag, path, unwrapPath(err))
		}
		o.tmp, o.dst = tmp, tmp
	}
	o.Writer = bufio.NewWriterSize(o.dst, 1<<16)
	return o, nil
}

// streaming says that what is flushed can be read at once.
func (o *output) streaming() bool { return o.tmp == nil }

// Commit flushes the results and, for a file, puts it in its place.
func (o *output) Commit() error {
	err := o.Flush()
	if o.device != nil {
		if cerr := o.device.Close(); err == nil {
			err = cerr
		}
	}
	if o.tmp == nil {
		return err
	}
	defer o.Discard()
	if err == nil {
		err = o.tmp.Sync()
	}
	if cerr := o.tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(o.tmp.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.flag, o.path, unwrapPath(err))
	}
	return nil
}

// Finish ends the results. An unfinished run prints on standard output what
// would have become the file: it loses nothing, makes no file and leaves an old
// one as it was.
func (o *output) Finish(interrupted bool) error {
	if !interrupted || o.tmp == nil {
		return o.Commit()
	}
	err := o.Flush()
	if err != nil {
		return err
	}
	defer o.Discard()
	if _, err = o.tmp.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(o.stdout, o.tmp)
	}
	return err
}

// temporary makes a file beside path for what will take its place.
func temporary(path string, mode os.FileMode) (*os.File, error) {
	for {
		name := fmt.Sprintf("%s.%d.tmp", path, rand.Uint32())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o200)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Discard removes what was not committed. It may be called after Commit.
func (o *output) Discard() {
	if o.tmp != nil {
		o.tmp.Close()
		os.Remove(o.tmp.Name())
	}
}

// unwrapPath drops the temporary file's name from an error.
func unwrapPath(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
