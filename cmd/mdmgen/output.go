package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// output is where a command's results go: standard output, or a file that
// appears whole when it is committed and not at all otherwise.
type output struct {
	*bufio.Writer
	path string
	tmp  *os.File
	dst  io.Writer
}

// newOutput opens the results' destination: path, or standard output where path
// is "" or "-". That the file can be written is found out now, not after the
// work is done.
func newOutput(path string, stdout io.Writer) (*output, error) {
	o := &output{path: path, dst: stdout}
	if path != "" && path != "-" {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return nil, usagef("-o %s: is a folder; name a file", path)
		}
		if err == nil && !info.Mode().IsRegular() {
			// A device or a pipe is written to; a rename would replace it.
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, fmt.Errorf("-o %s: %w", path, unwrapPath(err))
			}
			o.dst = f
			o.Writer = bufio.NewWriterSize(o.dst, 1<<16)
			return o, nil
		}
		tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
		if err != nil {
			return nil, fmt.Errorf("-o %s: cannot write there: %w", path, unwrapPath(err))
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
	if o.tmp == nil {
		return err
	}
	defer o.Discard()
	if err == nil {
		err = o.tmp.Chmod(0o644)
	}
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
		return fmt.Errorf("-o %s: %w", o.path, unwrapPath(err))
	}
	return nil
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
