// Package trace keeps what a run of generate did as JSON lines: a header that is enough to run it again,
// a line a call and sequence, and a footer.
package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
	"mdmgen/serve/frame"
)

// Schema names the layout.
const Schema = "mdmgen.trace/1"

// Header is the first line.
type Header struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	// Command is the command line, with the seed.
	Command string `json:"command"`
	// Flags are those that were not left at their defaults, by name, and the seed.
	Flags map[string][]string `json:"flags"`
	// Settings are the record's.
	Settings json.RawMessage `json:"settings"`
	// Samples were asked for, 0 where they are lines of standard input.
	Samples int `json:"samples"`
}

// End is the last line, which a run that was killed does not write.
type End struct {
	Samples     int     `json:"samples"`
	Interrupted bool    `json:"interrupted,omitempty"`
	Seconds     float64 `json:"seconds"`
}

// footer is the last line as it stands.
type footer struct {
	End *End `json:"end"`
}

// Writer writes a trace, each line by one call of the system, so that a run that is killed leaves
// whole lines and at most one that has not ended. It belongs to one goroutine.
type Writer struct {
	file    *os.File
	path    string
	begin   time.Time
	samples int
	err     error
}

// Create begins a trace with its header.
func Create(ctx context.Context, path string, h Header) (w *Writer, err error) {
	w = &Writer{path: path, begin: time.Now()}
	if info, serr := os.Stat(path); serr == nil && !info.Mode().IsRegular() {
		w.file, err = plainfile.Await(ctx, path, os.O_WRONLY)
	} else if w.file, err = lockfile.OpenAlone(path, os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		err = w.file.Truncate(0)
	}
	if err != nil {
		return nil, w.failed(err)
	}
	w.line(h)
	return w, w.err
}

// Frame writes a step. A failure is kept until [Writer.Close].
func (w *Writer) Frame(f frame.Frame) {
	if f.Done {
		w.samples++
	}
	w.line(f)
}

// Close writes the footer.
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
	// Canvases are what the frames make of each sequence.
	Canvases map[uint64]*frame.Canvas
	// End is nil where the run was killed, and what it wrote last of a line is left out.
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
	var cut error // of a line that has to be the last
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
				return nil, exit.Usagef("%s: is no trace: its first line must be a header, %s, of mdmgen generate --trace", path, example)
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
		return nil, exit.Usagef("%s: is empty: a trace has a header, %s, and a call", path, example)
	}
	return t, nil
}

// add reads a line behind the header, and refuses a frame that does not follow those before it.
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
