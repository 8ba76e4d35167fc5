package likelihood

import (
	"context"
	"math"
	"math/bits"

	"mdmgen/samplers/schedule"
)

// atSteps returns the table of each step of a grid, step N being that of the call that
// fills what is left. The last one asked for is kept.
func (e *Evaluator) atSteps(ctx context.Context, t Target, mass bool, g schedule.Grid) func(step int) (*Table, error) {
	var last *Table
	at := -1
	return func(k int) (*Table, error) {
		if k == at {
			return last, nil
		}
		lambda := g.Lambda[k]
		tables, err := e.tablesAt(ctx, []Target{t}, mass, func(int) float64 { return lambda })
		if err != nil {
			return nil, err
		}
		last, at = tables[0], k
		return last, nil
	}
}

// dmpmLaw is that of DMPM on a time-conditioned network: in step k, asked at θ_k, each
// masked position is revealed with probability p, and those that are one after the
// other, in uniform order:
//
//	v_0 = g,  v_n(B) = (p/n)·Σ_{i∈B} v_{n−1}(B∖i)·μ^i(x_i | x_{B∖i}),  g'(B) = (1−p)^(d−|B|)·Σ_n v_n(B).
//
// It sums logarithms.
func dmpmLaw(d int, s schedule.Steps, at func(step int) (*Table, error)) (GridLaw, error) {
	full := 1<<d - 1
	g := make([]float64, full+1)
	for a := 1; a <= full; a++ {
		g[a] = math.Inf(-1)
	}
	var terms [MaxFree + 1]float64
	for k, p := range s.Jump {
		if p == 0 {
			continue
		}
		t, err := at(k)
		if err != nil {
			return GridLaw{}, err
		}
		v, sums := g, make([][]float64, full+1)
		for b, x := range g {
			sums[b] = append(make([]float64, 0, d+1), x)
		}
		for n := 1; n <= d; n++ {
			next := make([]float64, full+1)
			for b := range next {
				m := 0
				for rest := b; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(uint(rest))
					from := b &^ (1 << i)
					terms[m] = v[from] + t.LogMu[from*d+i]
					m++
				}
				next[b] = logSum(terms[:m]) + math.Log(p/float64(n))
				sums[b] = append(sums[b], next[b])
			}
			v = next
		}
		g = make([]float64, full+1)
		for b := range g {
			g[b] = logSum(sums[b])
			if masked := d - bits.OnesCount(uint(b)); masked > 0 {
				g[b] += float64(masked) * math.Log1p(-p)
			}
		}
	}
	law := GridLaw{Leave: -g[full]}
	t, err := at(len(s.Jump))
	if err != nil {
		return GridLaw{}, err
	}
	law.Denoise = -logSum(t.filled(g))
	return law, nil
}
