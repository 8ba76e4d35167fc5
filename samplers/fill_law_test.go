package samplers_test

import (
	"fmt"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
)

// path is one outcome of a plan: blocks with the masked fraction of their call and a
// weight a position, written down without the package under test.
type path struct {
	p      float64
	blocks []pathBlock
}

type pathBlock struct {
	lambda    float64
	positions []int
	weight    float64
}

// fillLaw is the law of final states, base V+1, of filling paths with floor κ.
func fillLaw(w *world.World, floor float64, paths []path) []float64 {
	d, v := w.Facts().Length, w.Facts().Columns
	states := 1
	for range d {
		states *= v + 1
	}
	law := make([]float64, states)
	// run fills the blocks from the i-th on; before is the state and lambda that the
	// call before was asked at.
	var run func(blocks []pathBlock, state, before int, lambda, p float64)
	run = func(blocks []pathBlock, state, before int, lambda, p float64) {
		if len(blocks) == 0 {
			law[state] += p
			return
		}
		b := blocks[0]
		// rows [position of the block][token] on the canvas before the block.
		rows := make([][]float64, len(b.positions))
		for i, l := range b.positions {
			now, old := make([]float64, v), make([]float64, v)
			w.Mu(now, state, l, b.lambda)
			rows[i] = now
			if b.weight != 0 {
				w.Mu(old, before, l, lambda)
				var sum float64
				for a := range now {
					now[a] = max((1+b.weight)*now[a]-b.weight*old[a], floor*now[a])
					sum += now[a]
				}
				for a := range now {
					now[a] /= sum
				}
			}
		}
		var fill func(i, next int, q float64)
		fill = func(i, next int, q float64) {
			if i == len(b.positions) {
				run(blocks[1:], next, state, b.lambda, q)
				return
			}
			place := 1
			for range d - 1 - b.positions[i] {
				place *= v + 1
			}
			for a, mu := range rows[i] {
				if mu > 0 {
					fill(i+1, next-(v-a)*place, q*mu)
				}
			}
		}
		fill(0, state, p)
	}
	for _, x := range paths {
		run(x.blocks, states-1, 0, 0, x.p)
	}
	return law
}

// trapezoidalPaths are the ways to put d positions into 2N half steps from λ = 1 to 0.
func trapezoidalPaths(d, n int, timed bool) []path {
	var out []path
	half := 1 / float64(2*n)
	total := 1
	for range d {
		total *= 2 * n
	}
	for code := range total {
		in, c, p := make([][]int, 2*n), code, 1.0
		for l := range d {
			in[c%(2*n)] = append(in[c%(2*n)], l)
			c /= 2 * n
			p *= half
		}
		x := path{p: p}
		for k := range n {
			first, second := in[2*k], in[2*k+1]
			if len(first) > 0 || timed && len(second) > 0 {
				x.blocks = append(x.blocks, pathBlock{lambda: 1 - float64(2*k)*half, positions: first})
			}
			if len(second) > 0 {
				b := pathBlock{lambda: 1 - float64(2*k+1)*half, positions: second}
				if len(first) > 0 || timed {
					b.weight = 1
				}
				x.blocks = append(x.blocks, b)
			}
		}
		out = append(out, x)
	}
	return out
}

// pairedPaths are the orders of 3 positions, cut into a pair of blocks, of which the second
// has a weight.
func pairedPaths(sizes [2]int, weight float64) []path {
	var out []path
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		x, at := path{p: 1.0 / 6}, 0
		for n, size := range sizes {
			x.blocks = append(x.blocks, pathBlock{lambda: float64(3-at) / 3, positions: order[at : at+size], weight: float64(n) * weight})
			at += size
		}
		out = append(out, x)
	}
	return out
}

// TestFillLaws compares samples of the fills with history with laws that are
// enumerated here, on a world with time and two without.
func TestFillLaws(t *testing.T) {
	const tests = 3 * 7 * 2
	for i := range 3 {
		w, _ := openWorld(t, i)
		timed := w.Facts().TimeConditioned
		check := func(label string, o catalog.Options, law []float64) {
			t.Helper()
			for _, o := range byBoth(o) {
				got := sampleMany(t, w, newSampler(t, w, o), 8, lawDraws)
				if p := reftest.Goodness(got.states, law); p < familyLevel/tests {
					t.Errorf("%s, %s, %s: chi-square p = %.3g", worldNames[i], label, o.By, p)
				}
			}
		}
		for _, floor := range []float64{0, 0.1, 0.7} {
			for n := 1; n <= 2; n++ {
				check(fmt.Sprintf("trapezoidal %d, floor %v", n, floor), catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: n, Floor: &floor}, fillLaw(w, floor, trapezoidalPaths(3, n, timed)))
			}
		}
		// w = 3·2/(2·2) − 1 for sizes 1 and 2.
		check("paired 2,1", catalog.Options{Sampler: "paired-fhs", Sizes: "2,1"}, fillLaw(w, 0.1, pairedPaths([2]int{2, 1}, 0.5)))
	}
}
