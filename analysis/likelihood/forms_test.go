package likelihood

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// noisy opens dirichlet3-noisy, a world whose conditionals contradict each other, with the fields
// of its reference file that these tests use.
func noisy(t testing.TB) *world.World { return openWorld(t, "testdata/dirichlet3-noisy.json") }

func openWorld(t testing.TB, path string) *world.World {
	t.Helper()
	return reftest.Must(world.Open(path))(t)
}

func mustNew(t testing.TB, w *world.World) *Evaluator {
	t.Helper()
	return reftest.Must(New(w, Options{}))(t)
}

func mustTable(t testing.TB, e *Evaluator, target Target) *Table {
	t.Helper()
	return reftest.Must(e.Table(context.Background(), target, true))(t)
}

func mustSampler(t testing.TB, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp"}))(t)
}

func one(t testing.TB, e *Evaluator, target Target, index uint64, c Config) Result {
	t.Helper()
	return reftest.Must(e.Estimate(context.Background(), []Target{target}, index, c))(t)[0]
}

// integral returns ∫ (1/λ)·E_λ Σ −log μ dλ over a range of λ, exactly.
func (t *Table) integral(from, to float64) float64 {
	return quad.Fixed(func(lambda float64) float64 {
		return t.integrand(lambda, func(mu, _ float64) float64 { return -mu })
	}, from, to, 20, quad.Legendre{}, 1)
}

// lladaMean returns the expectation of LLaDA's estimate, whose rounded, wrapped counts are not
// uniform on 1..d.
func lladaMean(table *Table, n int) float64 {
	d := table.D
	byCount := make([]float64, d+1) // E (d/k) Σ over subsets of k positions
	weight := table.subsetWeights()
	for k := 1; k <= d; k++ {
		for a := range 1<<d - 1 {
			visible := 0
			cost := 0.0
			for i := range d {
				if a>>i&1 == 1 {
					visible++
				} else {
					cost -= table.LogMu[a*d+i]
				}
			}
			if d-visible == k {
				byCount[k] += float64(d) * weight[visible] * cost
			}
		}
	}
	var sum float64
	for from := 0; from < n; from += lladaBatch {
		b := min(lladaBatch, n-from)
		for k := 1; k <= d; k++ {
			for j := range b {
				count := (int(math.RoundToEven(float64(k)+float64(j*d)/float64(b)))-1)%d + 1
				sum += byCount[count] / float64(d)
			}
		}
	}
	return sum / float64(n)
}

// TestForms compares every form, on several worlds and texts, with the exact value of its
// expectation: within 4 standard errors.
func TestForms(t *testing.T) {
	reftest.Long(t)
	paths := map[string]string{"dirichlet3-noisy": "testdata/dirichlet3-noisy.json", "xor3-mixed": reftest.Data(t, "reference", "laws", "xor3-mixed.json")}
	for name, path := range paths {
		e := mustNew(t, reftest.Must(world.Open(path))(t))
		for _, ids := range [][]int{{1, 1, 1}, {0, 1, 0}} {
			target := Whole(ids)
			table := mustTable(t, e, target)
			const eps = protocolEpsilon
			for form, want := range map[Form]float64{
				Subsets: table.NELBO(), Lambda: table.NELBO(), Time: table.NELBO(), Orders: table.NELBO(), ScoreEntropyForm: table.NELBO(),
				Plans: table.NELBO(), RADD: table.NELBO(), MDLM: table.integral(eps*(1-eps), 1-eps) / (1 - eps), LLaDA: lladaMean(table, 6400),
			} {
				got := one(t, e, target, 3, Config{Form: form, Draws: 6400, Seed: 9})
				if z := (got.Nats.Mean - want) / got.Nats.SE; !(math.Abs(z) <= 4) {
					t.Errorf("%s %v: %s is %v, want %v: %.1f standard errors away", name, ids, form, got.Nats, want, z)
				}
				if got.Rows == 0 || got.Price != nil {
					t.Errorf("%s: %s: %d rows, price %v", name, form, got.Rows, got.Price)
				}
			}
		}
	}
}

// TestNoises checks that the time form is unbiased for every noise, whatever range it cuts off.
func TestNoises(t *testing.T) {
	e := mustNew(t, noisy(t))
	target := Whole([]int{3, 0, 3})
	want := mustTable(t, e, target).NELBO()
	for _, noise := range schedule.Noises() {
		e.facts.Noise = noise
		got := one(t, e, target, 0, Config{Form: Time, Draws: 20000, Seed: 4})
		if z := (got.Nats.Mean - want) / got.Nats.SE; !(math.Abs(z) <= 4) {
			t.Errorf("%s: %v, want %v: %.1f standard errors away", noise, got.Nats, want, z)
		}
	}
}

