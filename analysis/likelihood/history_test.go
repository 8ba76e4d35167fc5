package likelihood

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// planned returns options of every planned sampler over three positions.
func planned() []catalog.Options {
	half, one := 0.5, 1.0
	list := []catalog.Options{
		{}, {Sampler: "ordered", Order: "random"}, {Sampler: "parallel-fhs", Sizes: "1,2"},
		{Sampler: "paired-fhs", Sizes: "1,2"}, {Sampler: "paired-fhs", Sizes: "2,1", Floor: &half},
	}
	for _, finish := range []string{"leave", "denoise"} {
		list = append(list,
			catalog.Options{Sampler: "euler", Grid: "theta:1.5,0.4,0.1", Finish: finish},
			catalog.Options{Sampler: "tweedie", Grid: "lambda:0.9,0.5,0.2", Finish: finish},
			catalog.Options{Sampler: "uniformization", Grid: "theta:1.5,0.4,0.1", Finish: finish},
			catalog.Options{Sampler: "matu", Steps: 3, T: (*catalog.Theta)(&one), Finish: finish},
			catalog.Options{Sampler: "dmpm", Grid: "theta:1.5,0.4,0.1", Finish: finish},
			catalog.Options{Sampler: "trapezoidal", Grid: "lambda:0.9,0.4,0.2", Finish: finish},
		)
	}
	return list
}

// TestPlansUnbiased checks that the mean probability of plans' paths to a text is the exact one,
// within 4 standard errors, and that the mean cost is at least −log P, for every planned sampler on
// networks with and without time.
func TestPlansUnbiased(t *testing.T) {
	ctx := context.Background()
	timed := reftest.Must(world.Open(reftest.Data(t, "reference", "laws", "timed3.json")))(t)
	const plans = 1500
	for name, w := range map[string]*world.World{"dirichlet3-noisy": noisy(t), "timed3": timed} {
		e := mustNew(t, w)
		target := Whole([]int{1, 0, 1})
		for _, o := range planned() {
			s := reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp", TimeConditioned: e.facts.TimeConditioned, InfiniteSigma: true}))(t)
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
	}
}

func (d *drawer) draw1() error {
	d.free = d.target.Free
	return d.plans()
}

// TestHistoryGroups checks that answers do not depend on group boundaries, that the previous ask
// need not want the positions looked back at, and that the first ask cannot look back.
func TestHistoryGroups(t *testing.T) {
	ctx := context.Background()
	e := mustNew(t, noisy(t))
	target := Whole([]int{1, 0, 2})
	list := func() []Ask {
		ask := func(masked, wanted []int, weight float64) Ask {
			return Ask{Target: &target, Masked: masked, Wanted: wanted, LogMu: make([]float64, len(wanted)), LogMass: make([]float64, len(wanted)), Weight: weight, Floor: 0.1}
		}
		return []Ask{
			ask([]int{0, 1, 2}, nil, 0),
			ask([]int{0, 1, 2}, []int{1}, 0.7),
			ask([]int{0, 2}, []int{2, 0}, 1.5),
			ask([]int{0, 1, 2}, []int{0}, 0),
		}
	}
	whole := list()
	reftest.OK(t, e.Eval(ctx, whole))
	parts := list()
	for i := range parts {
		reftest.OK(t, e.historyGroup(ctx, parts, i, i+1))
	}
	for i := range whole {
		if fmt.Sprint(whole[i].LogMu, whole[i].LogMass) != fmt.Sprint(parts[i].LogMu, parts[i].LogMass) {
			t.Errorf("ask %d: %v together, %v by itself", i, whole[i].LogMu, parts[i].LogMu)
		}
	}
	row := func(masked []int, l int) []float64 {
		a := Ask{Target: &target, Masked: masked, Wanted: []int{l}, LogMu: make([]float64, 1)}
		out := make([]float64, e.facts.Columns)
		a.Whole = func(_ int, p []float64) { copy(out, p) }
		reftest.OK(t, e.Eval(ctx, []Ask{a}))
		return out
	}
	p, before := row([]int{0, 2}, 0), row([]int{0, 1, 2}, 0)
	draw.Mix(p, p, before, 1.5, 0.1)
	if got, want := whole[2].LogMu[1], math.Log(p[1]); !sameLog(got, want) {
		t.Errorf("mixed %v, want %v", got, want)
	}
	// An equal row makes a plain fill.
	if got, want := whole[1].LogMu[0], math.Log(row([]int{0, 1, 2}, 1)[0]); !sameLog(got, want) {
		t.Errorf("equal rows: %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a first ask that looks back is accepted")
		}
	}()
	e.Eval(ctx, list()[1:])
}

