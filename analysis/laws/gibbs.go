package laws

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/samplers/catalog"
)

// correctedLaw returns the law over states of a sampler with corrections: the law without them,
// after as many steps of their kernel as there are calls.
func (w *World) correctedLaw(inner *catalog.Sampler, positions, calls int) ([]float64, error) {
	law, err := w.SamplerLaw(inner)
	if err != nil {
		return nil, err
	}
	kernel := w.Gibbs(positions)
	for ; calls > 0; calls /= 2 {
		if calls%2 == 1 {
			law = through([][]float64{law}, kernel)[0]
		}
		if calls > 1 {
			kernel = through(kernel, kernel)
		}
	}
	for _, p := range law {
		if math.IsNaN(p) {
			return nil, fmt.Errorf("laws: a correction reaches a row in which every token has probability 0")
		}
	}
	return law, nil
}

// Gibbs returns the kernel [States][States] of one correction: of the positions that have a token,
// the given number, or all if there are fewer, are chosen uniformly, masked and drawn again,
// independently of each other. It is NaN where the world has no row.
func (w *World) Gibbs(positions int) [][]float64 {
	out := make([][]float64, w.States)
	for x := range out {
		out[x] = make([]float64, w.States)
		var seen []int
		for l := range w.D {
			if w.Token(x, l) != w.V {
				seen = append(seen, l)
			}
		}
		n := min(positions, len(seen))
		sets := combin.Combinations(len(seen), n)
		rows := w.Rows(float64(n) / float64(w.D))
		for _, set := range sets {
			y := x
			for _, i := range set {
				y = w.Hide(y, seen[i])
			}
			var draw func(set []int, to int, q float64)
			draw = func(set []int, to int, q float64) {
				if len(set) == 0 {
					out[x][to] += q
					return
				}
				l := seen[set[0]]
				row := w.Row(rows, y, l)
				sum := floats.Sum(row) // 0 where there is no row
				for a, p := range row {
					draw(set[1:], w.Reveal(to, l, a), q*p/sum)
				}
			}
			draw(set, y, 1/float64(len(sets)))
		}
	}
	return out
}

// through applies one step of a kernel to laws and normalises each result to sum to 1.
func through(laws, kernel [][]float64) [][]float64 {
	out := make([][]float64, len(laws))
	for i, law := range laws {
		next := make([]float64, len(law))
		for x, p := range law {
			if p > 0 {
				floats.AddScaled(next, p, kernel[x])
			}
		}
		floats.Scale(1/floats.Sum(next), next)
		out[i] = next
	}
	return out
}