// TestTimed checks the forms on a world that depends on time.
func TestTimed(t *testing.T) {
	w := openWorld(t, reftest.Law(t, "timed3"))
	e := mustNew(t, w)
	target := Whole([]int{0, 1, 1})
	want := storedNELBO(t, w)[3] // 011
	for _, form := range []Form{Subsets, Lambda, Time, Orders, ScoreEntropyForm, RADD} {
		got := one(t, e, target, 0, Config{Form: form, Draws: 6400, Seed: 2})
		if z := (got.Nats.Mean - want) / got.Nats.SE; !(math.Abs(z) <= 4) {
			t.Errorf("%s: %v, want %v: %.1f standard errors away", form, got.Nats, want, z)
		}
	}
}

// storedNELBO returns the NELBO of each text of a world as its file has it, +Inf for null.
func storedNELBO(t testing.TB, w *world.World) (out []float64) {
	t.Helper()
	raw, _ := w.Extra("nelbo")
	var stored struct {
		BySequence []*float64 `json:"by_sequence"`
	}
	reftest.OK(t, json.Unmarshal(raw, &stored))
	for _, x := range stored.BySequence {
		out = append(out, samplers.ValueOr(x, math.Inf(1)))
	}
	return out
}

// TestScoreEntropies checks, on a world with time and one without, that the mean of estimates of the
// score entropy is the exact NELBO, within 4 standard errors, and that a window's estimate depends
// on its index alone.
func TestScoreEntropies(t *testing.T) {
	const windows, draws = 400, 16
	for name, text := range map[string][]int{"timed3": {0, 1, 1}, "xor3-mixed": {1, 1, 0}, "markov4-sharp": {0, 1, 1, 2}} {
		w := openWorld(t, reftest.Law(t, name))
		e, index := mustNew(t, w), 0
		for _, id := range text {
			index = index*e.facts.Columns + id
		}
		ts := slices.Repeat([]Target{Whole(text)}, windows)
		values := reftest.Must(e.ScoreEntropies(t.Context(), ts, 5, draws, 7))(t)
		got, want := estimate.Mean(values, 0.95), storedNELBO(t, w)[index]
		if z := (got.Mean - want) / got.SE; !(math.Abs(z) <= 4) || len(values) != windows || got.SE > want/20 {
			t.Errorf("%s: %v, want %v: %.1f standard errors away", name, got, want, z)
		}
		alone := reftest.Must(e.ScoreEntropies(t.Context(), ts[:1], 5+windows-1, draws, 7))(t)
		other := reftest.Must(e.ScoreEntropies(t.Context(), ts[:1], 5, draws, 8))(t)
		if alone[0] != values[windows-1] || values[0] == values[1] || other[0] == values[0] {
			t.Errorf("%s: %v, by itself %v; %v and %v of two indices, %v of another seed", name, values[windows-1], alone[0], values[0], values[1], other[0])
		}
	}
	e := mustNew(t, noisy(t))
	reftest.Fails(t, reftest.Err(e.ScoreEntropies(t.Context(), []Target{Whole([]int{1, 2})}, 0, 1, 0)), "canvases of exactly 3", "a text that does not fit")
}

// weighted is an entry of a world's importance_weighted: Bound[i] is E[−log p̂_K] with
// K[i] plans.
type weighted struct {
	X0    []int     `json:"x0"`
	Paths []float64 `json:"path_probabilities"`
	K     []int
	Bound []float64
}

func importanceWeighted(t *testing.T, w *world.World) []weighted {
	raw, _ := w.Extra("importance_weighted")
	var refs []weighted
	if err := json.Unmarshal(raw, &refs); err != nil || len(refs) == 0 {
		t.Fatal(len(refs), err)
	}
	return refs
}

// TestPlans compares K-plan bounds of every planned sampler with their expectations: for K = 1 the
// mean cost of a plan, which is above −log P by Jensen, and for large K −log P itself, from above.
func TestPlans(t *testing.T) {
	reftest.Long(t)
	e := mustNew(t, noisy(t))
	target := Whole([]int{1, 1, 1})
	for _, o := range []catalog.Options{
		{}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,1"}}, {Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}},
		{Sampler: "euler", Steps: 3}, {Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "lambda"}},
		{Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, {Sampler: "tau-leaping", Steps: 2, PlanOptions: catalog.PlanOptions{Tau: "one", Finish: "leave"}},
	} {
		s := mustSampler(t, o)
		exact := reftest.Must(e.Exact(context.Background(), target, s))(t)
		if _, same, err := e.TableLaws(t.Context(), []Target{target}, []*catalog.Sampler{s}, false); err != nil || same[0][0].NegLog != exact.NegLog {
			t.Errorf("%v: %v, %v by the table, want %v", s, same, err, exact.NegLog)
		}
		previous := math.Inf(1)
		for _, k := range []int{1, 4, 64} {
			got := one(t, e, target, 0, Config{Form: Plans, Plans: k, Sampler: s, Draws: 400, Seed: 8}).Nats
			if got.Mean > previous+1e-12 && k > 1 {
				t.Errorf("%v: K = %d gives %v, more than fewer plans (%v)", s, k, got.Mean, previous)
			}
			if got.Mean+4*got.SE < exact.NegLog-1e-9 {
				t.Errorf("%v: K = %d: %v is below −log P = %v", s, k, got, exact.NegLog)
			}
			previous = got.Mean
		}
		if previous > exact.NegLog+0.05 {
			t.Errorf("%v: 64 plans give %v, −log P is %v", s, previous, exact.NegLog)
		}
	}
}

