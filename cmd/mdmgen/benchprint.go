package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/report"
)

// benchOutputs are where results go, opened before the work begins so that what cannot be
// written is found then.
type benchOutputs struct {
	streams streams
	format  string
	// also is the format for standard error, "" for none.
	also  string
	files []benchFile
	pages pages
}

// benchFile is a file of -o.
type benchFile struct {
	*output
	format string
}

// benchEndings are the formats of files by their endings.
var benchEndings = map[string]string{".md": "md", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "benchstat"}

// open finds out whether everything can be written.
func (o *benchOutputs) open(c *cli.Context, s streams) error {
	o.streams, o.format, o.also = s, c.String("format"), c.String("oe")
	named := []namedFile{{"--html", c.String("html")}, {"--resume", c.String("resume")}}
	for _, text := range c.StringSlice("output") {
		format, path, ok := strings.Cut(text, ":")
		if !ok || !slices.Contains(benchFormats, format) {
			path, format = text, benchEndings[strings.ToLower(filepath.Ext(text))]
		}
		if format == "" || path == "" {
			return usagef("-o %s: end the name with .md, .csv, .json, .jsonl or .txt, or write FORMAT:FILE", text)
		}
		named = append(named, namedFile{"-o", path})
		f, err := newOutput(c.Context, "-o", path, s.out)
		if err != nil {
			return err
		}
		o.files = append(o.files, benchFile{f, format})
	}
	if err := apart(c, named...); err != nil {
		return err
	}
	s.out.patient = len(o.files) > 0
	return o.pages.open(c, s)
}

// close leaves nothing behind that was not finished.
func (o *benchOutputs) close() {
	for _, f := range o.files {
		f.Discard()
	}
	o.pages.close()
}

// record prints a finished record where records are the results.
func (o *benchOutputs) record(line []byte) error {
	if o.format != "jsonl" {
		return nil
	}
	_, err := o.streams.out.Write(line)
	return err
}

// replay prints the records of an earlier run.
func (o *benchOutputs) replay(log *bench.Log) error {
	if o.format != "jsonl" {
		return nil
	}
	return benchRecords(o.streams.out, log)
}

// benchRecords writes records, a line each.
func benchRecords(w io.Writer, log *bench.Log) error {
	var records []any
	for i := range log.Repetitions {
		records = append(records, &log.Repetitions[i])
	}
	for i := range log.Errors {
		records = append(records, &log.Errors[i])
	}
	for i := range log.Certified {
		records = append(records, &log.Certified[i])
	}
	for i := range log.Quality {
		records = append(records, &log.Quality[i])
	}
	for _, r := range records {
		line, err := marshalText(r)
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
func (o *benchOutputs) write(r *bench.Report, log *bench.Log, old *bench.Report) error {
	var errs []error
	if !r.Interrupted {
		for _, f := range o.files {
			err := writeBench(f, f.format, r, log)
			if err == nil {
				err = f.Commit()
			}
			errs = append(errs, err)
		}
		errs = append(errs, o.drawings(r))
	}
	if o.format == "jsonl" { // Its records are out.
		errs = append(errs, writeBench(o.streams.out, "jsonl", r, nil))
	} else {
		errs = append(errs, writeBench(o.streams.out, o.format, r, log))
	}
	if o.also != "" {
		errs = append(errs, writeBench(o.streams.err, o.also, r, log))
	}
	if old != nil {
		// Where standard output is for programs, people read standard error.
		w := o.streams.err
		if o.format == "md" {
			w = o.streams.out
			fmt.Fprintln(w)
		}
		errs = append(errs, bench.Compare(old, r).Print(w))
	}
	return errors.Join(errs...)
}

// writeBench writes a report in a format; records, where they are not nil, come before it in
// JSON lines.
func writeBench(w io.Writer, format string, r *bench.Report, log *bench.Log) error {
	p, _ := r.Provenance.(provenance)
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	case "jsonl":
		if log != nil {
			if err := benchRecords(w, log); err != nil {
				return err
			}
		}
		// The last line is the report without the repetitions that stand before it.
		short := *r
		short.Cells = slices.Clone(r.Cells)
		for i := range short.Cells {
			short.Cells[i].Repetitions = []bench.Repetition{}
		}
		line, err := marshalText(struct {
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
		return bench.Benchstat(w, r, benchConfig(r, p)...)
	}
	return bench.Markdown(w, r, benchMade(r, p))
}

// drawings writes the page and the pictures that are asked for.
func (o *benchOutputs) drawings(r *bench.Report) error {
	if o.pages.html == nil && o.pages.dir == "" {
		return nil
	}
	plots := bench.Plots(r)
	if out := o.pages.html; out != nil {
		tables, constants := bench.Tables(r)
		notes := r.Notes
		if len(constants) > 0 {
			notes = append([]string{"All that use them: " + strings.Join(constants, ", ") + "."}, notes...)
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
	return o.pages.pictures(plots, o.streams)
}

// benchConfig is what stands before the lines of benchstat.
func benchConfig(r *bench.Report, p provenance) [][2]string {
	goos, goarch, _ := strings.Cut(p.Platform, "/")
	out := [][2]string{{"goos", goos}, {"goarch", goarch}, {"pkg", "mdmgen"}, {"version", p.Version}}
	if o := p.Model; o != nil {
		out = append(out, [2]string{"model", o.Reference}, [2]string{"digest", o.Digest}, [2]string{"runtime", o.Runtime}, [2]string{"device", o.Provider})
	}
	return append(out, [2]string{"seed", fmt.Sprint(r.Settings.Seed)})
}

// benchMade says in a line what made the report.
func benchMade(r *bench.Report, p provenance) string {
	line := fmt.Sprintf("%d × %d sequences, seed %d; mdmgen %s", r.Settings.Repetitions, r.Settings.Sequences, r.Settings.Seed, p.Version)
	if o := p.Model; o != nil {
		line += fmt.Sprintf("; model %s (%.19s), %s on %s", o.Reference, o.Digest, o.Runtime, o.Provider)
	}
	return line + "; " + p.Platform + ", " + p.Started + "."
}
