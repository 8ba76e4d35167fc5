package likelihood

import (
	"context"
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// plannedOptions returns options of every planned sampler over three positions.
func plannedOptions() []catalog.Options {
	one := 1.0
	list := []catalog.Options{
		{}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}, {Sampler: "ordered"}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,2"}},
		{Sampler: "random-sizes", Steps: 2}, {Sampler: "spread", Steps: 2},
	}
	for _, finish := range []string{"leave", "denoise"} {
		list = append(list,
			catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1", Finish: finish}},
			catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda:0.9,0.5,0.2", Finish: finish}},
			catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1", Finish: finish}},
			catalog.Options{Sampler: "matu", Steps: 3, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(&one), Finish: finish}},
			catalog.Options{Sampler: "dmpm", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1", Finish: finish}},
		)
	}
	return list
}

// TestPlansUnbiased checks that the mean probability of plans' paths to a text is the exact one,
// within 4 standard errors, and that the mean cost is at least −log P, for every planned sampler on
// networks with and without time. On a network with time, samplers at random times have no exact
// law: [TestMoreLaws] compares their plans with references.
func TestPlansUnbiased(t *testing.T) {
	reftest.Long(t)
	ctx := context.Background()
	const plans = 1500
	for name, w := range map[string]*Evaluator{"dirichlet3-noisy": mustNew(t, noisy(t)), "timed3": mustNew(t, openWorld(t, reftest.Law(t, "timed3")))} {
		e, target, checked := w, Whole([]int{1, 0, 1}), 0
		for _, o := range plannedOptions() {
			s := reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp", TimeConditioned: e.facts.TimeConditioned, InfiniteSigma: true}))(t)
			if e.facts.TimeConditioned && e.Fits(3, s) != nil {
				continue
			}
			checked++
			exact := reftest.Must(e.Exact(ctx, target, s))(t, name, s)
			d := drawer{cfg: Config{Form: Plans, Plans: plans, Sampler: s}, facts: e.facts, target: &target}
			d.stream.Reset(3, 0)
			reftest.OK(t, d.draw1())
			reftest.OK(t, e.Eval(ctx, d.asks))
			var sum, squares, cost float64
			for _, c := range d.samples[0].costs(d.asks) {
				sum += math.Exp(-c)
				squares += math.Exp(-2 * c)
				cost += c / plans
			}
			mean := sum / plans
			se := math.Sqrt(max(squares/plans-mean*mean, 0) / plans)
			if want := math.Exp(-exact.NegLog); math.Abs(mean-want) > 4*se+1e-12 {
				t.Errorf("%s: %v %s: plans have the mean probability %v ± %v, want %v", name, s, s.Settings().Finish, mean, se, want)
			}
			if cost < exact.NegLog-4*se/mean {
				t.Errorf("%s: %v: the mean cost %v is below −log P %v", name, s, cost, exact.NegLog)
			}
		}
		if want := map[bool]int{false: 16, true: 10}[e.facts.TimeConditioned]; checked != want {
			t.Errorf("%s: %d samplers, want %d", name, checked, want)
		}
	}
}

func (d *drawer) draw1() error {
	d.free = d.target.Free
	return d.plans()
}

// TestLawsShareRows counts the rows of several samplers on one window.
func TestLawsShareRows(t *testing.T) {
	reftest.Long(t)
	ctx := context.Background()
	target := Whole([]int{1, 0, 1})
	ss := []*catalog.Sampler{
		mustSampler(t, catalog.Options{}), mustSampler(t, catalog.Options{Sampler: "dmpm", Steps: 3}),
		mustSampler(t, catalog.Options{Sampler: "ordered"}), mustSampler(t, catalog.Options{Sampler: "tweedie", Steps: 3}),
		mustSampler(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,2"}}), mustSampler(t, catalog.Options{Sampler: "random-sizes", Steps: 2}),
	}
	e := mustNew(t, noisy(t))
	laws := reftest.Must(e.Laws(ctx, target, ss))(t)
	if got := e.Totals().Rows; got != 7 {
		t.Errorf("%d samplers: %d rows, want those of 7 subsets", len(ss), got)
	}
	for i, s := range ss {
		e := mustNew(t, noisy(t))
		one, err := e.Exact(ctx, target, s)
		want := 7
		if s.Settings().Sampler == "ordered" {
			want = 3
		}
		if err != nil || !reftest.Near(one.NegLog, laws[i].NegLog, 1e-11) || e.Totals().Rows != want {
			t.Errorf("%v: %v by itself in %d rows, %v with others: %v", s, one.NegLog, e.Totals().Rows, laws[i].NegLog, err)
		}
		values, err := e.Values(ctx, []Target{target, target}, s)
		if err != nil || !reftest.Near(values[1].Sampler.NegLog, laws[i].NegLog, 1e-11) || values[1].Rows != 7 || values[1].NELBO == nil || e.Totals().Rows != want+14 {
			t.Errorf("%v: values %+v: %v", s, values, err)
		}
	}
	timed := mustNew(t, openWorld(t, reftest.Law(t, "timed3")))
	spec := samplers.Spec{Noise: "exp", TimeConditioned: true, InfiniteSigma: true}
	grid := reftest.Must(catalog.New(catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda:0.9,0.5,0.2"}}, spec))(t)
	if reftest.Must(timed.Exact(ctx, target, grid))(t); timed.Totals().Rows != 3*7 {
		t.Errorf("two steps and a last call: %d rows", timed.Totals().Rows)
	}
}
