package likelihood

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// opened holds the small checkpoints, which tests share.
var opened = make(map[string]model.Model)

// tiny opens a small random checkpoint as the commands do. It skips the test without ONNX Runtime.
func tiny(t testing.TB, name string) *Evaluator {
	t.Helper()
	if opened[name] == nil {
		m, err := model.Open(context.Background(), reftest.Data(t, "reference", "checkpoints", name), model.Options{Runtime: orttest.OneThread})
		if orttest.Need(t, err); err != nil {
			t.Fatal(err)
		}
		opened[name] = m
	}
	return reftest.Must(New(opened[name], Options{}))(t)
}

// inOrder returns the rows of revealing positions one by one.
func inOrder(t *Target, order []int) []Ask {
	var p plan.Plan
	for _, l := range order {
		p.Blocks = append(p.Blocks, plan.Block{Positions: []int{l}})
	}
	return planAsks(nil, t, &p, false)
}

// TestLogitNetwork checks laws that hold for any rows, on a network without time: −log
// P_FHS ≤ NELBO, the score entropy from scores equals the NELBO, an order's chain equals the same
// order computed row by row, and grids of many steps are close to FHS.
func TestLogitNetwork(t *testing.T) {
	for _, name := range []string{"mdlm", "radd"} {
		e := tiny(t, name)
		target := Target{IDs: []int{5, 17, 9, 99, 3, 42, 7}, Free: []int{0, 1, 3, 4, 6}}
		table := reftest.Must(e.Table(context.Background(), target, true))(t)
		fhs, nelbo := table.FHS(), table.NELBO()
		if fhs > nelbo {
			t.Errorf("%s: −log P_FHS is %v, the NELBO %v: Jensen is violated", name, fhs, nelbo)
		}
		entropy := table.ScoreEntropy()
		if math.Abs(entropy.Raw-nelbo) > 1e-9*nelbo {
			t.Errorf("%s: score entropy %+v, NELBO %v", name, entropy, nelbo)
		}
		asks := inOrder(&target, []int{6, 3, 0, 4, 1})
		reftest.OK(t, e.Eval(context.Background(), asks))
		if got, chain := table.Chain([]int{4, 2, 0, 3, 1}), asksCost(asks); math.Abs(got-chain) > 1e-4 {
			t.Errorf("%s: chain %v by the table, %v row by row", name, got, chain)
		}
		s := mustSampler(t, catalog.Options{Sampler: "tweedie", Steps: 3000, PlanOptions: catalog.PlanOptions{Grid: "lambda"}})
		steps, _ := s.Grid()
		if got := table.Grid(steps).Denoise; math.Abs(got-fhs) > 1e-2 {
			t.Errorf("%s: 3000 steps of Tweedie give %v, FHS %v", name, got, fhs)
		}
	}
}

// TestBatches checks that answers depend on the batch only by rounding of rows.
func TestBatches(t *testing.T) {
	e := tiny(t, "mdlm")
	target := Whole([]int{5, 17, 9, 99, 3})
	var want *Table
	for _, batch := range []int{0, 1, 3, 7} {
		e.opts.Batch = batch
		got := reftest.Must(e.Table(context.Background(), target, false))(t)
		if want == nil {
			want = got
		}
		for i := range want.LogMu {
			if math.Abs(got.LogMu[i]-want.LogMu[i]) > 1e-5 {
				t.Fatalf("batch %d: entry %d is %v, want %v", batch, i, got.LogMu[i], want.LogMu[i])
			}
		}
	}
}

