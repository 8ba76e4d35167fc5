package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"mdmgen/analysis/report"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// swarms shows how particles tend to a target: on a world whose rows are exact, temperature T has the target
// q0^(1/T)/Z, with Z = Σ q0^(1/T).
func swarms(ctx context.Context, net network) ([]report.Plot, []byte, error) {
	const draws = 20_000
	w, err := world.Open(filepath.Join("testdata", "reference", "laws", "markov3-exact.json"))
	if err != nil {
		return nil, nil, err
	}
	net.Model = w
	p := report.Plot{Name: "particles", Title: "Particles on markov3-exact: distance from the target by their number", X: "particles", Y: "TV to the target", LogX: true, LogY: true, Guide: -1}
	t := report.Table{Head: []string{"temperature", "particles", "TV", "log Z, estimated", "log Z", "error of one estimate"}, Numbers: 1}
	for _, temperature := range []float64{0.25, 0.5} {
		var z, noise float64
		target := slices.Clone(w.Q0())
		for i := range target {
			target[i] = math.Pow(target[i], 1/temperature)
			z += target[i]
		}
		for i := range target {
			target[i] /= z
			noise += math.Sqrt(target[i] * (1 - target[i]) / draws / (2 * math.Pi)) // the mean of TV of as many draws of the target
		}
		for _, n := range []int{1, 2, 4, 8, 16} {
			s, err := samplerOf(w, fmt.Sprintf("fhs particles=%d", n), temperature)
			if err != nil {
				return nil, nil, err
			}
			var sum, squares, tv float64
			counts := make([]float64, len(target))
			if _, err := net.sample(ctx, s, net.blank(w.Facts().Length), draws, func(r samplers.Result) {
				state := 0
				for _, id := range r.IDs {
					state = state*w.Facts().Columns + id
				}
				counts[state]++
				if r.LogZ != nil {
					x := math.Exp(*r.LogZ) / z
					sum, squares = sum+x, squares+(x-1)*(x-1)
				}
			}); err != nil {
				return nil, nil, err
			}
			for i, q := range target {
				tv += math.Abs(counts[i]/draws-q) / 2
			}
			name := fmt.Sprintf("T = %v", temperature)
			p.Add(name, "", report.Point{X: float64(n), Y: tv})
			p.Add(name+", noise of the draws", report.StyleLine, report.Point{X: float64(n), Y: noise})
			row := []string{fmt.Sprint(temperature), fmt.Sprint(n), fmt.Sprintf("%.4f", tv), "–", fmt.Sprintf("%.4f", math.Log(z)), "–"}
			if n > 1 {
				// The error of log Z is that of Z relative to it, where it is small.
				row[3] = fmt.Sprintf("%.4f ± %.4f", math.Log(z*sum/draws), math.Sqrt(squares)/draws)
				row[5] = fmt.Sprintf("%.3f", math.Sqrt(squares/draws))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return []report.Plot{p}, markdown(t), nil
}
