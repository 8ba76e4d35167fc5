package plan

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Ordered describes the sampler.
var Ordered = Sampler{New: newOrdered, Descriptor: samplers.Descriptor{
	Name:    "ordered",
	Aliases: []string{"autoregressive", "ar"},
	Summary: "one position per call, in a chosen order",
	Law: "Positions are revealed one by one: left-to-right, right-to-left, random (the order of fhs), or as in a list. There is no time. A time-conditioned network is queried at masked fraction m/(d+1) when m of d free positions are masked; in fhs, this is the mean masked fraction of that query. " +
		"For a time-free network, random is fhs.",
	Calls:  "d",
	Cost:   "d network calls for d free positions." + aheadCost,
	Source: "Uria et al., arXiv 1310.1757; Hoogeboom et al., arXiv 2110.02037.",
	Flags:  []string{"order", "lookahead"},
}}

func newOrdered(o *Options, b samplers.Build) (*Method, error) {
	kind, list, err := schedule.ParseOrder(o.Order)
	o.Order = cmp.Or(o.Order, string(schedule.LeftToRight))
	return &Method{Planner: ordered{kind, list}, Lookahead: b.Lookahead}, err
}

// ordered reveals one position per call in a given order: any-order autoregressive sampling. It has
// no time. A time-conditioned network is queried at λ = m/(d+1) with m of d free positions masked:
// the mean of the λ of FHS's query with as many masked.
type ordered struct {
	order schedule.Order
	// list is an explicit order of positions of the canvas.
	list []int
}

func (s ordered) Plan(p *Plan) error {
	at := func(r Reveal) int { return r.Position }
	switch s.order {
	case schedule.RightToLeft:
		at = func(r Reveal) int { return -r.Position }
	case schedule.ListedOrder:
		listed := make(map[int]int) // from 1 on: positions that are missing sort first
		for i, l := range s.list {
			listed[l] = i + 1
		}
		at = func(r Reveal) int { return listed[r.Position] }
	}
	if s.order != schedule.RandomOrder {
		slices.SortFunc(p.Reveals, func(a, b Reveal) int { return cmp.Or(at(a)-at(b), a.Position-b.Position) })
	}
	if s.order == schedule.ListedOrder && len(p.Reveals) > 0 && at(p.Reveals[0]) == 0 {
		return fmt.Errorf("the order leaves out position %d, which is free: list every free position", p.Reveals[0].Position)
	}
	for _, r := range p.Reveals {
		p.AddGroup(r.Position)
	}
	return nil
}

func (s ordered) Calls(d int) (blocks, left float64, err error) { return float64(d), 0, nil }

func (s ordered) Law() samplers.Planned {
	if s.order == schedule.RandomOrder {
		return samplers.BySizes{}
	}
	return ListLaw(func(int) float64 { return 1 }, func(p *Plan, _ int) error { return s.Plan(p) })
}
