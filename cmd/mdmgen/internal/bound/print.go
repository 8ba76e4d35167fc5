package bound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
)

const interrupted = "Interrupted: these are partial results."

// Record is the JSON output of bound.
type Record struct {
	bound.Report
	Settings   *settings      `json:"settings,omitempty"`
	Provenance kit.Provenance `json:"provenance"`
}

// made is the provenance of a page.
type made struct {
	path       string
	Settings   *settings      `json:"settings,omitempty"`
	Provenance kit.Provenance `json:"provenance"`
}

// Card adds the file that was read and the seed: see [report.CardProvider].
func (m made) Card() report.Card {
	card := m.Provenance.Card()
	if m.Settings != nil && m.Settings.Seed != nil {
		card.Facts = append([]report.Fact{{Name: "seed", Text: fmt.Sprint(*m.Settings.Seed)}}, card.Facts...)
	}
	if m.path != "" {
		card.Facts = append([]report.Fact{{Name: "read", Text: m.path}}, card.Facts...)
	}
	return card
}

// printing holds what printing a report needs besides the report and its settings.
type printing struct {
	Format string `json:"format"`
	Wide   bool   `json:"wide,omitempty"`
	// Notes follow the report's own.
	Notes []string `json:"notes,omitempty"`
	// Calls are the expected numbers of network calls by the names of cases.
	Calls map[string]string `json:"calls,omitempty"`
}

// printing returns how the run prints its report. The numbers of calls may take a while.
func (r *bounding) printing(calls bool) printing {
	p := printing{Format: r.format, Wide: r.wide}
	if calls {
		p.Calls = r.calls()
	}
	if len(r.cases) > 0 && !r.all.Given("sampler") {
		p.Notes = []string{"No samplers are named, so these are compared: " + strings.Join(r.compared(), ", ") + "."}
	}
	return p
}

// work makes the report, prints it and writes its files, after an interrupt those of the unfinished
// one. A violated line is an error that names it.
func (r *bounding) work(made kit.Provenance, do func() (bound.Report, error)) error {
	result, err := do()
	cause := context.Cause(r.ctx)
	if err != nil && cause == nil {
		return fmt.Errorf("bound: %w", fault.WithoutName(err))
	}
	if err != nil && len(result.Lines) == 0 {
		return cause
	}
	set, how := &r.settings, r.printing(r.format == "text" && r.wide)
	if result.Mode != "world" {
		result.Notes = append(result.Notes, how.Notes...)
	} else if r.cases == nil { // A world's report depends only on samplers, if any are given.
		set = nil
	}
	if err != nil {
		err, result.Interrupted = cause, true
	}
	// Print the report even if a file cannot be written.
	printing := errors.Join(how.print(r.streams.Results, result, set, made), r.files(result, set, made))
	if err := kit.Ended(err, printing); err != nil {
		return err
	}
	return violated(result)
}

// violated returns an error that names the first violated line, nil if there is none.
func violated(result bound.Report) error {
	for _, l := range result.Lines {
		if !l.OK {
			return exit.Invalidf("bound: %s: %s", l.Name, l.Verdict)
		}
	}
	return nil
}

// print writes the report to the destination of results.
func (p printing) print(out *kit.Output, result bound.Report, set *settings, made kit.Provenance) error {
	text := ""
	if p.Format == "text" {
		text = briefText(result)
		if p.Wide {
			text = wideText(result, p.Calls)
		}
	}
	if err := kit.Print(out, p.Format, Record{result, set, made}, text); err != nil {
		return err
	}
	return out.Finish(result.Interrupted)
}

// files writes the page and the pictures, if they are asked for.
func (r *bounding) files(result bound.Report, set *settings, p kit.Provenance) error {
	if out := r.pages.HTML; out != nil {
		p.Command = r.streams.Command
		if err := out.Put(result.Interrupted, func(w io.Writer) error { return result.Page(w, made{r.path, set, p}) }); err != nil {
			return err
		}
	}
	return r.pages.Pictures(result.Interrupted, result.Plots, r.streams)
}

