package likelihood

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/subset"
)

// opened holds the small checkpoints, which tests share.
var opened = make(map[string]model.Model)

// tiny opens a small random checkpoint as the commands do. It skips the test without ONNX Runtime.
func tiny(t testing.TB, name string) *Evaluator {
	t.Helper()
	if opened[name] == nil {
		o, kind := model.Options{Runtime: orttest.OneThread}, "checkpoints"
		if name == "modernbert" {
			o.Override, kind = map[string]string{"mask_id": "103"}, "more" // Laws of rows hold with any mask.
		}
		m, err := model.Open(context.Background(), reftest.Reference(t, kind, name), o)
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
	for _, name := range []string{"mdlm", "radd", "modernbert"} {
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
		if got := reftest.Must(e.Exact(t.Context(), target, s))(t).Endings.Denoise; math.Abs(got-fhs) > 1e-2 {
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

// overTime returns the score entropy, and ∫ (1/λ)·E_λ Σ −log μ dλ, the NELBO, of a window of a network
// with time, by a quadrature over λ.
func overTime(t *testing.T, e *Evaluator, target Target, nodes int) (out ScoreEntropy, nelbo float64) {
	t.Helper()
	lambdas, weights := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(lambdas, weights, 0, 1)
	for j, lambda := range lambdas {
		table := reftest.Must(e.tablesAt(t.Context(), []Target{target}, true, func(int) float64 { return lambda }))(t)[0]
		out.add(table, lambda, weights[j])
		nelbo += weights[j] * table.integrand(lambda, crossEntropy)
	}
	return out, nelbo
}

// TestScoreNetwork compares Monte Carlo on score networks, raw and normalised, with
// quadrature over all states.
func TestScoreNetwork(t *testing.T) {
	for _, name := range []string{"sedd", "sedd-noscale", "mdlm-timecond"} {
		e := tiny(t, name)
		ctx := context.Background()
		target := Whole([]int{5, 17, 9})
		exact, nelbo := overTime(t, e, target, 32)
		double, doubled := overTime(t, e, target, 64)
		t.Logf("%s: %+v, NELBO %v; by twice the nodes %+v, %v", name, exact, nelbo, double, doubled)
		if moved := math.Abs(nelbo - doubled); moved > 1e-2 {
			t.Errorf("%s: the NELBO %v moves by %v with twice the nodes", name, nelbo, moved)
		}
		if math.Abs(exact.Normalised-nelbo) > 1e-9*exact.Normalised {
			t.Errorf("%s: normalised score entropy %v, NELBO %v", name, exact.Normalised, nelbo)
		}
		if exact.Raw-exact.Normalised < -1e-9*exact.Raw {
			t.Errorf("%s: raw %v, normalised %v", name, exact.Raw, exact.Normalised)
		}
		check := func(form Form, what string, got interface{ String() string }, mean, se, want float64) {
			if z := (mean - want) / se; !(math.Abs(z) <= 4) {
				t.Errorf("%s: %s: %s %v, want %v: %.1f standard errors away", name, form, what, got, want, z)
			}
		}
		entropies := reftest.Must(e.ScoreEntropies(ctx, slices.Repeat([]Target{target}, 64), 0, 16, 3))(t)
		mean := estimate.Mean(entropies, 0.95)
		check("", "ScoreEntropies", mean, mean.Mean, mean.SE, nelbo)
		if name == "sedd-noscale" {
			// Its scores do not decrease as t grows: the raw integral has no limit, and nodes closer to
			// λ = 1 add as much with each doubling.
			fourfold, _ := overTime(t, e, target, 128)
			if first, second := double.Raw-exact.Raw, fourfold.Raw-double.Raw; !(first > 100 && second > first/2) {
				t.Errorf("%s: doubled nodes add %v and %v to the raw score entropy %v", name, first, second, exact.Raw)
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
	var large *samplers.TooLargeError
	_, err := e.Table(context.Background(), Whole(ids), false)
	if !errors.As(err, &large) || large.Rows != 1<<18 {
		t.Errorf("18 free positions: %v", err)
	}
	timed := tiny(t, "mdlm-timecond")
	_, err = timed.Exact(context.Background(), Whole(ids[:17]), mustSampler(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}))
	if !errors.As(err, &large) || large.Rows != 1<<17 || large.Most != subset.MaxFree {
		t.Errorf("an order of 17 positions: %v", err)
	}
	_, err = timed.Exact(context.Background(), Whole(ids[:15]), mustSampler(t, catalog.Options{Sampler: "euler", Steps: 100}))
	if !errors.As(err, &large) || large.Rows != 101<<15 {
		t.Errorf("a grid of 100 steps: %v", err)
	}
}

// TestUnresolved checks that estimates detect scores that do not decrease as time grows, whose
// integral over all times does not exist.
func TestUnresolved(t *testing.T) {
	reftest.Long(t)
	for name, resolved := range map[string]bool{"sedd": true, "sedd-noscale": false} {
		e := tiny(t, name)
		target := Whole([]int{5, 17, 9})
		for _, form := range []Form{Subsets, ScoreEntropyForm, SEDD} {
			r := one(t, e, target, 0, Config{Form: form, Draws: 4, Seed: 1})
			if math.IsNaN(r.Nats.Mean) != (form == ScoreEntropyForm && !resolved) {
				t.Errorf("%s: %s: %v", name, form, r.Nats)
			}
		}
	}
}

// TestTogether checks that the rows of a call of several canvases take at most 1 GB for any batch.
func TestTogether(t *testing.T) {
	for _, v := range []struct{ batch, columns, wanted, want int }{
		{64, 50258, 1024, 5}, {64, 2049, 128, 64}, {1 << 20, 2049, 128, 1023}, {3, 1 << 24, 1024, 1}, {0, 2049, 8, 1},
	} {
		e := &Evaluator{facts: facts.Facts{Columns: v.columns}, opts: Options{Batch: v.batch}}
		if got := e.Together(1024, v.wanted); got != v.want {
			t.Errorf("%+v: %d canvases", v, got)
		}
	}
}

// TestAllColumns checks that with every column normalised, including MASK and padding, a token's
// loss equals the cross-entropy over the row; without MASK and padding it is less.
func TestAllColumns(t *testing.T) {
	e := tiny(t, "llada-gqa-bf16")
	m, f := e.model, e.facts
	target := Target{IDs: []int{5, 17, 9, 21, 3}, Free: []int{2}}
	call := samplers.Call{IDs: []int64{5, 17, int64(f.MaskID), 21, 3}, Positions: []int64{2}, Counts: []int{1}}
	row := reftest.Must(m.Logits(t.Context(), call))(t)
	logits := make([]float64, f.Columns)
	for i := range logits {
		logits[i] = float64(row[i])
	}
	want := floats.LogSumExp(logits) - logits[9]
	whole := reftest.Must(New(m, Options{AllColumns: true}))(t)
	var nats [2]float64
	for i, e := range []*Evaluator{whole, e} {
		nats[i] = reftest.Must(e.Estimate(t.Context(), []Target{target}, 0, Config{Form: LLaDA}))(t)[0].Nats.Mean
	}
	t.Logf("%.6f nats over all columns, %.6f over tokens", nats[0], nats[1])
	if math.Abs(nats[0]-want) > 1e-5 || !(nats[1] < nats[0]-1e-5) {
		t.Errorf("%v nats over all columns, want %v; %v over tokens", nats[0], want, nats[1])
	}
}

// TestFramed checks that special tokens are given, never scored: at any place the other tokens have all
// of the probability.
func TestFramed(t *testing.T) {
	e := tiny(t, "bert-smiles")
	f := e.Facts()
	target := Framed(f, []int{8, 8, 14})
	if !slices.Equal(target.IDs, []int{4, 8, 8, 14, 5}) || !slices.Equal(target.Free, []int{1, 2, 3}) {
		t.Fatalf("the target is %+v", target)
	}
	reftest.OK(t, e.Check(target))
	sum := 0.0
	for id := range f.Columns {
		target.IDs[2] = id
		if err := e.Check(target); slices.Contains(f.Excluded(), id) {
			reftest.Fails(t, err, "without MASK, padding and special tokens")
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		ask := Ask{Target: &target, Masked: []int{1, 2}, Wanted: []int{2}, LogMu: make([]float64, 1)}
		reftest.OK(t, e.Eval(t.Context(), []Ask{ask}))
		sum += math.Exp(ask.LogMu[0])
	}
	if math.Abs(sum-1) > 1e-5 { // Rows are float32.
		t.Errorf("the probabilities of text add up to %v", sum)
	}
	target.IDs[2], target.IDs[0] = 8, f.MaskID
	reftest.Fails(t, e.Check(target), "position 0: id 6 is not a token")
}

// TestGuidance checks the rows under LLaDA's guidance: of a world, for every set of masks, against
// (1+w)·row − w·(the row with the context hidden), and of a network with all columns normalised.
func TestGuidance(t *testing.T) {
	const w = 1.5
	mixed := func(x, u []float64, token int) float64 {
		y := make([]float64, len(x))
		for a := range y {
			y[a] = (1+w)*x[a] - w*u[a]
		}
		return y[token] - floats.LogSumExp(y)
	}
	of := reftest.Must(world.Open(reftest.Data(t, "reference", "laws", "markov4-sharp.json")))(t)
	plain, guided := mustNew(t, of), reftest.Must(New(of, Options{Guidance: w}))(t)
	target := Target{IDs: []int{1, 0, 1, 1}, Free: []int{1, 2, 3}}
	var asks, twice []Ask
	rows := map[[2]int][]float64{}
	for set := 1; set < 8; set++ {
		var masked []int
		for i, l := range target.Free {
			if set>>i&1 == 1 {
				masked = append(masked, l)
			}
		}
		asks = append(asks, Ask{Target: &target, Masked: masked, Wanted: masked, Lambda: 0.5, LogMu: make([]float64, len(masked))})
		for _, hidden := range []([]int){masked, append([]int{0}, masked...)} {
			n := len(twice)
			twice = append(twice, Ask{Target: &target, Masked: hidden, Wanted: masked, Lambda: 0.5, LogMu: make([]float64, len(masked)), Whole: func(j int, p []float64) {
				for _, x := range p[:3] { // without MASK
					rows[[2]int{n, j}] = append(rows[[2]int{n, j}], math.Log(x))
				}
			}})
		}
	}
	reftest.OK(t, plain.Eval(t.Context(), twice))
	reftest.OK(t, guided.Eval(t.Context(), asks))
	changed := 0.0
	for i, a := range asks {
		for j, l := range a.Wanted {
			want := mixed(rows[[2]int{2 * i, j}], rows[[2]int{2*i + 1, j}], target.IDs[l])
			changed = max(changed, math.Abs(want-twice[2*i].LogMu[j]))
			if !(math.Abs(a.LogMu[j]-want) < 1e-12) {
				t.Errorf("masks %v, position %d: %v, want %v", a.Masked, l, a.LogMu[j], want)
			}
		}
	}
	if changed < 0.01 {
		t.Errorf("guidance changes the rows by %v at most", changed)
	}

	m := tiny(t, "llada-gqa-bf16").model
	mask := int64(m.Facts().MaskID)
	target = Target{IDs: []int{5, 17, 9, 21}, Free: []int{3}}
	call := samplers.Call{IDs: []int64{5, 17, 9, mask, mask, mask, mask, mask}, Positions: []int64{3, 3}, Counts: []int{1, 1}}
	var logits []float64
	for _, x := range reftest.Must(m.Logits(t.Context(), call))(t) {
		logits = append(logits, float64(x))
	}
	half := len(logits) / 2
	want := -mixed(logits[:half], logits[half:], 21)
	e := reftest.Must(New(m, Options{AllColumns: true, Guidance: w}))(t)
	got := reftest.Must(e.Estimate(t.Context(), []Target{target}, 0, Config{Form: LLaDA, Draws: 2}))(t)[0]
	if math.Abs(got.Nats.Mean-want) > 1e-5 || got.Rows != 4 {
		t.Errorf("%v nats of %d rows, want %v of 4", got.Nats.Mean, got.Rows, want)
	}
}