// TestHistoryNetwork checks on a network that truncated rows are those that tokens are drawn from,
// and that exact laws and plans agree.
func TestHistoryNetwork(t *testing.T) {
	ctx := context.Background()
	e := tiny(t, "mdlm")
	target := Target{IDs: []int{5, 17, 9, 99, 3, 42, 7}, Free: []int{1, 3, 4, 6}}
	half := 0.5
	for _, draw := range []draw.Settings{{}, {Temperature: &half}, {TopK: 60}, {SuppressTokens: "1,2"}} {
		changed := reftest.Must(New(e.model, Options{Draw: draw}))(t)
		rows := reftest.Must(changed.wholeRows(ctx, target, false, 0, func(int) float64 { return 1 }))(t)
		for a := range 1<<4 - 1 {
			for _, i := range rows.outside(a) {
				var sum float64
				some := 0
				for _, p := range rows.row(a, i) {
					if p > 0 {
						sum += p
						some++
					}
				}
				token := rows.row(a, i)[target.IDs[target.Free[i]]]
				if math.Abs(sum-1) > 1e-12 || draw.TopK > 0 && some != draw.TopK || math.Abs(token-math.Exp(rows.LogMu[a*4+i])) > 1e-15 {
					t.Fatalf("%+v: set %b, position %d: sum %v, %d tokens, %v: want %v", draw, a, i, sum, some, token, math.Exp(rows.LogMu[a*4+i]))
				}
			}
		}
		s := mustSampler(t, catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 1})
		exact := reftest.Must(changed.Exact(ctx, target, s))(t)
		r := one(t, changed, target, 0, Config{Form: Plans, Plans: 400, Draws: 4, Sampler: s, Seed: 1})
		if !math.IsInf(exact.NegLog, 1) && !(r.Nats.Mean > exact.NegLog-0.5) {
			t.Errorf("%+v: plans %v, exact %v", draw, r.Nats, exact.NegLog)
		}
	}
}

// TestRowsTooLarge checks that too many whole rows are an error that gives their memory.
func TestRowsTooLarge(t *testing.T) {
	var large *TooLargeError
	err := checkRows(12, 50257, 1)
	if !errors.As(err, &large) || large.Most != 9 || math.Abs(large.Bytes/rowBytes(12, 50257)-1) > 1e-12 {
		t.Errorf("12 positions and 50257 columns: %v", err)
	}
	for d, ok := range map[int]bool{12: true, 13: true, 14: false} {
		if err := checkRows(d, 2049, 1); (err == nil) != ok {
			t.Errorf("%d positions and 2049 columns: %v", d, err)
		}
	}
	if err := checkRows(15, 2, 1); !errors.As(err, &large) || large.Most != maxRowFree {
		t.Errorf("15 positions and 2 columns: %v", err)
	}
	e := tiny(t, "mdlm")
	_, err = e.Exact(context.Background(), Whole(make([]int, 15)), mustSampler(t, catalog.Options{Sampler: "trapezoidal", Steps: 2}))
	if !errors.As(err, &large) || large.Free != 15 {
		t.Errorf("15 positions: %v", err)
	}
}

// TestLawsShareRows counts the rows of several samplers on one window.
func TestLawsShareRows(t *testing.T) {
	ctx := context.Background()
	target := Whole([]int{1, 0, 1})
	plain := []*catalog.Sampler{
		mustSampler(t, catalog.Options{}), mustSampler(t, catalog.Options{Sampler: "dmpm", Steps: 3}),
		mustSampler(t, catalog.Options{Sampler: "ordered"}), mustSampler(t, catalog.Options{Sampler: "tweedie", Steps: 3}),
	}
	all := append(plain[:4:4],
		mustSampler(t, catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 3}), mustSampler(t, catalog.Options{Sampler: "paired-fhs", Sizes: "1,2"}),
	)
	for _, ss := range [][]*catalog.Sampler{plain, all} {
		e := mustNew(t, noisy(t))
		laws := reftest.Must(e.Laws(ctx, target, ss))(t)
		if got := e.Totals().Rows; got != 7+3 {
			t.Errorf("%d samplers: %d rows, want 7 and 3 of an order", len(ss), got)
		}
		for i, s := range ss {
			one, err := e.Exact(ctx, target, s)
			if err != nil || !sameLog(one.NegLog, laws[i].NegLog) {
				t.Errorf("%v: %v by itself, %v with others: %v", s, one.NegLog, laws[i].NegLog, err)
			}
		}
		values, err := e.Values(ctx, []Target{target, target}, ss[len(ss)-1])
		if err != nil || !sameLog(values[1].Sampler.NegLog, laws[len(ss)-1].NegLog) || values[1].Rows != 7 || values[1].NELBO == nil {
			t.Errorf("values %+v: %v", values, err)
		}
	}
	e := mustNew(t, noisy(t))
	first := reftest.Must(e.wholeRows(ctx, target, false, 0, func(int) float64 { return 1 }))(t)
	steps, _ := all[4].Steps()
	reftest.Fails(t, reftest.Err(first.Table.Sampler(all[4])), "", "a Table without rows has a law of trapezoidal")
	if law := first.trapezoidal(steps, 0.1); law.Leave != law.Denoise {
		t.Errorf("a grid that ends at 0 leaves masks: %v", law)
	}
}
