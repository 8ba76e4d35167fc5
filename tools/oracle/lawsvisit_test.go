package oracle

import "mdmgen/analysis/laws"

// visit calls do for every state that a step leads to, with its probability times q, in
// lexicographic order. jump [D·V] has the probability of revealing each token at each masked
// position; what is left is that of staying.
func visit(w *laws.World, jump []float64, from int, q float64, do func(to int, q float64)) {
	var decide func(to, l int, q float64)
	decide = func(to, l int, q float64) {
		for l < w.D && w.Token(from, l) != w.V {
			l++
		}
		if l == w.D {
			do(to, q)
			return
		}
		stay := 1.0
		for a, p := range jump[l*w.V : (l+1)*w.V] {
			stay -= p
			if p > 0 {
				decide(w.Reveal(to, l, a), l+1, q*p)
			}
		}
		// A step that reveals for certain sums to 1 up to rounding.
		if stay > 1e-15 {
			decide(to, l+1, q*stay)
		}
	}
	decide(from, 0, q)
}
