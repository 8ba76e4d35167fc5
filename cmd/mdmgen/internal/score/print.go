package score

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// write writes a finished window: jsonl immediately, json at the end.
func (f *results) write(w scoredWindow) error {
	switch f.format {
	case "json":
		f.windows = append(f.windows, w)
	case "jsonl":
		return kit.WriteLine(f.out, w)
	}
	return nil
}

// finish computes the totals, and writes the record or the summary.
func (f *results) finish() error {
	r := f.record
	if r.Totals.Windows > 0 {
		r.Corpus = new(f.corpus.Corpus(r.Settings.Confidence))
		r.Corpus.NotBound = !r.Settings.Bound
	}
	if f.format == "json" {
		r.Windows = append([]scoredWindow{}, f.windows...)
	}
	if err := kit.PrintLine(f.out, f.format, r, f.summary(r)); err != nil {
		return err
	}
	return f.out.Finish(r.Interrupted)
}

// summary returns the summary of the corpus.
func (f *results) summary(r Record) string {
	var b strings.Builder
	entry := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-28s"+format+"\n", append([]any{name}, args...)...)
	}
	value := r.Settings.Value
	if r.Settings.Bound && r.Settings.Plans == 0 {
		value += " (an upper bound on −log P of First-Hitting)"
	}
	if !r.Settings.Bound && !r.Settings.Exact {
		value += " (as the protocol truncates or rounds it, so not strictly a bound)"
	}
	if r.Settings.Renormalised {
		value += ", of the scores divided by their mass"
	}
	entry("value", "%s", value)
	for _, d := range r.Settings.Differs {
		entry("differs from it", "%s", d)
	}
	c := r.Corpus
	if c == nil {
		return b.String()
	}
	// Mark each number that is a bound.
	mark, perplexity, unit := "", "perplexity", "window"
	if f.corpus.Clustered {
		unit = "document"
	}
	if r.Settings.Bound {
		mark, perplexity = "≤ ", "perplexity bound"
	}
	row := func(name string, e *estimate.Estimate) {
		switch {
		case e == nil:
		case math.IsNaN(e.Mean):
			entry(name, "?  not resolved")
		case math.IsInf(e.SE, 1):
			entry(name, "%s%s  (one %s: no standard error)", mark, digits(e.Mean, r.Settings.Exact), unit)
		case math.IsInf(e.Hi, 1):
			entry(name, "%s%s over %ss", mark, e, unit)
		default:
			entry(name, "%s%s over %ss, %g %% interval %s", mark, e, unit, 100*e.Confidence, e.Interval())
		}
	}
	row("nats per token", &c.NatsPerToken)
	row("bits per token", &c.BitsPerToken)
	row("bits per byte", c.BitsPerByte)
	row(perplexity+" per token", &c.PerplexityBound)
	row(perplexity+" per word", c.WordPerplexityBound)
	row(perplexity+" per byte", c.BytePerplexityBound)
	if c.MonteCarloSE != nil && !r.Settings.Exact {
		entry("Monte Carlo", "± %.2g nats per token, the text held fixed", *c.MonteCarloSE)
	}
	if s := f.seen; r.Settings.Plans > 0 {
		if s.bounded > 0 {
			entry("lower side", "≥ %.5f nats per token, by the limits of %g of %s", s.lower/s.tokens, s.bounded, english.Plural(r.Totals.Windows, "window", ""))
		}
		if s.reason != "" {
			entry("note", "%s (window by window in --format json)", s.reason)
		}
	}
	if n := f.seen.unresolved; n > 0 {
		entry("raw scores", "not resolved in %d of %s: the integral of the raw scores over all times, and the price of their mass, may have no limit", n, english.Plural(r.Totals.Windows, "window", ""))
	}
	for _, w := range c.NatsPerToken.Warnings {
		if math.IsInf(c.NatsPerToken.SE, 1) {
			break // The row above says so.
		}
		entry("note", "%s", w)
	}
	text := []string{english.Plural(c.Windows, "window", ""), english.Plural(c.Tokens, "token", "")}
	if c.Words != nil {
		text = append(text, english.Plural(*c.Words, "word", ""), english.Plural(*c.Bytes, "byte", ""))
	}
	entry("text", "%s", strings.Join(append(text, english.Plural(r.Totals.Rows, "network row", "")), ", "))
	return b.String()
}

// digits formats an exact number with five decimals, or a large one with six digits, and an estimate
// whose error is not known with three.
func digits(x float64, exact bool) string {
	switch large := math.Abs(x) >= 1e6; {
	case exact && large:
		return fmt.Sprintf("%.6g", x)
	case exact:
		return fmt.Sprintf("%.5f", x)
	case !large && math.Abs(x) >= 1e3:
		unit := math.Pow10(int(math.Log10(math.Abs(x))) - 2)
		return fmt.Sprint(math.Round(x/unit) * unit)
	}
	return fmt.Sprintf("%#.3g", x)
}
