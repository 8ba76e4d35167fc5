package laws

// Visit calls do for every state that a step leads to, with its probability times q, in
// lexicographic order. jump [D·V] holds the probability of revealing each token at each masked
// position, independently given the state; a position stays masked with the remaining probability.
func (w *World) Visit(jump []float64, from int, q float64, do func(to int, q float64)) {
	w.visitFrom(jump, from, from, 0, q, do)
}

// visitFrom continues Visit at position l: the positions of to before it are decided.
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
	// The probabilities of a step that reveals with certainty sum to 1 up to rounding.
	if stay > 1e-15 {
		w.visitFrom(jump, from, to, l+1, q*stay, do)
	}
}
