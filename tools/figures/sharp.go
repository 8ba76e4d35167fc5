package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/model/world"
	"mdmgen/tools/internal/fatal"
)

// exactWorld is a world whose denoiser is the exact posterior. What the paper states about the
// data's law then holds for First-Hitting's too.
const exactWorld = "markov3-exact"

// openWorld opens a world, as a network and for enumeration.
func openWorld(name string) (*world.World, *laws.World) {
	file := fatal.Must(world.Open(filepath.Join("testdata", "reference", "laws", name+".json")))
	return file, fatal.Must(laws.New(file))
}

// world4 plots the exact distance of Euler on a world, with its bounds.
func world4(ctx context.Context, _ network) ([]report.Plot, []byte) {
	const start, delta = 5.0, 0.01
	file, w := openWorld(exactWorld)
	var steps []int
	for n := 1; n <= 256; n *= 2 {
		steps = append(steps, n)
	}
	ss := settings(file, fmt.Sprintf("euler grid=uniform noise=exp T=%g delta=%g finish=denoise", start, delta), steps...)
	st := fatal.Must(certificate.Measure(ctx, file, blankOf(file), ss, certificate.Config{Runs: 4000, Seed: seed, Batch: 256}))
	p := report.Plot{Name: "world", Title: fmt.Sprintf("%s, Euler on equal steps from T = %g to δ = %g", exactWorld, start, delta), X: "N", Y: "TV, and bounds on it", LogX: true, LogY: true, Guide: -1, Bars: report.Intervals(0, "runs")}
	t := report.Table{Head: []string{"N", "TV(P_FHS, P_N)", "certificate", "Pinsker, √(KL/2)", "collision bound", "TV(q_δ, Euler)", "Theorem 1", "Corollary 1"}}
	fhs := w.FHSLaw()
	gamma := w.Gamma(w.Marginal(delta))
	for i, s := range ss {
		euler, _ := s.Grid()
		law := w.Denoise(w.GridLaw(euler.Steps), euler.Grid.Lambda[euler.Grid.Steps()])
		tv, kl := laws.TV(fhs, law), laws.KL(fhs, law)
		apart := fatal.Must(s.Collision(w.D))
		one := w.Theorem1(euler.Steps)
		corollary := theory.Corollary1(w.D, w.V+1, start-delta, (start-delta)/float64(steps[i]), gamma, one.LTV).Sum()
		bound, x := st.Bound(i).TV, float64(steps[i])
		for _, l := range []struct {
			name string
			y    float64
		}{
			{"TV(P_FHS, P_N), exact", tv}, {"collision bound, 1 − p*", -math.Expm1(apart)}, {"Pinsker from the exact KL", math.Sqrt(kl / 2)},
			{"Theorem 1's right side, of TV(q_δ, Euler)", one.EulerRHS}, {"Corollary 1's right side, constants 1", corollary},
		} {
			p.Add(l.name, "", report.Point{X: x, Y: l.y})
			if l.name == "TV(P_FHS, P_N), exact" {
				p.Add("certificate given π", "", report.At(x, bound))
			}
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(steps[i]), number(tv), measured(bound), number(math.Sqrt(kl / 2)), number(-math.Expm1(apart)), number(one.EulerTV), number(one.EulerRHS), number(corollary)})
	}
	return []report.Plot{p}, markdown(t)
}

// blankOf returns the masked canvas of a world.
func blankOf(file *world.World) []int {
	return slices.Repeat([]int{file.Facts().MaskID}, file.Facts().Length)
}
