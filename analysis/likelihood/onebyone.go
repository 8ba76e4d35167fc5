package likelihood

import (
	"math"
	"math/bits"
)

// OneByOne returns −log P of a sampler that leaves each position masked with
// probability left, independently of the others, and reveals the rest one at a time in
// uniform order: uniformization, MATU and DMPM on a network without time. With g the
// recursion of [Table.FHS] and a call that fills what is left,
//
//	P = Σ_A (1−left)^|A|·left^(d−|A|)·C(d,|A|)·g(A)·Π_{l∉A} μ^l(x_l | x_A),
//
// of which the term of A = [d] alone is what counts without that call.
func (t *Table) OneByOne(left float64) GridLaw {
	g := t.sequential()
	full := len(g) - 1
	stay, go1 := math.Log(left), math.Log1p(-left)
	law := GridLaw{Leave: -g[full] - float64(t.D)*go1}
	if left == 0 {
		law.Denoise = law.Leave
		return law
	}
	terms := make([]float64, 0, len(g))
	for a, x := range g {
		n := bits.OnesCount(uint(a))
		if n > 0 {
			x += float64(n) * go1
		}
		x += float64(t.D-n)*stay + logChoose(t.D, n)
		for rest := full &^ a; rest != 0; rest &= rest - 1 {
			x += t.LogMu[a*t.D+bits.TrailingZeros(uint(rest))]
		}
		terms = append(terms, x)
	}
	law.Denoise = -logSum(terms)
	return law
}
