package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"mdmgen/analysis/bound"
	reports "mdmgen/analysis/report"
)

// boundRecord is what bound prints as JSON.
type boundRecord struct {
	bound.Report
	Settings   *boundSettings `json:"settings,omitempty"`
	Provenance provenance     `json:"provenance"`
}

// record is the report with what made it. A world's depends on no flag.
func (r *bounding) record(report bound.Report, p provenance) boundRecord {
	if report.Mode == "world" {
		return boundRecord{report, nil, p}
	}
	return boundRecord{report, &r.settings, p}
}

// The size of a picture in a file, in points.
const (
	plotWidth  = 480
	plotHeight = 360
)

// files writes the page and the pictures that are asked for.
func (r *bounding) files(report bound.Report, p provenance) error {
	if path := r.c.String("html"); path != "" {
		made := struct {
			Settings   *boundSettings `json:"settings,omitempty"`
			Provenance provenance     `json:"provenance"`
		}{r.record(report, p).Settings, p}
		if err := r.file(path, func(w io.Writer) error { return reports.Page(w, report, made) }); err != nil {
			return err
		}
	}
	dir := r.c.String("plots")
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--plots %s: %w", dir, unwrapPath(err))
	}
	for _, plot := range report.Plots {
		for _, format := range []string{"svg", "png"} {
			var b bytes.Buffer
			if err := reports.Plot(&b, plot, format, plotWidth, plotHeight); err != nil {
				r.streams.notice(fmt.Sprintf("no picture of %s: %v", plot.Name, err))
				break
			}
			if err := r.file(filepath.Join(dir, plot.Name+"."+format), func(w io.Writer) error {
				_, err := w.Write(b.Bytes())
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// file writes a file that appears whole or not at all.
func (r *bounding) file(path string, write func(io.Writer) error) error {
	out, err := newOutput("bound: the file", path, r.streams.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// finish prints the report; a violated line is an error that names it.
func (r *bounding) finish(report bound.Report, p provenance) error {
	var err error
	if r.c.Bool("json") {
		enc := json.NewEncoder(r.streams.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(r.record(report, p))
	} else {
		err = printBound(r.streams.out, report)
	}
	// The report is out: a file that cannot be written takes nothing away from it.
	if err := errors.Join(err, r.files(report, p)); err != nil {
		return err
	}
	for _, l := range report.Lines {
		if !l.OK {
			return invalidf("bound: %s: %s", l.Name, l.Verdict)
		}
	}
	return nil
}

// printBound writes a line for each statement, what the lines state, and the notes.
func printBound(w io.Writer, r bound.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "line\tleft\tright\tright − left\tunit\tverdict")
	for _, l := range r.Lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, valueText(l.Left), valueText(l.Right), valueText(l.Gap), l.Unit, l.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	seen := make(map[string]bool)
	for _, l := range r.Lines {
		kind, _, _ := strings.Cut(l.Name, " ")
		if !seen[kind] && !seen[l.Statement] {
			seen[kind], seen[l.Statement] = true, true
			b.WriteString("\n" + wrap(kind+": "+l.Statement+".", width, ""))
		}
	}
	notes := r.Notes
	if slices.ContainsFunc(r.Lines, func(l bound.Line) bool { return !l.Left.Exact && l.Left.N > 0 }) {
		notes = append(slices.Clip(notes), "± is a standard error, over windows or samples; --json has the intervals.")
	}
	for _, n := range notes {
		b.WriteString("\n" + wrap(n, width, ""))
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}

// valueText is a number with its standard error, where it has one; - where none is known.
func valueText(v bound.Value) string {
	mark := map[string]string{"upper": "≤ ", "lower": "≥ "}[v.Bound]
	switch {
	case math.IsNaN(v.Mean):
		return "-"
	case v.Exact:
		return mark + fmt.Sprintf("%.6g", v.Mean)
	case math.IsInf(v.SE, 1):
		return mark + fmt.Sprintf("%.6g ± ?", v.Mean)
	}
	return mark + fmt.Sprintf("%.6g ± %.2g", v.Mean, v.SE)
}
