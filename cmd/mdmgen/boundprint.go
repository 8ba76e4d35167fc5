package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/report"
	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// boundRecord is what bound prints as JSON.
type boundRecord struct {
	bound.Report
	Settings   *boundSettings `json:"settings,omitempty"`
	Provenance provenance     `json:"provenance"`
}

// record is the report with what made it. A world's depends on samplers alone, and on
// nothing where none is given.
func (r *bounding) record(report bound.Report, p provenance) boundRecord {
	if report.Mode == "world" && r.cases == nil {
		return boundRecord{report, nil, p}
	}
	return boundRecord{report, &r.settings, p}
}

// print writes the report on standard output.
func (r *bounding) print(report bound.Report, p provenance) error {
	if !r.c.Bool("json") {
		return printBound(r.streams.out, report)
	}
	enc := json.NewEncoder(r.streams.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r.record(report, p))
}

// finish writes and prints the report; a violated line is an error that names it.
func (r *bounding) finish(report bound.Report, p provenance) error {
	// A file that cannot be written takes nothing away from what is printed.
	if err := errors.Join(r.files(report, p), r.print(report, p)); err != nil {
		return err
	}
	for _, l := range report.Lines {
		if !l.OK {
			return invalidf("bound: %s: %s", l.Name, l.Verdict)
		}
	}
	return nil
}

// work runs what makes the report and prints it. A run that is interrupted prints the
// report of what was done, and writes no file.
func (r *bounding) work(m model.Model, t *tokenize.Tokenizer, do func() (bound.Report, error)) error {
	report, err := do()
	if err == nil {
		return r.finish(report, newProvenance(m, t))
	}
	if cause := context.Cause(r.c.Context); cause != nil {
		if len(report.Lines) > 0 {
			report.Interrupted = true
			if err := r.print(report, newProvenance(m, t)); err != nil {
				return err
			}
		}
		return cause
	}
	return fmt.Errorf("bound: %s", strings.NewReplacer("likelihood: ", "", "bound: ", "").Replace(bare(err)))
}

// printBound writes a line for each statement, what the lines state, and the notes.
func printBound(w io.Writer, r bound.Report) error {
	if r.Head != "" {
		fmt.Fprintln(w, wrap(r.Head, width, ""))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "line\tleft\tright\tright − left\tunit\tverdict")
	for _, l := range r.Lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", printable.String(l.Name), valueText(l.Left), valueText(l.Right), valueText(l.Gap), l.Unit, printable.String(l.Verdict))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := printLaws(w, r.Laws); err != nil {
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
	if r.Interrupted {
		notes = append(slices.Clip(notes), "Interrupted: this is about what was done.")
	}
	if slices.ContainsFunc(r.Lines, func(l report.Line) bool { return !l.Left.Exact && l.Left.N > 0 }) {
		notes = append(slices.Clip(notes), "± is a standard error, over windows or samples; --json has the intervals.")
	}
	for _, n := range notes {
		b.WriteString("\n" + wrap(n, width, ""))
	}
	_, err := fmt.Fprint(w, printable.Text(b.String()))
	return err
}

// shownOutcomes is how many sequences of a law are printed.
const shownOutcomes = 64

// printLaws writes a column for each law over sequences, and what is masked as one line.
func printLaws(w io.Writer, list []report.Law) error {
	if len(list) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nsequence")
	names, table, masked := report.LawTable(list)
	for _, law := range list {
		fmt.Fprint(t, "\t", printable.String(law.Name))
	}
	fmt.Fprintln(t)
	for i, name := range names[:min(len(names), shownOutcomes)] {
		fmt.Fprint(t, printable.String(name))
		for _, p := range table[i] {
			fmt.Fprintf(t, "\t%.6g", p)
		}
		fmt.Fprintln(t)
	}
	if slices.ContainsFunc(masked, func(p float64) bool { return p != 0 }) {
		fmt.Fprint(t, "with masks")
		for _, p := range masked {
			fmt.Fprintf(t, "\t%.6g", p)
		}
		fmt.Fprintln(t)
	}
	if more := len(names) - shownOutcomes; more > 0 {
		fmt.Fprintf(t, "and %d more: --json has them\n", more)
	}
	return t.Flush()
}

// valueText is a number with its standard error, where it has one; - where none is known.
func valueText(v report.Value) string {
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
