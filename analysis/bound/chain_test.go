package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestChainOfWorld compares every estimate of the chain mode with a sum over all sequences of a
// world.
func TestChainOfWorld(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	for _, finish := range []string{"denoise", "leave"} {
		cases := grids(t, finish, 4, 16)
		r := reftest.Must(Chain(context.Background(), w, e, sequences(w)[0], Config{Cases: cases, Draws: 1000, Seed: 11}))(t)
		checkForm(t, r)
		if !r.Holds {
			t.Errorf("%s: %+v", finish, r.Lines)
		}
		var q0, fhs, nelbo []float64
		grid := make([][]float64, len(cases))
		for _, target := range sequences(w) {
			table := reftest.Must(e.Table(context.Background(), target, false))(t)
			q0, fhs, nelbo = append(q0, math.Exp(-table.LeftToRight())), append(fhs, math.Exp(-table.FHS())), append(nelbo, table.NELBO())
			for i, c := range cases {
				grid[i] = append(grid[i], math.Exp(-reftest.Must(e.Exact(context.Background(), target, c.Sampler))(t).NegLog))
			}
		}
		epsilon := -laws.Entropy(q0)
		for i, q := range q0 {
			if q > 0 {
				epsilon += q * nelbo[i]
			}
		}
		// above returns Σ (p−q)_+, which is TV if only q may leave masks.
		above := func(p, q []float64) (sum float64) {
			for i := range p {
				sum += max(0, p[i]-q[i])
			}
			return sum
		}
		check := func(name string, got report.Value, want float64) {
			t.Helper()
			if math.IsInf(want, 1) && math.IsInf(got.Mean, 1) {
				return
			}
			if math.Abs(got.Mean-want) > 4.5*got.SE+1e-9 {
				t.Errorf("%s: %s: %v ± %v, want %v", finish, name, got.Mean, got.SE, want)
			}
		}
		check("KL(q0‖P_FHS)", find(t, r, "theorem4").Left, laws.KL(q0, fhs))
		check("ε″", find(t, r, "theorem4").Right, epsilon)
		check("H(q0)", find(t, r, "epsilon").Left, laws.Entropy(q0))
		if sum := find(t, r, "normalisation"); math.Abs(sum.Left.Mean-1) > 1e-6 || !sum.Left.Exact {
			t.Errorf("%s: Σ P_FHS: %+v", finish, sum)
		}
		for i, c := range cases {
			name := c.String()
			check("kl_q0 "+name, find(t, r, "kl_q0 "+name).Right, laws.KL(q0, grid[i]))
			check("tv_q0 "+name, find(t, r, "tv_q0 "+name).Right, above(q0, grid[i]))
			check("tv "+name, find(t, r, "tv "+name).Left, above(fhs, grid[i]))
			check("kl "+name, find(t, r, "kl "+name).Left, laws.KL(fhs, grid[i]))
			steps, _ := c.Sampler.Grid()
			if got, want := find(t, r, "tv "+name).Right.Mean, 1-math.Exp(steps.LogApart(3, finish == "denoise")); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: 1 − p* is %v, want %v", name, got, want)
			}
		}
		if finish == "leave" && !strings.Contains(strings.Join(r.Notes, " "), "If masks remain") {
			t.Errorf("no note on masks that stay: %q", r.Notes)
		}
	}
}

// TestChainOfNetwork checks laws that hold for any rows, on a small random network.
func TestChainOfNetwork(t *testing.T) {
	m, e := tiny(t, "mdlm")
	target := likelihood.Target{IDs: []int{1, 2, 0, 0, 0, 0}, Free: []int{2, 3, 4, 5}}
	r := reftest.Must(Chain(context.Background(), m, e, target, Config{Cases: grids(t, "", 8, 32), Draws: 48, Seed: 5}))(t)
	checkForm(t, r)
	if !r.Holds || len(r.Plots) != 2 {
		t.Errorf("%d plots, %+v", len(r.Plots), r.Lines)
	}
	if tv := find(t, r, "tv tweedie 8"); !(tv.Left.Mean > 0 && tv.Left.Mean < tv.Right.Mean) {
		t.Errorf("%+v", tv)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reftest.Fails(t, reftest.Err(Chain(ctx, m, e, target, Config{Draws: 3})), "", "a cancelled run ends without an error")
}

// TestDraw checks that samples occur with the frequencies of the chain.
func TestDraw(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	const n = 5000
	ts, orders := make([]likelihood.Target, n), make([][]int, n)
	for i := range ts {
		ts[i], orders[i] = sequences(w)[0], []int{2, 0, 1}
	}
	x := reftest.Must(drawAlong(context.Background(), w, ts, orders, 1))(t)
	count := make(map[[3]int]float64)
	for _, t := range x.targets {
		count[[3]int(t.IDs)]++
	}
	for _, target := range sequences(w) {
		table := reftest.Must(e.Table(context.Background(), target, false))(t)
		p := math.Exp(-table.Chain([]int{2, 0, 1}))
		if got := count[[3]int(target.IDs)] / n; math.Abs(got-p) > 4.5*math.Sqrt(p*(1-p)/n) {
			t.Errorf("%v: %v of the samples, want %v", target.IDs, got, p)
		}
	}
}

// TestPlan checks bounds without a network, including samplers that have none.
func TestPlan(t *testing.T) {
	cases := grids(t, "", 16, 64)
	add := func(o catalog.Options) Case {
		return Case{o.Sampler, o.Steps, reftest.Must(catalog.New(o, samplers.Spec{}))(t)}
	}
	r := reftest.Must(Plan(context.Background(), 10, append(cases, add(catalog.Options{Sampler: "fhs"}), add(catalog.Options{Sampler: "parallel-fhs", Steps: 4}), add(catalog.Options{Sampler: "parallel-fhs", Steps: 10}))))(t)
	checkForm(t, r)
	steps, _ := cases[0].Sampler.Grid()
	for name, want := range map[string]float64{
		"collision_tv euler 16": 1 - math.Exp(steps.LogApart(10, true)),
		"collision_tv fhs":      0, "collision_kl fhs": 0, "collision_tv parallel-fhs 4": 1, "collision_kl parallel-fhs 4": math.Inf(1),
		"collision_tv parallel-fhs 10": 0,
	} {
		if got := find(t, r, name).Right.Mean; got != want && math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if a, b := find(t, r, "collision_tv tweedie 16").Right.Mean, find(t, r, "collision_tv tweedie 64").Right.Mean; !(a > b && b > 0) {
		t.Errorf("bounds %v and %v", a, b)
	}
	reftest.Fails(t, reftest.Err(Plan(context.Background(), 3, []Case{add(catalog.Options{Sampler: "ordered"})})), "", "an order has a collision bound")
	reftest.Fails(t, reftest.Err(Plan(context.Background(), 0, cases)), "", "no positions")
}
