package bound

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
)

const (
	// screen is how many lines are printed where --wide does not ask for all.
	screen = 40
	// few is how many lines of a kind stand by themselves, singled how many more that are not
	// as they should be.
	few, singled = 3, 6
)

// kindOf is what the lines of one statement share: theorem1.euler.uniform.N=4 is of theorem1.
func kindOf(l report.Line) string {
	kind, _, _ := strings.Cut(l.Name, " ")
	kind, _, _ = strings.Cut(kind, ".")
	return kind
}

// printBrief writes a line for each kind of statement, with the range of its numbers where
// it has several, then those that are violated or not resolved.
func printBrief(w io.Writer, r bound.Report) error {
	if r.Head != "" {
		fmt.Fprintln(w, kit.Wrap(r.Head, kit.Width, ""))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "lines\tleft\tright\tright − left\tunit\tverdict")
	var kinds []string
	of := make(map[string][]report.Line)
	var open []report.Line
	for _, l := range r.Lines {
		kind := kindOf(l)
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], l)
		if !l.OK || strings.HasPrefix(l.Verdict, "not resolved") {
			open = append(open, l)
		}
	}
	for _, kind := range kinds {
		lines := of[kind]
		if len(lines) <= few {
			for _, l := range lines {
				printLine(t, l)
			}
			continue
		}
		var verdicts, units []string
		for _, c := range report.Counts(lines) {
			verdicts = append(verdicts, strings.NewReplacer(" statements", "", " statement", "").Replace(c.Text))
		}
		for _, l := range lines {
			if units = append(units, l.Unit); units[0] != l.Unit {
				units[0] = "-"
			}
		}
		side := func(of func(report.Line) report.Value) string { return rangeOf(lines, of) }
		fmt.Fprintf(t, "%s × %d\t%s\t%s\t%s\t%s\t%s\n", printable.String(kind), len(lines), side(func(l report.Line) report.Value { return l.Left }),
			side(func(l report.Line) report.Value { return l.Right }), side(func(l report.Line) report.Value { return l.Gap }), units[0], strings.Join(verdicts, ", "))
	}
	// Those of a small kind stand above.
	open = slices.DeleteFunc(open, func(l report.Line) bool { return len(of[kindOf(l)]) <= few })
	slices.SortStableFunc(open, func(a, b report.Line) int { return btoi(a.OK) - btoi(b.OK) })
	for _, l := range open[:min(len(open), singled)] {
		printLine(t, l)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	text := fmt.Sprintf("%s in all; a range is from the least to the greatest number.", english.Plural(len(r.Lines), "line", ""))
	if more := len(open) - singled; more > 0 {
		text = fmt.Sprintf("%d more are not resolved or violated. ", more) + text
	}
	if r.Interrupted {
		text = "Interrupted: this is about what was done. " + text
	}
	_, err := fmt.Fprint(w, "\n", kit.Wrap(text+" --wide prints each, says what it states, and has the notes; --html FILE writes them as a page.", kit.Width, ""))
	return err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// printLine writes a line of the table without calls.
func printLine(w io.Writer, l report.Line) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", printable.String(l.Name), valueText(l.Left), valueText(l.Right), valueText(l.Gap), l.Unit, printable.String(l.Verdict))
}

// rangeOf is from the least to the greatest of a side's numbers; - where none is known.
func rangeOf(lines []report.Line, of func(report.Line) report.Value) string {
	least, greatest := math.Inf(1), math.Inf(-1)
	known := false
	for _, l := range lines {
		if v := of(l); !math.IsNaN(v.Mean) {
			least, greatest, known = min(least, v.Mean), max(greatest, v.Mean), true
		}
	}
	if !known {
		return "-"
	}
	from, to := fmt.Sprintf("%.4g", least+0), fmt.Sprintf("%.4g", greatest+0) // −0 is 0.
	if from == to {
		return from
	}
	return from + " .. " + to
}
