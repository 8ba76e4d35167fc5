package bound

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
)

// Plan reports the collision bounds of samplers over d positions, without a network: the paper's
// rate 1/N for grids with its constant,
//
//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*,
//
// for every network that is not time-conditioned.
func Plan(ctx context.Context, d int, cases []Case) (Report, error) {
	if d < 1 {
		return Report{}, fault.Errorf("bound", "%d positions: must be at least 1", d)
	}
	out := newDraft("plan", 0)
	tv := report.Plot{Name: "collision", Title: fmt.Sprintf("Collision bound on TV(P_FHS, P_N), %d positions", d), X: "N", Y: "1 − p*", LogX: true, LogY: true, Guide: -1}
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return out.finish(), err
		}
		logp, err := c.Sampler.Collision(d)
		if err != nil {
			return Report{}, err
		}
		add := func(name, statement, unit string, bound float64) {
			line := out.add(report.Line{Name: name + c.String(), About: c.String(), Statement: statement, Unit: unit, Left: unknown(), Right: report.Exact(bound + 0), Gap: unknown()}) // −0 becomes 0
			line.Right.Bound = "upper"
		}
		add("collision_tv ", "TV(P_FHS, P_N) ≤ 1 − p*", "probability", -math.Expm1(logp))
		add("collision_kl ", "KL(P_FHS‖P_N) ≤ −log p*", "nats", -logp)
		tv.Add(c.Name, "", report.Point{X: float64(c.N), Y: -math.Expm1(logp)})
	}
	out.plot(tv)
	out.note("p* is the probability that no network call reveals two positions; given that, the law of the path is First-Hitting's. The bounds hold for every network that is not time-conditioned, and every text, and need no network call.",
		"Nothing is measured here, and the bounds do not concern the distance of either law from the data's.")
	return out.finish(), nil
}
