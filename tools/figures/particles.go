package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/report"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/tools/internal/fatal"
)

// swarms plots how particles converge to a target. On a world with exact rows, temperature T has
// the target q0^(1/T)/Z, with Z = Σ q0^(1/T).
func swarms(ctx context.Context, _ network) ([]report.Plot, []byte) {
	const draws = 200_000
	w, _ := openWorld(exactWorld)
	p := report.Plot{Name: "particles", Title: "Particles on markov3-exact: distance from the target by their number", X: "particles", Y: "TV to the target", LogX: true, LogY: true, Guide: -1}
	t := report.Table{Head: []string{"temperature", "particles", "TV", "drawn once, exact", "log Z, estimated", "log Z", "error of one estimate"}, Numbers: 1}
	for _, temperature := range []float64{0.25, 0.5} {
		var z, noise float64
		target := slices.Clone(w.Q0())
		for i := range target {
			target[i] = math.Pow(target[i], 1/temperature)
			z += target[i]
		}
		for i := range target {
			target[i] /= z
			noise += math.Sqrt(target[i] * (1 - target[i]) / draws / (2 * math.Pi)) // the mean TV of as many draws from the target
		}
		for _, n := range []int{1, 2, 4, 8, 16} {
			s := fatal.Must(samplerOf(w, fmt.Sprintf("fhs particles=%d", n), temperature))
			var sum, squares, tv float64
			counts := make([]float64, len(target))
			fatal.Must(sample(ctx, w, blankOf(w), draws, samplers.Config{Method: s, Seed: seed, Batch: 16}, func(r samplers.Result) {
				state := 0
				for _, id := range r.IDs {
					state = state*w.Facts().Columns + id
				}
				counts[state]++
				if r.LogZ != nil {
					x := math.Exp(*r.LogZ) / z
					sum, squares = sum+x, squares+(x-1)*(x-1)
				}
			}))
			for i, q := range target {
				tv += math.Abs(counts[i]/draws-q) / 2
			}
			name := fmt.Sprintf("T = %v", temperature)
			p.Add(name, "", report.Point{X: float64(n), Y: tv})
			p.Add(name+", noise of the draws", report.StyleLine, report.Point{X: float64(n), Y: noise})
			once := drawnOnce(pathsOf(w, temperature), n, target)
			p.Add(name+", drawn once in the end, exact", report.StyleLine, report.Point{X: float64(n), Y: once})
			row := []string{fmt.Sprint(temperature), fmt.Sprint(n), fmt.Sprintf("%.4f", tv), fmt.Sprintf("%.4f", once), "–", fmt.Sprintf("%.4f", math.Log(z)), "–"}
			if n > 1 {
				// The error of log Z is the relative error of Z, if that is small.
				row[4] = fmt.Sprintf("%.4f ± %.4f", math.Log(z*sum/draws), math.Sqrt(squares)/draws)
				row[6] = fmt.Sprintf("%.3f", math.Sqrt(squares/draws))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return []report.Plot{p}, markdown(t)
}

// path is an order with its tokens: its final state, its probability and its weight.
type path struct {
	state     int
	p, weight float64
}

// pathsOf returns First-Hitting's paths on a world at a temperature. Each step multiplies the
// weight by Σ μ^(1/T).
func pathsOf(w *world.World, temperature float64) (paths []path) {
	var follow func(canvas []int, p, weight float64)
	follow = func(canvas []int, p, weight float64) {
		masked, state := 0.0, 0
		for _, id := range canvas {
			state = state*w.Facts().Columns + id
			if id == w.Facts().MaskID {
				masked++
			}
		}
		if masked == 0 {
			paths = append(paths, path{state, p, weight})
		}
		for l, id := range canvas {
			if id != w.Facts().MaskID {
				continue
			}
			row, sum := make([]float64, w.Facts().Columns), 0.0
			w.Mu(row, w.State(canvas), l, 0)
			for a := range row {
				row[a] = math.Pow(row[a], 1/temperature)
				sum += row[a]
			}
			for a, x := range row {
				next := slices.Clone(canvas)
				next[l] = a
				follow(next, p*x/sum/masked, weight*sum)
			}
		}
	}
	follow(blankOf(w), 1, 1)
	return paths
}

// drawnOnce returns the total variation from the target if one of n particles is drawn at the end,
// in proportion to its weight, and none before. A path with probability q and weight w is drawn
// with probability
//
//	n·∫ q·w·e^(−uw) · (Σ q·e^(−uw))^(n−1) du
//
// over u from 0 to ∞, since 1/Σw = ∫ e^(−uΣw) du.
func drawnOnce(paths []path, n int, target []float64) (tv float64) {
	law := make([]float64, len(target)) // minus the target
	for i, x := range target {
		law[i] = -x
	}
	const step = 0.02 // of log u, over the range in which e^(−uw) falls from 1 to 0
	for y := -20.0; y < 20; y += step {
		u, all := math.Exp(y), 0.0
		for _, x := range paths {
			all += x.p * math.Exp(-u*x.weight)
		}
		for _, x := range paths {
			law[x.state] += float64(n) * x.p * x.weight * math.Exp(-u*x.weight) * math.Pow(all, float64(n-1)) * u * step
		}
	}
	for _, x := range law {
		tv += math.Abs(x) / 2
	}
	return tv
}
