package bound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// Record is what bound prints as JSON.
type Record struct {
	bound.Report
	Settings   *settings      `json:"settings,omitempty"`
	Provenance kit.Provenance `json:"provenance"`
}

// record is the report with what made it. A world's depends on samplers alone, and on
// nothing where none is given.
func (r *bounding) record(report bound.Report, p kit.Provenance) Record {
	if report.Mode == "world" && r.cases == nil {
		return Record{report, nil, p}
	}
	return Record{report, &r.settings, p}
}

// made is what made a page.
type made struct {
	path       string
	Settings   *settings      `json:"settings,omitempty"`
	Provenance kit.Provenance `json:"provenance"`
}

// Card is what the page says of it: see [report.Carder].
func (m made) Card() report.Card {
	card := m.Provenance.Card()
	var facts []report.Fact
	if m.path != "" {
		facts = append(facts, report.Fact{Name: "read", Text: m.path})
	}
	if s := m.Settings; s != nil {
		for _, f := range []struct {
			name string
			n    int
		}{{"windows", s.Windows}, {"positions", s.Length}, {"plans", s.Plans}, {"samples", s.Draws}} {
			if f.n > 0 {
				facts = append(facts, report.Fact{Name: f.name, Text: fmt.Sprint(f.n)})
			}
		}
		if s.Text != "" {
			facts = append(facts, report.Fact{Name: "text", Text: fmt.Sprintf("%.19s", s.Text)})
		}
		if s.Seed != nil {
			facts = append(facts, report.Fact{Name: "seed", Text: fmt.Sprint(*s.Seed)})
		}
	}
	card.Facts = append(facts, card.Facts...)
	return card
}

// print writes the report where results go.
func (r *bounding) print(report bound.Report, p kit.Provenance) error {
	if err := r.write(report, p); err != nil {
		return err
	}
	return r.out.Finish(report.Interrupted)
}

func (r *bounding) write(report bound.Report, p kit.Provenance) error {
	if r.format == "text" {
		var all bytes.Buffer
		if err := printBound(&all, report, r.calls()); err != nil {
			return err
		}
		if !r.wide && bytes.Count(all.Bytes(), []byte("\n")) > screen {
			return printBrief(r.out, report)
		}
		_, err := r.out.Write(all.Bytes())
		return err
	}
	return kit.JSON(r.out, r.record(report, p))
}

// files writes the page and the pictures that are asked for.
func (r *bounding) files(result bound.Report, p kit.Provenance) error {
	if out := r.pages.HTML; out != nil {
		p.Command = r.streams.Command
		if err := result.Page(out, made{r.path, r.record(result, p).Settings, p}); err != nil {
			return fmt.Errorf("--html %s: %w", out.Path(), plainfile.Cause(err))
		}
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return r.pages.Pictures(result.Plots, r.streams)
}

// finish writes and prints the report; a violated line is an error that names it.
func (r *bounding) finish(report bound.Report, p kit.Provenance) error {
	// A file that cannot be written takes nothing away from what is printed.
	if err := errors.Join(r.files(report, p), r.print(report, p)); err != nil {
		return err
	}
	for _, l := range report.Lines {
		if !l.OK {
			return exit.Invalidf("bound: %s: %s", l.Name, l.Verdict)
		}
	}
	return nil
}

// work runs what makes the report and prints it. A run that is interrupted prints the
// report of what was done, and writes no file.
func (r *bounding) work(m model.Model, t *tokenize.Tokenizer, do func() (bound.Report, error)) error {
	report, err := do()
	if len(r.cases) > 0 && !r.all.IsSet("sampler") && r.q0 != "own" && report.Mode != "world" && len(report.Lines) > 0 {
		report.Notes = append(report.Notes, "No samplers are named, so these are compared: "+strings.Join(bench.Compared(r.all.IsSet), ", ")+".")
	}
	if note := r.sameNote(); note != "" && len(report.Lines) > 0 {
		report.Notes = append(report.Notes, note)
	}
	if err == nil {
		return r.finish(report, kit.NewProvenance(m, t))
	}
	if cause := context.Cause(r.ctx); cause != nil {
		if len(report.Lines) > 0 {
			report.Interrupted = true
			if err := r.print(report, kit.NewProvenance(m, t)); err != nil {
				return err
			}
		}
		return cause
	}
	return fmt.Errorf("bound: %w", fault.WithoutName(err))
}

// printBound writes a line for each statement, what the lines state, and the notes.
func printBound(w io.Writer, r bound.Report, calls map[string]float64) error {
	if r.Head != "" {
		fmt.Fprintln(w, kit.Wrap(r.Head, kit.Width, ""))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	of := func(l report.Line) (float64, bool) {
		_, name, _ := strings.Cut(l.Name, " ")
		n, ok := calls[name]
		return n, ok && !math.IsNaN(n)
	}
	told := slices.ContainsFunc(r.Lines, func(l report.Line) bool { _, ok := of(l); return ok })
	fmt.Fprintf(t, "line%s\tleft\tright\tright − left\tunit\tverdict\n", map[bool]string{true: "\tcalls"}[told])
	for _, l := range r.Lines {
		name := printable.String(l.Name)
		if told {
			name += "\t"
			if n, ok := of(l); ok {
				name += fmt.Sprintf("%.4g", n)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", name, valueText(l.Left), valueText(l.Right), valueText(l.Gap), l.Unit, printable.String(l.Verdict))
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
			b.WriteString("\n" + kit.Wrap(kind+": "+l.Statement+".", kit.Width, ""))
		}
	}
	notes := r.Notes
	if r.Interrupted {
		notes = append(slices.Clip(notes), "Interrupted: this is about what was done.")
	}
	if slices.ContainsFunc(r.Lines, func(l report.Line) bool { return !l.Left.Exact && l.Left.N > 0 }) {
		notes = append(slices.Clip(notes), "± is a standard error, over windows or samples; --format json has the intervals.")
	}
	for _, n := range notes {
		b.WriteString("\n" + kit.Wrap(n, kit.Width, ""))
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
		fmt.Fprintf(t, "and %d more: --format json has them\n", more)
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
