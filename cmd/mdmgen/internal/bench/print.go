package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// outputs are where results go, opened before the work begins so that what cannot be
// written is found then.
type outputs struct {
	streams kit.Streams
	format  string
	files   []file
	pages   *kit.Pages
}

// file is a file of -o.
type file struct {
	*kit.Output
	format string
}

// endings are the formats of files by their endings.
var endings = map[string]string{".md": "text", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "benchstat"}

// open finds out whether everything can be written.
func (o *outputs) open(ctx context.Context, flags *options, s kit.Streams) error {
	o.streams, o.format, o.pages = s, flags.format, &flags.pages
	named := []kit.NamedFile{flags.pages.File(), {Flag: "--resume", Path: flags.chunks.Resume}}
	for _, text := range flags.outputs {
		format, path, ok := strings.Cut(text, ":")
		if !ok || !slices.Contains(formats, format) {
			path, format = text, endings[strings.ToLower(filepath.Ext(text))]
		}
		if format == "" || path == "" {
			return exit.Usagef("-o %s: end the name with .md, .csv, .json, .jsonl or .txt, or write FORMAT:FILE", text)
		}
		named = append(named, kit.NamedFile{Flag: "-o", Path: path})
		f, err := kit.NewOutput(ctx, "-o", path, s.Out)
		if err != nil {
			return err
		}
		o.files = append(o.files, file{f, format})
	}
	if err := kit.Apart("bench", nil, flags.all, named...); err != nil {
		return err
	}
	s.Out.Patient = len(o.files) > 0
	return o.pages.Open(ctx, s)
}

// close leaves nothing behind that was not finished.
func (o *outputs) close() {
	for _, f := range o.files {
		f.Discard()
	}
	if o.pages != nil {
		o.pages.Close()
	}
}

// record prints a finished record where records are the results.
func (o *outputs) record(line []byte) error {
	if o.format != "jsonl" {
		return nil
	}
	_, err := o.streams.Out.Write(line)
	return err
}

// replay prints the records of an earlier run.
func (o *outputs) replay(log *bench.Log) error {
	if o.format != "jsonl" {
		return nil
	}
	return records(o.streams.Out, log)
}

// records writes records, a line each.
func records(w io.Writer, log *bench.Log) error {
	var list []any
	for i := range log.Repetitions {
		list = append(list, &log.Repetitions[i])
	}
	for i := range log.Errors {
		list = append(list, &log.Errors[i])
	}
	for i := range log.Certified {
		list = append(list, &log.Certified[i])
	}
	for i := range log.Quality {
		list = append(list, &log.Quality[i])
	}
	for _, r := range list {
		line, err := kit.JSONLine(r)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// write writes the report everywhere, into files first; where one cannot be written the others
// are, and it is printed. What an interrupt ended is on standard output alone, and takes no
// finished report's place.
func (o *outputs) write(r *bench.Report, log *bench.Log) error {
	var errs []error
	if !r.Interrupted {
		for _, f := range o.files {
			err := o.as(f, f.format, r, log)
			if err == nil {
				err = f.Commit()
			}
			errs = append(errs, err)
		}
		errs = append(errs, o.drawings(r))
	}
	if o.format == "jsonl" { // Its records are out.
		errs = append(errs, o.as(o.streams.Out, "jsonl", r, nil))
	} else {
		errs = append(errs, o.as(o.streams.Out, o.format, r, log))
	}
	return errors.Join(errs...)
}

// as writes a report in a format; records, where they are not nil, come before it in
// JSON lines.
func (o *outputs) as(w io.Writer, format string, r *bench.Report, log *bench.Log) error {
	p, _ := r.Provenance.(kit.Provenance)
	switch format {
	case "json":
		return kit.JSON(w, r)
	case "jsonl":
		if log != nil {
			if err := records(w, log); err != nil {
				return err
			}
		}
		// The last line is the report without the repetitions that stand before it.
		short := *r
		short.Cells = slices.Clone(r.Cells)
		for i := range short.Cells {
			short.Cells[i].Repetitions = []bench.Repetition{}
		}
		line, err := kit.JSONLine(struct {
			Kind string `json:"kind"`
			bench.Report
		}{"report", short})
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	case "csv":
		return bench.CSV(w, r)
	case "benchstat":
		return bench.Benchstat(w, r, machine(r, p)...)
	}
	return bench.Markdown(w, r, made(r, p))
}

// drawings writes the page and the pictures that are asked for.
func (o *outputs) drawings(r *bench.Report) error {
	if !o.pages.Wanted() {
		return nil
	}
	plots := bench.Plots(r)
	if out := o.pages.HTML; out != nil {
		tables, constants := bench.Tables(r)
		notes := r.Notes
		if len(constants) > 0 {
			notes = append([]string{"Shared settings: " + strings.Join(constants, ", ") + "."}, notes...)
		}
		doc := report.Document{Title: "What samplers cost, and what their steps buy", Notes: notes, Plots: plots, Tables: tables, Provenance: r.Provenance, Data: r}
		if !r.Complete {
			doc.Unfinished = "Not all that was asked for was measured."
		}
		var b bytes.Buffer
		if err := report.Write(&b, doc); err != nil {
			return err
		}
		out.Write(b.Bytes()) // A failure is kept until it is committed.
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return o.pages.Pictures(plots, o.streams)
}

// machine is what stands before the lines of benchstat.
func machine(r *bench.Report, p kit.Provenance) [][2]string {
	goos, goarch, _ := strings.Cut(p.Platform, "/")
	out := [][2]string{{"goos", goos}, {"goarch", goarch}, {"pkg", "mdmgen"}, {"version", p.Version}}
	if o := p.Model; o != nil {
		out = append(out, [2]string{"model", o.Reference}, [2]string{"digest", o.Digest}, [2]string{"runtime", o.Runtime}, [2]string{"device", o.Provider})
	}
	return append(out, [2]string{"seed", fmt.Sprint(r.Settings.Seed)})
}

// made says in a line what made the report.
func made(r *bench.Report, p kit.Provenance) string {
	line := fmt.Sprintf("%d × %d sequences, seed %d; mdmgen %s", r.Settings.Repetitions, r.Settings.Sequences, r.Settings.Seed, p.Version)
	if o := p.Model; o != nil {
		line += fmt.Sprintf("; model %s (%.19s), %s on %s", o.Reference, o.Digest, o.Runtime, o.Provider)
		for _, g := range o.GPUs {
			line += fmt.Sprintf(" (%v)", g)
		}
	}
	return line + "; " + p.Platform + ", " + p.Started + "."
}
