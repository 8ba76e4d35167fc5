package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
)

// keep keeps a finished record, and prints it.
func (r *benching) keep(record any) error {
	if err := r.kept.KeepPiece(0, record); err != nil {
		return err
	}
	return r.print(record)
}

// print prints a record if the format is jsonl.
func (r *benching) print(record any) error {
	if r.format != "jsonl" {
		return nil
	}
	err := kit.WriteLine(r.streams.Results, record)
	if err == nil && r.streams.Results.Streaming() {
		err = r.streams.Results.Flush()
	}
	return err
}

// writeReport writes the report in its format.
func (r *benching) writeReport(report *bench.Report) error {
	p, _ := report.Provenance.(kit.Provenance)
	switch r.format {
	case "json":
		return kit.JSON(r.streams.Results, report)
	case "jsonl":
		// The last line is the report without the repetitions, which precede it.
		short := *report
		short.Cells = slices.Clone(report.Cells)
		for i := range short.Cells {
			short.Cells[i].Repetitions = []bench.Repetition{}
		}
		return r.print(struct {
			Kind string `json:"kind"`
			bench.Report
		}{"report", short})
	case "tex":
		return bench.TeX(r.streams.Results, report, made(report, p))
	case "csv":
		return bench.CSV(r.streams.Results, report)
	}
	if !r.quick || r.format != "text" {
		return bench.Markdown(r.streams.Results, report, made(report, p))
	}
	var b strings.Builder
	if err := bench.Markdown(&b, report, made(report, p)); err != nil {
		return err
	}
	table, notes, _ := strings.Cut(b.String(), "\n\n")
	fmt.Fprintf(r.streams.Results, "%s\n\n%s", table, bars(report))
	for _, note := range strings.Split(strings.TrimSpace(notes), "\n\n") {
		fmt.Fprint(r.streams.Results, "\n", kit.Wrap(note, kit.Width, ""))
	}
	return nil // The output keeps an error of writing.
}

// bars draws the seconds per sequence of each cell.
func bars(r *bench.Report) string {
	most := 0.0
	for _, c := range r.Cells {
		if c.Summary != nil {
			most = max(most, c.Summary.Total.Mean)
		}
	}
	t := kit.NewTable(false)
	for _, c := range r.Cells {
		if c.Summary != nil && most > 0 {
			fmt.Fprintf(t, "%s\t%.3g s\t%s\n", printable.String(c.ID), c.Summary.Total.Mean, strings.Repeat("█", int(math.Ceil(40*c.Summary.Total.Mean/most))))
		}
	}
	return t.String()
}

// drawings writes the page and the pictures, if they are asked for.
func (r *benching) drawings(of *bench.Report) error {
	if !r.pages.Wanted() {
		return nil
	}
	plots := bench.Plots(of)
	if out := r.pages.HTML; out != nil {
		tables, constants := bench.Tables(of)
		doc := report.Document{Title: "What samplers cost, and what more steps gain", Notes: bench.Below(of, constants, nil), Plots: plots, Tables: tables, Words: bench.Words(of), Provenance: of.Provenance, Data: of}
		if !of.Complete {
			doc.Unfinished = "Not everything requested was measured."
		}
		if err := out.Put(of.Interrupted, func(w io.Writer) error { return report.Write(w, doc) }); err != nil {
			return err
		}
	}
	return r.pages.Pictures(of.Interrupted, plots, r.streams)
}

// made returns a line about how the report was made.
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
