package plan

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// gumbelKernel is a grid sampler as it is commonly implemented: at every step, each
// masked position takes the argmax of log q − log(−log u) over the tokens, with
// q = p_k·μ(a), and MASK, with q = 1−p_k, where u has few bits. With exact uniforms that is the
// sampler's own step. With u on {1, …, 2^b−1}/2^b no Gumbel variable exceeds
// −log(2^−b): a token of small q beats MASK with probability q·x/(e^x−1), x = 2^−b/q
// (nearly), in place of q. Rare tokens are lost, the more the finer the grid, which
// sharpens the law of the tokens, and reveals come late (arXiv 2409.02908).
//
// It is there to show that bias, and to meet numbers that were published with it. What it
// reveals depends on the rows, and so there is no plan: it asks for the rows of all
// masked positions whenever the canvas has changed, or at each step where the network
// has time.
type gumbelKernel struct {
	stepped
	// bits is b: 24 for float32.
	bits int
}

func (g gumbelKernel) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	return &racing{stepping: stepping{canvas: c, draws: d, grid: g.Steps.Grid, masked: free, denoise: g.denoise}, law: g}, nil
}

// racing is the decoder of races.
type racing struct {
	stepping
	law gumbelKernel
	mu  []float64
}

// Take runs the races of all masked positions until a step reveals something. Steps are
// taken in stretches, position by position, so that a row is normalised once a
// stretch and one is kept in memory; what a position did behind the first step that
// reveals is thrown away, and is raced again with the same numbers on the next canvas.
func (d *racing) Take(r samplers.Rows, e *samplers.Edit) error {
	if d.finishing {
		return d.fill(r, e)
	}
	timed := d.canvas.Spec().TimeConditioned
	d.mu = slices.Grow(d.mu[:0], r.Columns())[:r.Columns()]
	var revealed []hit
	for n := d.grid.Steps(); d.step < n && len(revealed) == 0; {
		end := d.step + 1
		if !timed {
			// About one reveal is expected in a stretch.
			end = min(n, d.step+max(1, int(1/(float64(len(d.masked))*d.law.Steps.Jump[d.step]+1e-9))))
		}
		last := end - 1
		for i, l := range d.masked {
			if err := r.Probabilities(d.mu, 0, i); err != nil {
				return fmt.Errorf("position %d: %w", l, err)
			}
			for k := d.step; k <= last; k++ {
				token := d.law.race(d.mu, d.law.Steps.Jump[k], d.draws.Race(l, k))
				if token < 0 {
					continue
				}
				if k < last {
					last = k
					revealed = revealed[:0]
				}
				revealed = append(revealed, hit{row: i, position: l, token: token, logP: math.Log(d.mu[token]), lambda: d.grid.Lambda[k]})
				break
			}
		}
		if d.step = last + 1; timed {
			break
		}
	}
	d.set(revealed, e)
	return nil
}

// race returns the token that wins, −1 where MASK does, whose number is the first. The greatest
// log q − log(−log u) is the least −log(u)/q; the least column wins among equals.
func (g gumbelKernel) race(mu []float64, jump float64, numbers *draw.Race) int {
	scale := math.Ldexp(1, g.bits)
	winner, least := -1, math.Inf(1)
	if jump < 1 {
		least = -math.Log(numbers.Coarse(0, g.bits)/scale) / (1 - jump)
	}
	for a, p := range mu {
		// 1−u ≤ −log u, and so a race is lost without a logarithm where 1−u ≥ least·q, and
		// without a draw where even the greatest u, 1−2^(−b), is.
		within := least * jump * p * scale
		if !(within > 1) { // also where a token of probability 0 races with an infinite key
			continue
		}
		if u := numbers.Coarse(uint64(a)+1, g.bits); scale-u < within {
			if key := -math.Log(u/scale) / (jump * p); key < least {
				winner, least = a, key
			}
		}
	}
	return winner
}