// TestCoverage repeats estimates with 32 draws for 400 seeds: their 95 % intervals cover the exact
// value at least 380 times, less three standard errors of 4.4.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("7,200 estimates: long under the race detector")
	}
	w := noisy(t)
	e := mustNew(t, w)
	type config struct {
		c    Config
		want float64
	}
	for _, ref := range importanceWeighted(t, w) {
		target := Whole(ref.X0)
		table := mustTable(t, e, target)
		configs := []config{
			{Config{Form: Subsets}, table.NELBO()},
			{Config{Form: Lambda}, table.NELBO()},
			{Config{Form: Time}, table.NELBO()},
			{Config{Form: Orders}, table.NELBO()},
			{Config{Form: ScoreEntropyForm}, table.NELBO()},
		}
		for i, k := range ref.K {
			configs = append(configs, config{Config{Form: Plans, Plans: k}, ref.Bound[i]})
		}
		for _, test := range configs {
			covered := 0
			for seed := uint64(1); seed <= 400; seed++ {
				c := test.c
				c.Draws, c.Seed = 32, seed
				if got := one(t, e, target, 0, c).Nats; got.Lo <= test.want && test.want <= got.Hi {
					covered++
				}
			}
			t.Logf("%v %s K=%d: %d", ref.X0, test.c.Form, test.c.Plans, covered)
			most := 399 // the intervals allow for a tail
			if covered < 367 || covered > most {
				t.Errorf("%v: %s, K = %d: %d of 400 intervals cover", ref.X0, test.c.Form, test.c.Plans, covered)
			}
		}
	}
}

// TestDeterministic checks that a window's draws depend only on seed and index, and that a world's
// numbers do not depend on the other windows.
func TestDeterministic(t *testing.T) {
	e := mustNew(t, noisy(t))
	ts := []Target{Whole([]int{1, 1, 1}), Whole([]int{3, 0, 3}), Whole([]int{2, 2, 0})}
	for _, form := range append(Forms(), MDLM, RADD, LLaDA) {
		c := Config{Form: form, Draws: 8, Seed: 5}
		all := reftest.Must(e.Estimate(context.Background(), ts, 10, c))(t)
		for i := range ts {
			got := one(t, e, ts[i], 10+uint64(i), c)
			if a, b := fmt.Sprintf("%+v", got.Nats), fmt.Sprintf("%+v", all[i].Nats); a != b || got.Rows != all[i].Rows {
				t.Errorf("%s: window %d alone gives %s, among others %s", form, i, a, b)
			}
		}
		if other := one(t, e, ts[0], 11, c); other.Nats.Mean == all[0].Nats.Mean {
			t.Errorf("%s: two indices give the same draws", form)
		}
		c.Seed++
		if other := one(t, e, ts[0], 10, c); other.Nats.Mean == all[0].Nats.Mean {
			t.Errorf("%s: two seeds give the same draws", form)
		}
	}
}

// TestContext checks that context is visible and not counted: the likelihood of the free positions
// is that of the whole text divided by the context's marginal, if the law is a product.
func TestContext(t *testing.T) {
	e := mustNew(t, noisy(t))
	ids := []int{1, 2, 3}
	whole := mustTable(t, e, Whole(ids))
	part := mustTable(t, e, Target{IDs: ids, Free: []int{0, 2}})
	// The subsets of the whole table that contain position 1 are those of the part.
	for a := range 4 {
		in := a&1 | 2 | a&2<<1
		for i, l := range []int{0, 2} {
			if got, want := part.LogMu[a*2+i], whole.LogMu[in*3+l]; got != want {
				t.Errorf("subset %b, position %d: %v, want %v", a, l, got, want)
			}
		}
	}
	got := one(t, e, Target{IDs: ids, Free: []int{0, 2}}, 0, Config{Draws: 4000})
	if z := (got.Nats.Mean - part.NELBO()) / got.Nats.SE; !(math.Abs(z) <= 4) {
		t.Errorf("with context: %v, want %v", got.Nats, part.NELBO())
	}
}
