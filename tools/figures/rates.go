package main

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// targets are those for TV, √ε in the paper.
var targets = []float64{0.3, 0.1, 0.03}

// printed are the rates of Table 1 without what Õ hides, and M, the bound on scores, as 1.
var printed = []struct {
	name string
	n    func(d, e float64) float64
}{
	{"τ-leaping, d/ε", func(d, e float64) float64 { return d / (e * e) }},
	{"Euler, d²/ε^(3/4)", func(d, e float64) float64 { return d * d / math.Pow(e, 1.5) }},
	{"DMPM, d/ε²", func(d, e float64) float64 { return d / math.Pow(e, 4) }},
	{"Euler, d/ε^(1/2)", func(d, e float64) float64 { return d / e }},
	{"FHS, d", func(d, e float64) float64 { return d }},
}

// table is Table 1 in the making: a row a rate or a measurement, a column a target.
type table struct {
	report.Table
	d float64
	p report.Plot
}

func newTable(name, title string, d int) *table {
	t := &table{d: float64(d), p: report.Plot{Name: name, Title: title, X: "TV(P_FHS, P_N), or the target for it", Y: "N", LogX: true, LogY: true}}
	t.Head, t.Numbers = []string{fmt.Sprintf("d = %d: N for a TV of", d)}, 1
	for _, e := range targets {
		t.Head = append(t.Head, number(e))
	}
	for _, r := range printed {
		row := []string{r.name + ", constants 1, no logarithms"}
		for _, e := range targets {
			row = append(row, count(r.n(t.d, e)))
			if r.name == "Euler, d/ε^(1/2)" || r.name == "FHS, d" || r.name == "τ-leaping, d/ε" {
				t.p.Add(r.name+", constant 1", report.StyleLine, report.Point{X: e, Y: r.n(t.d, e)})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func count(n float64) string { return fmt.Sprintf("%.0f", math.Ceil(n)) }

// least adds the least N that brings a distance to each target.
func (t *table) least(name string, distance func(n int) float64) {
	row := []string{name}
	for _, e := range targets {
		c := theory.LeastSteps(distance, e, int(t.d/e))
		row = append(row, fmt.Sprint(c.N))
		t.p.Add(name, "", report.Point{X: e, Y: float64(c.N)})
	}
	t.Rows = append(t.Rows, row)
}

// between adds N by interpolation between the numbers of steps that were looked at.
func (t *table) between(name string, steps []int, y []float64) {
	row := []string{name}
	for _, e := range targets {
		cell := "–"
		for i := 1; i < len(y); i++ {
			if y[i-1] > e && y[i] <= e {
				x := math.Log(y[i-1]/e) / math.Log(y[i-1]/y[i])
				cell = count(float64(steps[i-1]) * math.Pow(float64(steps[i])/float64(steps[i-1]), x))
			}
		}
		row = append(row, cell)
	}
	for i, n := range steps {
		if y[i] < 0.9 && y[i] > 0.005 {
			t.p.Add(name, "", report.Point{X: y[i], Y: float64(n)})
		}
	}
	t.Rows = append(t.Rows, row)
}

// theorem2 is N for which the terms of Theorem 2 with constants 1 and an exact score add up to
// e, by the times that the theorem takes: a quarter for each end, the rest for the steps.
func theorem2(d, s int, e float64) (int, error) {
	t, delta := math.Log(4*float64(d)/e), e/(4*float64(d))
	kappa := (e / 2) / theory.Theorem2(d, s, t, delta, 1, 0).Discretisation
	g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridPaper, T: t, Delta: delta, Kappa: kappa})
	return g.Steps(), err
}

// rates sets Table 1 of the paper beside what is exact on a world and what certificates say on
// the network.
func rates(ctx context.Context, net network) ([]report.Plot, []byte, error) {
	onWorld, err := worldRates(ctx)
	if err != nil {
		return nil, nil, err
	}
	long, err := networkRates(ctx, net.Model, net.blank(128), 16)
	if err != nil {
		return nil, nil, err
	}
	return []report.Plot{onWorld.p, long.p}, markdown(onWorld.Table, long.Table), nil
}

func worldRates(ctx context.Context) (*table, error) {
	file, w, err := openWorld()
	if err != nil {
		return nil, err
	}
	t := newTable("rates-world", fmt.Sprintf("Steps that a distance takes, %s, T = %g, δ = %g", worldName, worldT, worldDelta), w.D)
	row := []string{"Theorem 2's right side, constants 1"}
	for _, e := range targets {
		n, err := theorem2(w.D, w.V+1, e)
		if err != nil {
			return nil, err
		}
		row = append(row, fmt.Sprint(n))
		t.p.Add(row[0], "", report.Point{X: e, Y: float64(n)})
	}
	t.Rows = append(t.Rows, row)
	var failed error
	made := func(name string, n int) *catalog.Sampler {
		o := eulerOn("denoise")
		o.Sampler = name
		o.Steps = n
		s, err := catalog.New(o, file.Spec())
		if err != nil {
			failed = err
			s, _ = catalog.New(catalog.Options{}, samplers.Spec{})
		}
		return s
	}
	fhs := w.FHSLaw()
	t.least("Theorem 1's right side, Euler", func(n int) float64 {
		steps, _ := made("euler", n).Steps()
		return w.Theorem1(w.Run(steps)).EulerRHS
	})
	t.least("collision bound, Euler", func(n int) float64 {
		apart, _ := quality.Collision(made("euler", n), w.D)
		return -math.Expm1(apart)
	})
	t.least(fmt.Sprintf("certificate, Euler, %d runs", worldTrials), func(n int) float64 {
		st, err := certificate.Measure(ctx, file, blankOf(file), []*catalog.Sampler{made("euler", n)}, certificate.Config{Runs: worldTrials, Seed: seed, Batch: 256})
		if err != nil {
			failed = err
			return 0
		}
		return st.Bound(0).TV.Mean
	})
	for _, name := range []string{"euler", "tau-leaping", "dmpm"} {
		t.least("exact, "+map[string]string{"euler": "Euler", "tau-leaping": "τ-leaping", "dmpm": "DMPM"}[name], func(n int) float64 {
			return exactDistance(w, made(name, n), fhs, &failed)
		})
	}
	return t, failed
}

// exactDistance is TV from first-hitting's law.
func exactDistance(w *laws.World, s *catalog.Sampler, fhs []float64, failed *error) float64 {
	states, err := w.SamplerLaw(s)
	if err != nil {
		*failed = err
		return 0
	}
	return laws.TV(fhs, w.OnSequences(states))
}

// networkRates is Table 1 at the length of a canvas.
func networkRates(ctx context.Context, net samplers.Network, canvas []int, runs int) (*table, error) {
	d := len(canvas)
	t := newTable(fmt.Sprintf("rates-%d", d), fmt.Sprintf("Steps that a certificate takes, built-in network, %d positions, %d runs", d, runs), d)
	var steps []int
	for n := d / 4; n <= 64*d; n *= 2 {
		steps = append(steps, n)
	}
	var all []*catalog.Sampler
	kinds := []struct {
		name string
		o    catalog.Options
	}{
		{"Tweedie, equal steps of λ", catalog.Options{Sampler: "tweedie", Grid: "lambda"}},
		{"Euler", catalog.Options{Sampler: "euler", Noise: "exp"}},
		{"τ-leaping", catalog.Options{Sampler: "tau-leaping", Noise: "exp"}},
		{"DMPM", catalog.Options{Sampler: "dmpm", Noise: "exp"}},
	}
	for _, k := range kinds {
		ss, err := settings(k.o, net.Spec(), steps...)
		if err != nil {
			return nil, err
		}
		all = append(all, ss...)
	}
	st, err := certificate.Measure(ctx, net, canvas, all, certificate.Config{Runs: runs, Seed: seed, Batch: 8})
	if err != nil {
		return nil, err
	}
	for i, k := range kinds {
		var bound []float64
		for j := range steps {
			bound = append(bound, st.Bound(i*len(steps)+j).TV.Mean)
		}
		t.between("certificate, "+k.name, steps, bound)
	}
	t.least("collision bound, "+kinds[0].name, func(n int) float64 {
		if n < d {
			return 1
		}
		var apart float64 // log Π (1 − k/n): no two of d positions in one of n equal steps
		for k := range d {
			apart += math.Log1p(-float64(k) / float64(n))
		}
		return -math.Expm1(apart)
	})
	return t, nil
}
