package laws

import (
	"mdmgen/samplers/schedule"
)

// GridLaw [States] is the law of a grid sampler at its end, MASK left where still masked. Every
// step asks the denoiser at the state and time of its start and reveals each masked position,
// independently, with the step's probability (the paper's section on samplers).
func (w *World) GridLaw(steps schedule.Steps) []float64 {
	law := w.Start()
	for k, p := range steps.Jump {
		law = w.step(law, w.Rows(steps.Grid.Lambda[k]), p)
	}
	return law
}

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
