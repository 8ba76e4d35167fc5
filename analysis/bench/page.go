package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/report"
)

// Card is what the page says first: the ends of what was measured.
func (r *Report) Card() report.Card {
	s := r.Settings
	card := report.Card{Facts: []report.Fact{
		{Name: "settings", Text: fmt.Sprint(len(r.Cells))},
		{Name: "repetitions × sequences", Text: fmt.Sprintf("%d × %d", s.Repetitions, s.Sequences)},
		{Name: "seed", Text: fmt.Sprint(s.Seed)},
	}}
	if len(r.Cells) == 0 {
		return card
	}
	name := namer(r, true)
	least := func(value func(c *CellReport) float64) (best *CellReport) {
		for i := range r.Cells {
			if c := &r.Cells[i]; !math.IsNaN(value(c)) && (best == nil || value(c) < value(best)) {
				best = c
			}
		}
		return best
	}
	seconds := func(c *CellReport) float64 {
		if c.Summary == nil {
			return math.NaN()
		}
		return c.Summary.Total.Mean
	}
	if fast := least(seconds); fast != nil {
		slow := least(func(c *CellReport) float64 { return -seconds(c) })
		card.Result = fmt.Sprintf("A sequence takes from %.3g s (%s) to %.3g s (%s).", seconds(fast), name(fast), seconds(slow), name(slow))
		if fast == slow {
			card.Result = fmt.Sprintf("A sequence takes %.3g s with %s.", seconds(fast), name(fast))
		}
		card.Numbers = append(card.Numbers, report.Fact{Name: "tokens/s of " + name(fast), Text: estimated(fast.Summary.Effective).String()})
	}
	for _, m := range []struct{ metric, name string }{
		{"tv", "least TV(P_FHS, P_N)"}, {"kl", "least KL(P_FHS‖P_N), nats"}, {"tv_certificate", "least certificate of TV"}, {"self_nelbo", "least NELBO of samples, nats per token"}, {"generative_perplexity", "least generative perplexity"},
	} {
		best := least(func(c *CellReport) float64 {
			if e, ok := c.metric(m.metric); ok && c.Settings.Get(KeySampler) != "fhs" {
				return e.Mean
			}
			return math.NaN()
		})
		if best != nil {
			e, _ := best.metric(m.metric)
			card.Numbers = append(card.Numbers, report.Fact{Name: m.name, Text: fmt.Sprintf("%s: %s, %.4g calls", estimated(e), name(best), best.Expected.All())})
		}
	}
	return card
}

// same says which cells have the same distribution of texts, "" for none: those whose plans are
// the same, such as Euler's method on equal steps of log-linear noise, which is Tweedie's.
func same(cells []Cell, name func(i int) string) string {
	var parts []string
	known := make([]bool, len(cells))
	for i := range cells {
		alike := []string{name(i)}
		for j := i + 1; j < len(cells) && !known[i]; j++ {
			if !known[j] && sameLaw(&cells[i], &cells[j]) {
				known[j] = true
				alike = append(alike, name(j))
			}
		}
		if len(alike) > 1 {
			parts = append(parts, strings.Join(alike, " and "))
		}
	}
	if parts == nil {
		return ""
	}
	return "These have the same distribution of texts: " + strings.Join(parts, "; ") + "."
}

// sameLaw says that two cells draw from the same distribution by what their samplers declare: the
// same tokens' distribution, canvas, and probabilities of revealing a position in each step.
func sameLaw(a, b *Cell) bool {
	x, y := a.Sampler.Settings(), b.Sampler.Settings()
	la, planned := a.Sampler.Law()
	lb, too := b.Sampler.Law()
	if !planned || !too || la.Steps == nil || lb.Steps == nil || x.Sampler == y.Sampler && x.Grid == y.Grid && x.Noise == y.Noise || x.ChangesLaw || y.ChangesLaw || !slices.Equal(a.Canvas, b.Canvas) ||
		la.OneByOne || lb.OneByOne || la.LookBack || lb.LookBack || a.Sampler.Denoises() != b.Sampler.Denoises() || len(la.Steps.Reveal) != len(lb.Steps.Reveal) {
		return false
	}
	for k, p := range la.Steps.Reveal {
		if math.Abs(p-lb.Steps.Reveal[k]) > 1e-9 {
			return false
		}
	}
	return true
}
