package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"mdmgen/analysis/bound"
)

// boundRecord is what bound prints as JSON.
type boundRecord struct {
	bound.Report
	Settings   *boundSettings `json:"settings,omitempty"`
	Provenance provenance     `json:"provenance"`
}

// finish prints the report; a violated line is an error that names it.
func (r *bounding) finish(report bound.Report, p provenance) error {
	var err error
	if r.c.Bool("json") {
		enc := json.NewEncoder(r.streams.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(boundRecord{report, &r.settings, p})
	} else {
		err = printBound(r.streams.out, report)
	}
	if err != nil {
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
		if !seen[kind] {
			seen[kind] = true
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