// kindOf returns the common name of the lines of one statement: theorem1 for
// theorem1.euler.uniform.N=4.
func kindOf(l report.Line) string {
	return l.Name[:strings.IndexAny(l.Name+" ", " .")]
}

// briefText returns three sentences: what was compared, what held, and what to do next.
func briefText(r bound.Report) string {
	var kinds []string
	of := make(map[string]int)
	sides, next := "", "--wide prints the sides of each, with what it states and the notes; --html FILE writes them as a page."
	for _, l := range r.Lines {
		kind := kindOf(l)
		if of[kind]++; of[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	if len(r.Lines) > 0 { // The sides of the claim on real networks, or of what was asked for instead.
		l := r.Lines[max(slices.IndexFunc(r.Lines, func(l report.Line) bool { return kindOf(l) == "theorem4" }), 0)]
		sides = fmt.Sprintf(" The sides of %s are %s and %s %s.", printable.String(l.Name), valueText(l.Left), valueText(l.Right), l.Unit)
	}
	for i, kind := range kinds {
		if kinds[i] = printable.String(kind); of[kind] > 1 {
			kinds[i] += fmt.Sprintf(" × %d", of[kind])
		}
	}
	var held []string
	for _, c := range report.Counts(r.Lines) {
		held = append(held, c.Text)
		switch c.Mark {
		case "violated":
			next = "A violated statement is a fault, of this program or of the input: " + next
		case "open":
			next = "More windows, samples or draws may resolve the others. " + next
		}
	}
	text := ""
	for _, sentence := range []string{
		fmt.Sprintf("Compared: both sides of %s: %s.%s", english.Plural(len(r.Lines), "statement", ""), strings.Join(kinds, ", "), sides),
		"Of these, " + english.OxfordWordSeries(held, "and") + ".", next,
	} {
		text += kit.Wrap(sentence, kit.Width, "")
	}
	if r.Interrupted {
		text = interrupted + "\n" + text
	}
	return printable.Text(text)
}

// wideText returns a line for each statement, the statements in words, and the notes.
func wideText(r bound.Report, calls map[string]string) string {
	of := func(l report.Line) string {
		_, name, _ := strings.Cut(l.Name, " ")
		return calls[name]
	}
	first, known := "line", slices.ContainsFunc(r.Lines, func(l report.Line) bool { return of(l) != "" })
	if known {
		first += "\tcalls"
	}
	t := kit.NewTable(false)
	fmt.Fprintf(t, "%s\tleft\tright\tright − left\tunit\tverdict\n", first)
	for _, l := range r.Lines {
		name := printable.String(l.Name)
		if known {
			name += "\t" + of(l)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", name, valueText(l.Left), valueText(l.Right), valueText(l.Gap), l.Unit, cmp.Or(printable.String(l.Verdict), "no verdict"))
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
	notes := slices.Clone(r.Notes)
	if r.Interrupted {
		notes = append(notes, interrupted)
	}
	if slices.ContainsFunc(r.Lines, func(l report.Line) bool { return !l.Left.Exact && l.Left.N > 0 }) {
		notes = append(notes, "± is a standard error, over windows or samples; --format json has the intervals.")
	}
	notes = append(notes, "A line claims left ≤ right, or equal sides where its verdict says so; ≤ and ≥ mark a number known by a bound, and - an unknown one.")
	for _, n := range notes {
		b.WriteString("\n" + kit.Wrap(n, kit.Width, ""))
	}
	if r.Head != "" {
		return kit.Wrap(r.Head, kit.Width, "") + "\n" + t.String() + printable.Text(b.String())
	}
	return t.String() + printable.Text(b.String())
}

// valueText returns a number with its standard error, if it has one; - if the number is unknown.
func valueText(v report.Value) string {
	mark := ""
	switch v.Bound {
	case "upper":
		mark = "≤ "
	case "lower":
		mark = "≥ "
	}
	switch {
	case math.IsNaN(v.Mean):
		return "-"
	case v.Exact:
		return mark + fmt.Sprintf("%.6g", v.Mean)
	}
	return mark + estimate.Digits(v.Mean, v.SE)
}
