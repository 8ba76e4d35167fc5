package score

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// printer writes windows in one of the formats. They come in order.
type printer struct {
	format string
	out    *kit.Output
	// items are what json prints at the end.
	items kit.Spool
	seen  seen
}

// add takes a finished window; jsonl writes it at once.
func (p *printer) add(w scoredWindow) error {
	p.seen.add(&w)
	switch p.format {
	case "json":
		return p.items.Item(w)
	case "jsonl":
		line, err := kit.JSONLine(w)
		if err != nil {
			return err
		}
		p.out.Write(append(line, '\n')) // A failure is kept until Flush.
	}
	return nil
}

// flush shows what is finished to a reader of the stream.
func (p *printer) flush() error {
	if p.format == "jsonl" && p.out.Streaming() {
		return p.out.Flush()
	}
	return nil
}

// finish writes the record, or the summary.
func (p *printer) finish(r Record) (err error) {
	defer p.items.Close()
	switch p.format {
	case "json":
		r.Windows = []scoredWindow{}
		err = kit.WriteRecordWith(p.out, r, "windows", &p.items)
	case "jsonl":
		err = kit.WriteRecord(p.out, p.format, r)
	default:
		p.summary(r)
	}
	if err != nil {
		return err
	}
	return p.out.Finish(r.Interrupted)
}

// twoDigits is a standard error in two digits, or in whole numbers where it has more.
func twoDigits(x float64) string {
	if x >= 99.5 && x < 1e9 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// entry writes a line of the summary.
func (p *printer) entry(name, format string, args ...any) {
	fmt.Fprintf(p.out, "%-28s"+format+"\n", append([]any{name}, args...)...)
}

// summary writes the corpus.
func (p *printer) summary(r Record) {
	value := r.Settings.Value
	if r.Settings.Bound && r.Settings.Plans == 0 {
		value += " (an upper bound on −log P of first-hitting)"
	}
	if !r.Settings.Bound && !r.Settings.Exact {
		value += " (with its truncation or rounding, which is not a bound to the last digit)"
	}
	if r.Settings.Renormalised {
		value += ", of the scores divided by their mass"
	}
	p.entry("value", "%s", value)
	c := r.Corpus
	if c == nil {
		return
	}
	// What bounds is called a bound, number by number.
	mark, perplexity := "", "perplexity"
	if r.Settings.Bound {
		mark, perplexity = "≤ ", "perplexity bound"
	}
	row := func(name string, e *estimate.Estimate) {
		switch {
		case e == nil:
		case math.IsNaN(e.Mean):
			p.entry(name, "?  not resolved")
		case math.IsInf(e.SE, 1):
			p.entry(name, "%s%s  (one window: no standard error)", mark, digits(e.Mean))
		default:
			p.entry(name, "%s%s  ± %s over windows, %g %% interval %s..%s", mark, digits(e.Mean), twoDigits(e.SE), 100*e.Confidence, digits(e.Lo), digits(e.Hi))
		}
	}
	row("nats per token", &c.NatsPerToken)
	row("bits per token", &c.BitsPerToken)
	row("bits per byte", c.BitsPerByte)
	row(perplexity+" per token", &c.PerplexityBound)
	row(perplexity+" per word", c.WordPerplexityBound)
	row(perplexity+" per byte", c.BytePerplexityBound)
	if c.MonteCarloSE != nil && !r.Settings.Exact {
		p.entry("Monte Carlo", "± %.2g nats per token, the text held fixed", *c.MonteCarloSE)
	}
	if r.Settings.Plans > 0 {
		p.lower()
	}
	p.unresolved()
	for _, w := range c.NatsPerToken.Warnings {
		if math.IsInf(c.NatsPerToken.SE, 1) {
			break // It is said above.
		}
		p.entry("note", "%s", w)
	}
	text := []string{english.Plural(c.Windows, "window", ""), english.Plural(c.Tokens, "token", "")}
	if c.Words != nil {
		text = append(text, english.Plural(*c.Words, "word", ""), english.Plural(*c.Bytes, "byte", ""))
	}
	p.entry("text", "%s", strings.Join(append(text, english.Plural(r.Totals.Rows, "network row", "")), ", "))
}

// digits writes a number with five decimals, a great one with six digits.
func digits(x float64) string {
	if math.Abs(x) >= 1e6 {
		return fmt.Sprintf("%.6g", x)
	}
	return fmt.Sprintf("%.5f", x)
}

// unresolved says of how many windows an integral of raw scores may have no limit.
func (p *printer) unresolved() {
	if n := p.seen.unresolved; n > 0 {
		p.entry("raw scores", "not resolved in %d of %s: the integral of the raw scores over all times, and the price of their mass, may have no limit", n, english.Plural(p.seen.windows, "window", ""))
	}
}

// lower says what bounds −log P from below.
func (p *printer) lower() {
	if s := p.seen; s.bounded > 0 {
		p.entry("lower side", "≥ %.5f nats per token in %g of %s", s.lower/s.tokens, s.bounded, english.Plural(s.windows, "window", ""))
	}
	if p.seen.reason != "" {
		p.entry("note", "%s (window by window in --format json)", p.seen.reason)
	}
}