// TestScoreNetwork compares Monte Carlo on score networks, raw and normalised, with
// quadrature over all states.
func TestScoreNetwork(t *testing.T) {
	for _, name := range []string{"sedd", "sedd-noscale", "mdlm-timecond"} {
		e := tiny(t, name)
		ctx := context.Background()
		target := Whole([]int{5, 17, 9})
		table := reftest.Must(e.timedTable(ctx, target, true, 0, 1))(t)
		double := &TimedTable{D: table.D, high: 1, start: 1}
		reftest.OK(t, double.refine(ctx, e, target, 2*DefaultNodes+1, true))
		exact, nelbo, fhs := table.ScoreEntropy(), table.NELBO(), table.FHS()
		for what, pair := range map[string][2]Integral{"NELBO": {nelbo, double.NELBO()}, "FHS": {fhs, double.FHS()}} {
			moved := math.Abs(pair[1].Value - pair[0].Value)
			t.Logf("%s: %s %v, by twice the nodes %v", name, what, pair[0], pair[1])
			if moved > pair[0].Error || moved > 1e-2 {
				t.Errorf("%s: %s: %v moves by %v with twice the nodes", name, what, pair[0], moved)
			}
		}
		t.Logf("%s: %+v", name, exact)
		if math.Abs(exact.Normalised-nelbo.Value) > 1e-9*exact.Normalised {
			t.Errorf("%s: normalised score entropy %v, NELBO %v", name, exact.Normalised, nelbo)
		}
		if exact.Raw-exact.Normalised < -1e-9*exact.Raw {
			t.Errorf("%s: raw %v is below normalised %v", name, exact.Raw, exact.Normalised)
		}
		if fhs.Value > nelbo.Value+fhs.Error+nelbo.Error {
			t.Errorf("%s: −log P_FHS %v is above the NELBO %v", name, fhs, nelbo)
		}
		check := func(form Form, what string, got interface{ String() string }, mean, se, want float64) {
			if z := (mean - want) / se; !(math.Abs(z) <= 4) {
				t.Errorf("%s: %s: %s %v, want %v: %.1f standard errors away", name, form, what, got, want, z)
			}
		}
		if name == "sedd-noscale" {
			// Its scores do not decrease as t grows: the raw integral has no limit, and its error
			// shows that.
			if exact.Error < exact.Raw/10 {
				t.Errorf("%s: raw score entropy %+v: want a large error", name, exact)
			}
			continue
		}
		for _, form := range []Form{Subsets, Lambda, Time, ScoreEntropyForm} {
			r := one(t, e, target, 0, Config{Form: form, Draws: 1000, Seed: 3})
			want := exact.Normalised
			if form == ScoreEntropyForm {
				want = exact.Raw
			}
			check(form, "nats", r.Nats, r.Nats.Mean, r.Nats.SE, want)
		}
		if name == "mdlm-timecond" {
			reftest.Fails(t, (Config{Form: SEDD}).Check(e.Facts()), "", name, "the protocol sedd is accepted")
			continue
		}
		// The protocol integrates over t from ε to 1, λ = (1−ε)t, with weight σ' dt = dλ/(1−λ).
		const eps = protocolEpsilon
		want := quad.Fixed(func(lambda float64) float64 {
			return reftest.Must(e.tablesAt(ctx, []Target{target}, true, func(int) float64 { return lambda }))(t)[0].integrand(lambda, scoreCost(lambda))
		}, eps*(1-eps), 1-eps, 24, quad.Legendre{}, 1) / (1 - eps)
		r := one(t, e, target, 0, Config{Form: SEDD, Draws: 4000, Seed: 3})
		check(SEDD, "nats", r.Nats, r.Nats.Mean, r.Nats.SE, want)
	}
}

// TestTooLarge checks that values that are too expensive are errors with their cost.
func TestTooLarge(t *testing.T) {
	ids := make([]int, 18)
	e := tiny(t, "mdlm")
	var large *TooLargeError
	_, err := e.Table(context.Background(), Whole(ids), false)
	if !errors.As(err, &large) || large.Rows != 1<<18 {
		t.Errorf("18 free positions: %v", err)
	}
	timed := tiny(t, "mdlm-timecond")
	_, err = timed.Exact(context.Background(), Whole(ids[:17]), mustSampler(t, catalog.Options{}))
	if !errors.As(err, &large) || large.Rows != DefaultNodes<<17 {
		t.Errorf("a quadrature: %v", err)
	}
	_, err = timed.Exact(context.Background(), Whole(ids[:15]), mustSampler(t, catalog.Options{Sampler: "euler", Steps: 100}))
	if !errors.As(err, &large) || large.Rows != 101<<15 {
		t.Errorf("a grid of 100 steps: %v", err)
	}
}

// TestUnresolved checks that the quadrature and the estimates detect scores that do not decrease as
// time grows, whose integral over all times does not exist.
func TestUnresolved(t *testing.T) {
	ctx := context.Background()
	for name, resolved := range map[string]bool{"sedd": true, "sedd-noscale": false} {
		e := tiny(t, name)
		target := Whole([]int{5, 17, 9})
		table := reftest.Must(e.TimedTableWithin(ctx, target, 0, true))(t)
		if got := table.ScoreEntropy(); got.Resolved() != resolved {
			t.Errorf("%s: %+v is resolved: %t", name, got, got.Resolved())
		}
		if v, err := e.Values(ctx, []Target{target}, mustSampler(t, catalog.Options{})); err != nil || (v[0].ScoreEntropyNote == "") != resolved || (v[0].ScoreEntropy != nil) != resolved {
			t.Errorf("%s: values %+v, %v", name, v, err)
		}
		for _, form := range []Form{Subsets, ScoreEntropyForm, SEDD} {
			r := one(t, e, target, 0, Config{Form: form, Draws: 4, Seed: 1})
			if math.IsNaN(r.Nats.Mean) != (form == ScoreEntropyForm && !resolved) {
				t.Errorf("%s: %s: %v", name, form, r.Nats)
			}
		}
	}
}

// TestAdaptive checks that doubling the nodes keeps the rows already computed and reaches the
// tolerance.
func TestAdaptive(t *testing.T) {
	e := tiny(t, "mdlm-timecond")
	target := Whole([]int{1, 7, 33})
	table := reftest.Must(e.TimedTableWithin(context.Background(), target, 1e-4, false))(t)
	if rows, want := e.Totals().Rows, table.Nodes()*7; rows != want || table.Nodes() <= DefaultNodes {
		t.Errorf("%d rows for %d nodes, want %d", rows, table.Nodes(), want)
	}
	fine := &TimedTable{D: len(target.Free), high: 1, start: 1}
	reftest.OK(t, fine.refine(context.Background(), e, target, 511, false))
	for what, pair := range map[string][2]Integral{"FHS": {table.FHS(), fine.FHS()}, "NELBO": {table.NELBO(), fine.NELBO()}} {
		if moved := math.Abs(pair[0].Value - pair[1].Value); pair[0].Error > 1e-4 || moved > pair[0].Error+1e-6 {
			t.Errorf("%s: %v, by 511 nodes %v", what, pair[0], pair[1])
		}
	}
}
