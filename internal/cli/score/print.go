package score

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/cli/kit"
)

// printer writes windows in one of the formats. They come in order.
type printer struct {
	format string
	out    *kit.Output
	all    []scoredWindow
}

func newPrinter(format string, out *kit.Output) *printer {
	return &printer{format: format, out: out}
}

// add takes finished windows; jsonl writes them at once.
func (p *printer) add(windows []scoredWindow) error {
	p.all = append(p.all, windows...)
	if p.format != "jsonl" {
		return nil
	}
	for _, w := range windows {
		line, err := kit.JSONLine(w)
		if err != nil {
			return err
		}
		p.out.Write(append(line, '\n')) // A failure is kept until Flush.
	}
	if p.out.Streaming() {
		return p.out.Flush()
	}
	return nil
}

// finish writes the record, or the table.
func (p *printer) finish(r Record) error {
	if p.format == "json" {
		if r.Windows = p.all; r.Windows == nil {
			r.Windows = []scoredWindow{}
		}
	}
	if p.format == "text" {
		if err := p.table(r); err != nil {
			return err
		}
	}
	if err := kit.WriteRecord(p.out, p.format, r); err != nil {
		return err
	}
	return p.out.Finish(r.Interrupted)
}

// table writes a line for each window and the corpus below.
func (p *printer) table(r Record) error {
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	priced := r.Settings.Renormalised
	head := "window\tline\tstart\ttokens\tnats\t±\tnats/token\tbits/token\trows\t"
	if r.Settings.Exact {
		head += "NELBO\tFHS\t"
	}
	if priced {
		head += "price\t|mass-1|\t"
	}
	fmt.Fprintln(t, head)
	for _, w := range p.all {
		line := "-"
		if w.Line > 0 {
			line = fmt.Sprint(w.Line)
		}
		perToken := w.Nats.Mean / float64(w.Tokens)
		fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t", w.Window, line, w.Start, w.Tokens, known(w.Nats.Mean), errorOf(w.Nats, r.Settings.Exact), known(perToken), known(perToken/math.Ln2), w.Rows)
		if e := w.Exact; e != nil {
			fmt.Fprintf(t, "%s\t%s\t", orDash(e.NELBO), orDash(e.FHS))
		}
		if priced {
			if w.Price == nil || math.IsNaN(w.Price.Mean) {
				fmt.Fprintf(t, "-\t%s\t", map[bool]string{true: "-", false: fmt.Sprintf("%.3g", w.Deviation)}[w.Price == nil])
			} else {
				fmt.Fprintf(t, "%.4g\t%.3g\t", w.Price.Mean, w.Deviation)
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	p.summary(r)
	return nil
}

// known writes a number, ? where it is not known.
func known(x float64) string {
	if math.IsNaN(x) {
		return "?"
	}
	return fmt.Sprintf("%.4f", x)
}

// errorOf is a standard error, ? where it is not known, nothing for an exact value.
func errorOf(e estimate.Estimate, exact bool) string {
	switch {
	case exact && e.Hi > e.Lo:
		return fmt.Sprintf("%.1g (quadrature)", (e.Hi-e.Lo)/2)
	case exact:
		return "exact"
	case math.IsInf(e.SE, 1):
		return "?"
	}
	return fmt.Sprintf("%.2g", e.SE)
}

func orDash(x *estimate.Number) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", float64(*x))
}

// summary writes the corpus.
func (p *printer) summary(r Record) {
	fmt.Fprintln(p.out)
	fmt.Fprintf(p.out, "value             %s", r.Settings.Value)
	if r.Settings.Bound && r.Settings.Plans == 0 {
		fmt.Fprint(p.out, " (an upper bound on −log P of first-hitting)")
	}
	if !r.Settings.Bound && !r.Settings.Exact {
		fmt.Fprint(p.out, " (with its truncation or rounding, which is not a bound to the last digit)")
	}
	if r.Settings.Renormalised {
		fmt.Fprint(p.out, ", of the scores divided by their mass")
	}
	fmt.Fprintln(p.out)
	c := r.Corpus
	if c == nil {
		return
	}
	row := func(name string, e estimate.Estimate) {
		if math.IsNaN(e.Mean) {
			fmt.Fprintf(p.out, "%-18s?  not resolved\n", name)
			return
		}
		fmt.Fprintf(p.out, "%-18s%.5f", name, e.Mean)
		if math.IsInf(e.SE, 1) {
			fmt.Fprintln(p.out, "  ± ?")
			return
		}
		fmt.Fprintf(p.out, "  ± %.2g over windows, %g %% interval %.5f..%.5f\n", e.SE, 100*e.Confidence, e.Lo, e.Hi)
	}
	row("nats per token", c.NatsPerToken)
	row("bits per token", c.BitsPerToken)
	if c.BitsPerByte != nil {
		row("bits per byte", *c.BitsPerByte)
	}
	name := "perplexity"
	if r.Settings.Bound {
		name = "perplexity bound"
	}
	row(name, c.PerplexityBound)
	if c.MonteCarloSE != nil && !r.Settings.Exact {
		fmt.Fprintf(p.out, "%-18s± %.2g nats per token with the text held fixed\n", "Monte Carlo", *c.MonteCarloSE)
	}
	if r.Settings.Plans > 0 {
		p.lower()
	}
	p.unresolved()
	for _, w := range c.NatsPerToken.Warnings {
		fmt.Fprintf(p.out, "%-18s%s\n", "note", w)
	}
	fmt.Fprintf(p.out, "%-18s%s, %s, %s\n", "text", english.Plural(c.Windows, "window", ""), english.Plural(c.Tokens, "token", ""), english.Plural(r.Totals.Rows, "network row", ""))
}

// unresolved says of how many windows an integral of raw scores may have no limit.
func (p *printer) unresolved() {
	n := 0
	for _, w := range p.all {
		if w.Price != nil && math.IsNaN(w.Price.Mean) || w.Exact != nil && w.Exact.ScoreEntropyNote != "" {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(p.out, "%-18snot resolved in %d of %s: the integral of the raw scores over all times, and the price of their mass, may have no limit\n", "raw scores", n, english.Plural(len(p.all), "window", ""))
	}
}

// lower says what bounds −log P from below.
func (p *printer) lower() {
	var reason string
	var sum, bound, tokens float64
	for _, w := range p.all {
		if w.Lower == nil || w.Lower.Estimate == nil {
			if w.Lower != nil {
				reason = w.Lower.Reason
			}
			continue
		}
		bound++
		sum += w.Lower.Estimate.Mean
		tokens += float64(w.Tokens)
	}
	if bound > 0 {
		fmt.Fprintf(p.out, "%-18s%.5f nats per token in %g of %s\n", "lower side", sum/tokens, bound, english.Plural(len(p.all), "window", ""))
	}
	if reason != "" {
		fmt.Fprintf(p.out, "%-18s%s (window by window in --format json)\n", "note", reason)
	}
}
