// Package trace writes what a run of generate did as JSON lines, and reads it: a header from which
// the run can be repeated, a line per call and sequence, and a footer.
package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
	"mdmgen/serve/frame"
)

// Schema names the layout of a trace.
const Schema = "mdmgen.trace/1"

// Header is the first line.
type Header struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	// Command is the command line, with the seed.
	Command string `json:"command"`
	// Flags holds the flags that are not at their defaults, by name, and the seed.
	Flags map[string][]string `json:"flags"`
	// Settings are the settings of the run's record.
	Settings json.RawMessage `json:"settings"`
	// Samples is the number of samples asked for, 0 if they come from lines of standard input.
	Samples int `json:"samples"`
}

// End is the last line. A run that was killed does not write it.
type End struct {
	Samples     int     `json:"samples"`
	Interrupted bool    `json:"interrupted,omitempty"`
	Seconds     float64 `json:"seconds"`
}

// footer is the last line as encoded.
type footer struct {
	End *End `json:"end"`
}

// Writer writes a trace, each line by one system call, so that a killed run leaves complete lines
// and at most one partial line. It belongs to one goroutine.
type Writer struct {
	file    *os.File
	path    string
	begin   time.Time
	samples int
	err     error
}

// Create creates a trace and writes its header.
func Create(ctx context.Context, path string, h Header) (w *Writer, err error) {
	w = &Writer{path: path, begin: time.Now()}
	if info, serr := os.Stat(path); serr == nil && !info.Mode().IsRegular() {
		w.file, err = plainfile.Await(ctx, path, os.O_WRONLY)
	} else if schema, _ := journal.SchemaOf(path); serr == nil && info.Size() > 0 && !strings.HasPrefix(schema, "mdmgen.trace/") {
		return nil, exit.Usagef("--trace %s: is a file, and no trace: name another, or remove it", path)
	} else if w.file, err = lockfile.OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		err = w.file.Truncate(0)
	}
	if err != nil {
		return nil, w.failed(err)
	}
	w.line(h)
	return w, w.err
}

// Frame writes a frame. An error is kept until [Writer.Close].
func (w *Writer) Frame(f frame.Frame) {
	if f.Done {
		w.samples++
	}
	w.line(f)
}

// Close writes the footer and closes the file.
func (w *Writer) Close(interrupted bool) error {
	w.line(footer{&End{w.samples, interrupted, time.Since(w.begin).Seconds()}})
	if err := w.file.Close(); w.err == nil && err != nil {
		w.err = w.failed(err)
	}
	return w.err
}

func (w *Writer) line(v any) {
	if w.err != nil {
		return
	}
	line, err := kit.JSONLine(v)
	if err == nil {
		_, err = w.file.Write(append(line, '\n'))
	}
	if err != nil {
		w.err = w.failed(err)
	}
}

func (w *Writer) failed(err error) error {
	return fmt.Errorf("--trace %s: %w", w.path, plainfile.Cause(err))
}

// Trace is a trace that was read.
type Trace struct {
	Path   string
	Header Header
	Frames []frame.Frame
	// Canvases holds the final state of each sequence.
	Canvases map[uint64]*frame.Canvas
	// End is nil if the run was killed. Its partial last line is dropped.
	End *End
}

// example is the header in messages.
const example = `{"schema":"` + Schema + `",…}`

// Read reads a trace.
func Read(ctx context.Context, path string) (*Trace, error) {
	in, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer in.Close()
	t := &Trace{Path: path, Canvases: make(map[uint64]*frame.Canvas)}
	var cut error // the error of a line that must be the last
	for line, err := range kit.Lines(in, path) {
		switch {
		case err != nil:
			return nil, err
		case cut != nil:
			return nil, cut
		case t.End != nil:
			return nil, fmt.Errorf("%s:%d: a line after the footer", path, line.N)
		case line.N == 1:
			if err := json.Unmarshal(line.Text, &t.Header); err != nil || t.Header.Schema != Schema {
				return nil, exit.Usagef("%s: not a trace: its first line must be a header, %s, of mdmgen generate --trace", path, example)
			}
			continue
		}
		if err := t.add(line.Text); err != nil {
			cut = fmt.Errorf("%s:%d: %w", path, line.N, err)
			if json.Valid(line.Text) {
				return nil, cut
			}
		}
	}
	if len(t.Frames) == 0 {
		return nil, exit.Usagef("%s: is empty: a trace has a header, %s, and calls", path, example)
	}
	return t, nil
}

// add reads a line after the header. It returns an error for a frame that does not follow from the
// previous ones.
func (t *Trace) add(text []byte) error {
	if bytes.HasPrefix(text, []byte(`{"end":`)) {
		var f footer
		err := json.Unmarshal(text, &f)
		t.End = f.End
		return err
	}
	var f frame.Frame
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	c := t.Canvases[f.Sequence]
	if c == nil {
		c = &frame.Canvas{}
		t.Canvases[f.Sequence] = c
	}
	if err := c.Fits(f); err != nil {
		return err
	}
	c.Apply(f)
	t.Frames = append(t.Frames, f)
	return nil
}
