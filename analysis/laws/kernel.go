package laws

// A Kernel is one step of a sampler whose masked positions act independently given
// the state. It writes to jump [D·V], which is 0, the probability of revealing each
// token at each masked position of the state; what is left is that of staying.
type Kernel func(state int, jump []float64)

// Visit calls do for every state that a step leads to, with its probability times q,
// in lexicographic order. jump is what a [Kernel] wrote for from.
func (w *World) Visit(jump []float64, from int, q float64, do func(to int, q float64)) {
	w.visitFrom(jump, from, from, 0, q, do)
}

// visitFrom has the positions of to before l decided.
func (w *World) visitFrom(jump []float64, from, to, l int, q float64, do func(to int, q float64)) {
	for l < w.D && w.Token(from, l) != w.V {
		l++
	}
	if l == w.D {
		do(to, q)
		return
	}
	tokens := jump[l*w.V : (l+1)*w.V]
	stay := 1.0
	for a, p := range tokens {
		stay -= p
		if p > 0 {
			w.visitFrom(jump, from, w.Reveal(to, l, a), l+1, q*p, do)
		}
	}
	// A step that reveals for certain sums to 1 up to rounding.
	if stay > 1e-15 {
		w.visitFrom(jump, from, to, l+1, q*stay, do)
	}
}

// Push moves a law through one step. fresh is the probability that it leads to another
// state that still has masks: a canvas that the network was not asked on before.
func (w *World) Push(law []float64, k Kernel) (out []float64, fresh float64) {
	out = make([]float64, w.States)
	jump := make([]float64, w.D*w.V)
	var sum Sum
	for x, q := range law {
		if q == 0 {
			continue
		}
		clear(jump)
		k(x, jump)
		w.Visit(jump, x, q, func(y int, q float64) {
			out[y] += q
			if y != x && w.masks[y] > 0 {
				sum.Add(q)
			}
		})
	}
	return out, sum.Value()
}

// Denoise is the law over sequences after one more call, at masked fraction lambda,
// that fills every position which a law over states leaves masked.
func (w *World) Denoise(law []float64, lambda float64) []float64 {
	return w.OnSequences(w.step(law, w.Rows(lambda), 1))
}
