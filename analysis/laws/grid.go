package laws

import (
	"mdmgen/samplers/schedule"
)

// Chain is a run of a grid sampler in a world. Every step evaluates the denoiser at the state and
// time of its start and reveals each masked position, independently, with the step's probability
// (the paper's section on samplers).
type Chain struct {
	Steps schedule.Steps
	// Law [States] is the law at the end, with MASK at positions still masked. Denoised [Sequences]
	// is the law after one more call, at the grid's last time, that fills them.
	Law, Denoised []float64
	// PlanNELBO is E_q0 E_plan Σ −log μ along the denoised plan, an upper bound of
	// E_q0[−log Denoised].
	PlanNELBO float64
}

// Run computes the law of a sampler. Its reveals do not depend on tokens, so each position is
// masked with probability S_k = Π_{j<k}(1−p_j).
func (w *World) Run(steps schedule.Steps) Chain {
	c := Chain{Steps: steps}
	law := w.Start()
	var nelbo Sum
	for k, p := range steps.Jump {
		rows := w.Rows(steps.Grid.Lambda[k])
		law = w.step(law, rows, p)
		if p > 0 {
			nelbo.Add(p * w.plannedLoss(w.costs(steps.Grid.Lambda[k]), unmasked(steps.Stay[k]), steps.Stay[k]))
		}
	}
	n := len(steps.Jump)
	nelbo.Add(w.plannedLoss(w.costs(steps.Grid.Lambda[n]), unmasked(steps.Left()), steps.Left()))
	c.Law, c.PlanNELBO = law, nelbo.Value()
	c.Denoised = w.Denoise(law, steps.Grid.Lambda[n])
	return c
}

// GridLaw returns the law of [World.Run] alone.
func (w *World) GridLaw(steps schedule.Steps) []float64 {
	law := w.Start()
	for k, p := range steps.Jump {
		law = w.step(law, w.Rows(steps.Grid.Lambda[k]), p)
	}
	return law
}

func unmasked(stay float64) float64 { return max(1-stay, 0) }

// Start returns the law of the all-mask state.
func (w *World) Start() []float64 {
	law := make([]float64, w.States)
	law[w.AllMask()] = 1
	return law
}

// step applies one step, which reveals with probability p, to a law.
func (w *World) step(law, rows []float64, p float64) []float64 {
	out := make([]float64, w.States)
	for x, q := range law {
		if q > 0 {
			w.reveals(rows, x, x, 0, 0, q, 1-p, p, func(to, _ int, q float64) { out[to] += q })
		}
	}
	return out
}

// reveals calls do for the states reachable from a state, deciding position after position: the
// positions of to before l are decided, n of them revealed, with weight q. A position that stays
// masked contributes the factor stay, a revealed one p times its token's probability.
func (w *World) reveals(rows []float64, from, to, l, n int, q, stay, p float64, do func(to, n int, q float64)) {
	for l < w.D && w.Token(from, l) != w.V {
		l++
	}
	if l == w.D {
		do(to, n, q)
		return
	}
	if stay > 0 {
		w.reveals(rows, from, to, l+1, n, q*stay, stay, p, do)
	}
	if p == 0 {
		return
	}
	for a, mu := range w.Row(rows, from, l) {
		if mu > 0 {
			w.reveals(rows, from, w.Reveal(to, l, a), l+1, n+1, q*p*mu, stay, p, do)
		}
	}
}

// Denoise returns the law over sequences after one more call, at masked fraction lambda, which
// fills every position that a law over states leaves masked.
func (w *World) Denoise(law []float64, lambda float64) []float64 {
	return w.OnSequences(w.step(law, w.Rows(lambda), 1))
}
