package bench

import (
	"fmt"
	"math"

	"mdmgen/analysis/report"
)

// Card is the head of the page: the settings, and the fastest and slowest cell.
func (r *Report) Card() report.Card {
	s := r.Settings
	card := report.Card{Facts: []report.Fact{
		{Name: "settings", Text: fmt.Sprint(len(r.Cells))},
		{Name: "repetitions × sequences", Text: fmt.Sprintf("%d × %d", s.Repetitions, s.Sequences)},
		{Name: "seed", Text: fmt.Sprint(s.Seed)},
	}}
	var fast, slow *CellReport
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Summary == nil || math.IsNaN(c.Summary.Total.Mean) {
			continue
		}
		if fast == nil || c.Summary.Total.Mean < fast.Summary.Total.Mean {
			fast = c
		}
		if slow == nil || c.Summary.Total.Mean > slow.Summary.Total.Mean {
			slow = c
		}
	}
	if fast == nil {
		return card
	}
	name := namer(r, true)
	card.Result = fmt.Sprintf("A sequence takes from %.3g s (%s) to %.3g s (%s).", fast.Summary.Total.Mean, name(fast), slow.Summary.Total.Mean, name(slow))
	card.Numbers = []report.Fact{{Name: "tokens/s of " + name(fast), Text: estimated(fast.Summary.Effective).String()}}
	return card
}
