package interaction

import (
	"fmt"

	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/spread"
)

// predictedPlans is the number of plans that a prediction averages.
const predictedPlans = 20

// Predict returns the KL between a sampler's groups and the same order one position at a time, in
// nats per token, predicted from the interactions of their pairs: the mean over some plans, the
// same in every run.
func Predict(in *spread.Interactions, s *catalog.Sampler, free []int) (float64, error) {
	rank := make(map[int]int, len(free))
	for r, l := range free {
		rank[l] = r
	}
	var sum float64
	m, _ := s.Plan()
	for i := range uint64(predictedPlans) {
		var p plan.Plan
		if err := m.Plan(&p, draw.NewNumbers(1, i), free); err != nil {
			return 0, err
		}
		groups := make([][]int, len(p.Blocks))
		for k, b := range p.Blocks {
			for _, l := range b.Positions {
				groups[k] = append(groups[k], rank[l])
			}
		}
		sum += spread.Predict(in, free, groups)
	}
	return sum / predictedPlans / float64(len(free)), nil
}

// Err returns the standard error of f of the interactions, assuming that all their errors are in
// the same direction, which is the worst case.
func (p *Profile) Err(f func(in *spread.Interactions) float64) float64 {
	shifted := func(by float64) *spread.Interactions {
		out := p.Interactions
		out.Nats = make([][]float64, len(p.Nats))
		for i, row := range p.Nats {
			for j, nats := range row {
				if p.SE != nil {
					nats = max(0, nats+by*p.SE[i][j])
				}
				out.Nats[i] = append(out.Nats[i], nats)
			}
		}
		return &out
	}
	return (f(shifted(1)) - f(shifted(-1))) / 2
}

// Plot plots the profile: a curve for every second masked fraction, or for all if there are few.
func (p *Profile) Plot(title string) report.Plot {
	out := report.Plot{Name: "interactions", Title: title, X: "distance, positions", Y: "I, nats", LogX: true, LogY: true}
	for i, lambda := range p.Lambda {
		if i%2 == 0 && len(p.Lambda) > 4 {
			continue
		}
		for j, delta := range p.Distance {
			if p.Count == nil || p.Count[i][j] > 0 {
				out.Add(fmt.Sprintf("masked fraction %.2f", lambda), "", report.Point{X: delta, Y: p.Nats[i][j]})
			}
		}
	}
	return out
}
