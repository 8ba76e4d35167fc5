package likelihood

import (
	"math"
	"math/bits"

	"mdmgen/internal/fault"
	"mdmgen/samplers/plan"
)

// rawLaw is that of a sampler that takes scores as they are: a position whose row has
// mass c stays masked in step k with a probability s_k(c), and
//
//	g'(B) = Σ_{A⊆B} g(A)·Π_{l∈B∖A} (1−s_k(c^l_A))·μ^l(x_l | x_A)·Π_{l∉B} s_k(c^l_A),
//
// the tables having masses. It sums logarithms.
func rawLaw(d int, law plan.RawLaw, at func(step int) (*Table, error)) (GridLaw, error) {
	full := 1<<d - 1
	g := make([]float64, full+1)
	for a := 1; a <= full; a++ {
		g[a] = math.Inf(-1)
	}
	logs, sets := make([]float64, full+1), make([]int, full+1)
	for k := range law.Steps.Jump {
		t, err := at(k)
		if err != nil {
			return GridLaw{}, err
		}
		next := make([]float64, full+1)
		for b := range next {
			next[b] = math.Inf(-1)
		}
		for a, x := range g {
			if math.IsInf(x, -1) {
				continue
			}
			n := 1
			logs[0], sets[0] = x, a
			for _, i := range t.outside(a) {
				stays, err := law.Stays(k, math.Exp(t.LogMass[a*d+i]))
				if err != nil {
					return GridLaw{}, fault.Errorf("likelihood", "position %d of the free ones: %w", i, err)
				}
				jump, stay := math.Log1p(-stays)+t.LogMu[a*d+i], math.Log(stays)
				for j := range n {
					logs[n+j], sets[n+j] = logs[j]+jump, sets[j]|1<<i
					logs[j] += stay
				}
				n *= 2
			}
			for j, b := range sets[:n] {
				next[b] = logAdd(next[b], logs[j])
			}
		}
		g = next
	}
	out := GridLaw{Leave: -g[full]}
	t, err := at(len(law.Steps.Jump))
	if err != nil {
		return GridLaw{}, err
	}
	out.Denoise = -logSum(t.filled(g))
	return out, nil
}

// filled adds to log g the logarithm of a call that fills what is masked.
func (t *Table) filled(g []float64) []float64 {
	full := len(g) - 1
	for a := range g {
		for rest := full &^ a; rest != 0; rest &= rest - 1 {
			g[a] += t.LogMu[a*t.D+bits.TrailingZeros(uint(rest))]
		}
	}
	return g
}

// logAdd is log(e^x + e^y).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}
