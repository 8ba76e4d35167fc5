package bound

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// Case is a sampler with a number of steps.
type Case struct {
	// Name is the sampler's, N its number of steps; 0 for a sampler that has none.
	Name string
	N    int
	// Sampler is what they make.
	Sampler *catalog.Sampler
}

// String is "euler 64".
func (c Case) String() string {
	if c.N == 0 {
		return c.Name
	}
	return fmt.Sprintf("%s %d", c.Name, c.N)
}

// Bounded says whether a collision bound compares the sampler with first-hitting.
func (c Case) Bounded() bool {
	law, ok := c.Sampler.Law()
	return ok && !law.Fixed
}

// Plan states the collision bounds of samplers over d positions, without a network: the
// rate 1/N of the paper for grids with its constant,
//
//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*,
//
// for every network that is not time-conditioned.
func Plan(ctx context.Context, d int, cases []Case) (Report, error) {
	if d < 1 {
		return Report{}, fault.Errorf("bound", "%d positions: must be at least 1", d)
	}
	out := newDraft("plan")
	tv := report.Plot{Name: "collision", Title: fmt.Sprintf("Collision bound on TV(P_FHS, P_N), %d positions", d), X: "N", Y: "1 − p*", LogX: true, LogY: true, Guide: -1}
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return out.finish(), err
		}
		logp, err := quality.Collision(c.Sampler, d)
		if err != nil {
			return Report{}, err
		}
		side := func(x float64) report.Value {
			v := report.Exact(x + 0) // −0 becomes 0
			v.Bound = "upper"
			return v
		}
		out.add(report.Line{Name: "collision_tv " + c.String(), Statement: "TV(P_FHS, P_N) ≤ 1 − p*", Left: unknown(), Right: side(-math.Expm1(logp)), Gap: unknown(), Unit: "probability"})
		out.add(report.Line{Name: "collision_kl " + c.String(), Statement: "KL(P_FHS‖P_N) ≤ −log p*", Left: unknown(), Right: side(-logp), Gap: unknown()})
		tv.Add(c.Name, "", report.Point{X: float64(c.N), Y: -math.Expm1(logp)})
	}
	out.Plots = report.Shown(tv)
	out.Notes = []string{
		"p* is the probability that no network call reveals two positions; given that, the law of the path is first-hitting's. The bounds hold for every network that is not time-conditioned, and every text, and need no network call.",
		"Nothing is measured here, and nothing is said about the distance of either law from the data's.",
	}
	return out.finish(), nil
}
