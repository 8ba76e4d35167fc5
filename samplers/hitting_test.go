package samplers_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestExpectedEvents checks the events at d = 1024, T = log(d/0.01), δ = 0.01/d on the paper's grid
// against sums over segments computed separately, and the number of reveals, which is the same for
// all grids. The limit of small segments is d·log(λ_T/λ_δ) = 11814 for uniformization, and the
// number of reveals for MATU.
func TestExpectedEvents(t *testing.T) {
	const d = 1024
	T, delta := math.Log(d/0.01), 0.01/d
	for _, test := range []struct {
		steps                int
		uniformization, matu float64
	}{{32, 18765, 1670}, {64, 14448, 1284}, {128, 12992, 1143}, {512, 12087, 1052}} {
		for name, want := range map[string]float64{"uniformization": test.uniformization, "matu": test.matu} {
			s := mustNew(t, catalog.Options{Sampler: name, Steps: test.steps, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta)}})
			got, ok := method(t, s).ExpectedEvents(d)
			if !ok || math.Abs(got-want) > 0.5 {
				t.Errorf("%s, %d segments: %.2f events, want %v", name, test.steps, got, want)
			}
			calls, _, err := s.ExpectedCalls(d)
			if err != nil || math.Abs(calls-1023.99) > 0.005 {
				t.Errorf("%s, %d segments: %v calls, %v", name, test.steps, calls, err)
			}
		}
	}
	if _, ok := method(t, mustNew(t, catalog.Options{Sampler: "dmpm"})).ExpectedEvents(d); ok {
		t.Error("dmpm has events")
	}
}

// TestEventsDrawn checks that the events of plans have the expected mean, and those of
// uniformization, which are Poisson, the same variance.
func TestEventsDrawn(t *testing.T) {
	const n = 20000
	for _, test := range []struct {
		o catalog.Options
		d int
	}{
		{catalog.Options{Sampler: "uniformization", Steps: 4}, 3}, {catalog.Options{Sampler: "uniformization", Steps: 9, PlanOptions: catalog.PlanOptions{Grid: "uniform", Noise: "exp"}}, 1},
		{catalog.Options{Sampler: "matu", Steps: 3}, 4}, {catalog.Options{Sampler: "matu", Steps: 50, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, 20}, {catalog.Options{Sampler: "uniformization"}, 0},
	} {
		s := mustNew(t, test.o)
		var p plan.Plan
		var sum, squares float64
		for i := range uint64(n) {
			drawPlan(t, s, &p, 17, i, upTo(test.d))
			if p.Events < len(p.Blocks) {
				t.Fatalf("%v: %d events, %d reveals", s, p.Events, len(p.Blocks))
			}
			x := float64(p.Events)
			sum, squares = sum+x, squares+x*x
		}
		want, _ := method(t, s).ExpectedEvents(test.d)
		mean := sum / n
		variance := squares/n - mean*mean
		if math.Abs(mean-want) > 4*math.Sqrt(variance/n) {
			t.Errorf("%v: %.3f events, expected %.3f ± %.3f", s, mean, want, math.Sqrt(variance/n))
		}
		// The variance of a sample variance of a Poisson law is (μ + 2μ²)/n.
		if s.Settings().Sampler == "uniformization" && math.Abs(variance-want) > 4*math.Sqrt((want+2*want*want)/n) {
			t.Errorf("%v: events have variance %.3f, a Poisson law %.3f", s, variance, want)
		}
	}
}

// TestSingleIsFHS checks that with one seed, uniformization and MATU reveal the positions of FHS in
// its order, at its λ times λ_T, and stop at λ_δ, and that DMPM reveals them in its order. On a
// time-free network this gives FHS's tokens.
func TestSingleIsFHS(t *testing.T) {
	T, delta := 5.0, 0.01
	fhs := mustNew(t, catalog.Options{})
	for _, name := range []string{"uniformization", "matu", "dmpm"} {
		s := mustNew(t, catalog.Options{Sampler: name, Steps: 6, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta), Finish: "leave"}})
		steps, _ := s.Grid()
		var p, q plan.Plan
		full := 0
		for i := range uint64(50) {
			drawPlan(t, s, &p, 3, i, upTo(12))
			drawPlan(t, fhs, &q, 3, i, upTo(12))
			for j, b := range p.Blocks {
				hit := q.Blocks[j]
				if !slices.Equal(b.Positions, hit.Positions) {
					t.Fatalf("%s: block %d reveals %v, FHS %v", name, j, b.Positions, hit.Positions)
				}
				want := hit.Lambda * steps.Grid.Lambda[0]
				if name == "dmpm" {
					want = steps.Grid.Lambda[b.Step]
				}
				if b.Lambda != want || b.Lambda > steps.Grid.Lambda[b.Step] || b.Lambda < steps.Grid.Lambda[b.Step+1] {
					t.Fatalf("%s: asked at λ = %v in segment %d, want %v", name, b.Lambda, b.Step, want)
				}
			}
			if len(p.Left) == 0 {
				full++
			}
		}
		if full == 0 && name != "dmpm" {
			t.Errorf("%s: every plan left something", name)
		}
	}
	net := newHashNet(false)
	seqs := repeat(slices.Repeat([]int{6}, 5), 40)
	want, _ := collect(t, net, seqs, net.config(fhs, 4))
	s := mustNew(t, catalog.Options{Sampler: "matu", Steps: 20})
	got, totals := collect(t, net, seqs, net.config(s, 4))
	same, events := 0, 0
	for i, r := range got {
		events += r.Events
		if r.FinishCalls == 0 {
			same++
			if !slices.Equal(r.IDs, want[i].IDs) {
				t.Errorf("sequence %d: %v, FHS has %v", i, r.IDs, want[i].IDs)
			}
		}
	}
	if same < 30 || events != totals.Events || events <= totals.Calls {
		t.Errorf("%d of 40 sequences finished; %d events, totals %+v", same, events, totals)
	}
}

// TestPlanIsReusable checks that the memory of a previously drawn plan does not change the next one.
func TestPlanIsReusable(t *testing.T) {
	var used plan.Plan
	for _, o := range everySampler {
		for _, timed := range []bool{false, true} {
			s := made(t, o, samplers.Spec{TimeConditioned: timed})
			for _, d := range []int{30, 3} {
				var fresh plan.Plan
				drawPlan(t, s, &fresh, 1, 1, upTo(d))
				drawPlan(t, s, &used, 1, 1, upTo(d))
				if len(fresh.Blocks) != len(used.Blocks) || len(fresh.Blocks) > 0 && !reflect.DeepEqual(fresh.Blocks, used.Blocks) || fresh.Events != used.Events {
					t.Errorf("%v: %+v, on used memory %+v", s, fresh.Blocks, used.Blocks)
				}
			}
		}
	}
}
