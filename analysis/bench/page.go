package bench

import (
	"fmt"
	"math"

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
			// With a call for each position there is nothing to be paid for.
			if e, ok := c.metric(m.metric); ok && !(c.Expected.All() >= float64(c.Free)) {
				return e.Mean
			}
			return math.NaN()
		})
		if best != nil {
			e, _ := best.metric(m.metric)
			calls := best.Expected.All()
			if c, ok := best.metric("error_calls"); ok && (m.metric == "tv" || m.metric == "kl") {
				calls = c.Mean // over the window that the distance is of
			}
			card.Numbers = append(card.Numbers, report.Fact{Name: m.name, Text: fmt.Sprintf("%s: %s, %.4g calls", estimated(e), name(best), calls)})
		}
	}
	return card
}
