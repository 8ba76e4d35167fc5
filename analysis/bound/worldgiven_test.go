package bound

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/report"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

func asked(t testing.TB, o catalog.Options) Case {
	t.Helper()
	s := reftest.Must(catalog.New(o, samplers.Spec{InfiniteSigma: true}))(t)
	c := Case{Name: s.Settings().Sampler, N: o.Steps, Sampler: s}
	if steps, ok := s.Grid(); ok {
		c.N = steps.Grid.Steps()
	}
	return c
}

// TestWorldGiven compares the report of given samplers with the laws in a reference file for the
// same grids. Both sides of Theorem 1 are compared by tools/oracle.
func TestWorldGiven(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3", "markov3-exact"} {
		file, _ := lawstest.Open(t, name)
		for _, sampler := range []string{"euler", "tweedie"} {
			want := lawstest.LawOf(t, file, "uniform-4", sampler)
			c := asked(t, catalog.Options{Sampler: sampler, Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.01)), Grid: "uniform"}})
			r := reftest.Must(World(context.Background(), reftest.Law(t, name), []Case{c}))(t)
			near := func(what string, got, want float64) {
				t.Helper()
				if !r.Holds || math.Abs(got-want) > 1e-9 {
					t.Errorf("%s %s: %s is %v, want %v", name, sampler, what, got, want)
				}
			}
			law := r.Laws[len(r.Laws)-1]
			for i, p := range want.Denoised {
				near(law.Outcomes[i], law.P[i], p)
			}
		}
	}
}

// TestWorldShares uses two independent pairs, whose total and dual total correlation are equal. A
// single call loses all of the former and may lose three times the latter.
func TestWorldShares(t *testing.T) {
	c := asked(t, catalog.Options{Sampler: "random-sizes", Steps: 1})
	r := reftest.Must(World(context.Background(), reftest.Law(t, "pairs4-exact"), []Case{c}))(t)
	for name, times := range map[string]float64{"share.total.random-sizes.N=1": 1, "share.dual.random-sizes.N=1": 3} {
		if l := find(t, r, name); l.Left.Mean < 0.1 || math.Abs(l.Right.Mean-times*l.Left.Mean) > 1e-9 {
			t.Errorf("%s: %v beside %v, want %v of it", name, l.Left.Mean, l.Right.Mean, times)
		}
	}
}

// TestWorldGivenOthers checks samplers without the steps of a grid, and grids given as lists.
func TestWorldGivenOthers(t *testing.T) {
	path := reftest.Law(t, "xor3-mixed")
	r, err := World(context.Background(), path, []Case{
		asked(t, catalog.Options{Sampler: "fhs"}),
		asked(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,1,1"}}),
		asked(t, catalog.Options{Sampler: "ordered"}),
		asked(t, catalog.Options{Sampler: "tau-leaping", PlanOptions: catalog.PlanOptions{Grid: "theta:3,1,0.5,0.1", Tau: "one"}}),
		asked(t, catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Noise: "linear"}}),
		asked(t, catalog.Options{Sampler: "dmpm", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}),
		asked(t, catalog.Options{Sampler: "matu", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}),
	})
	reftest.OK(t, err)
	if !r.Holds {
		t.Error("violated")
	}
	for _, law := range r.Laws {
		sum := 0.0
		for _, p := range law.P {
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s sums to %v", law.Name, sum)
		}
	}
	// The probability of masks is part of TV from a law without masks.
	if _, _, masked := report.LawTable(r.Laws); !(masked[len(masked)-2] > 0.5 && masked[len(masked)-2] <= find(t, r, "tv.dmpm.N=4").Right.Mean+1e-12) {
		t.Errorf("masked: %v", masked)
	}
	if got, want := find(t, r, "kl.parallel-fhs").Right.Mean, find(t, r, "kl.fhs").Right.Mean; math.Abs(got-want) > 1e-12 {
		t.Errorf("groups of one: KL %v, first-hitting %v", got, want)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "theorem1") || strings.HasPrefix(l.Name, "collision.ordered") {
			t.Errorf("%s: is claimed of nothing that was given", l.Name)
		}
	}
}

// TestWorldUnderflow uses worlds whose probabilities are too small for a float64, and whose tokens are
// independent, so that every sampler has the law of first-hitting: KL is Σ q0·(log q0 − Σ log μ).
func TestWorldUnderflow(t *testing.T) {
	t.Parallel()
	q0 := []float64{0.5, 1e-310, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.0625}
	const ten = math.Ln10
	for row, logs := range map[string][2]float64{"[1e-160,1]": {-160 * ten, 0}, "[1e-310,1]": {-310 * ten, 0}, "[1,1e-200]": {0, -200 * ten}} {
		want := 0.0
		var file strings.Builder
		for x, q := range q0 {
			want += q * (math.Log(q) - logs[x>>2] - logs[x>>1&1] - logs[x&1])
		}
		for x := range 27 {
			cells := []string{"null", "null", row}
			fmt.Fprintf(&file, ",[%s,%s,%s]", cells[x/9], cells[x/3%3], cells[x%3])
		}
		world := fmt.Appendf(nil, `{"schema":"mdm-laws-world/1","d":3,"V":2,"S":3,"mask":2,"q0":[0.5,1e-310,0.125,0.125,0.0625,0.0625,0.0625,0.0625],"mu_kind":"time_free","mu0":[%s]}`, file.String()[1:])
		var cases []Case
		for _, o := range []catalog.Options{{Sampler: "fhs"}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "tweedie", Steps: 4}, {Sampler: "entropy-bounded"}, {Sampler: "remdm", Steps: 4}} {
			cases = append(cases, asked(t, o))
		}
		usual := reftest.Must(parseWorld(t.Context(), world, nil))(t)
		r := reftest.Must(parseWorld(t.Context(), world, cases))(t)
		if !r.Holds || !usual.Holds {
			t.Errorf("%s: violated", row)
		}
		for _, c := range cases {
			l := find(t, r, "kl."+worldRun{Case: c}.at())
			if c.Name == "remdm" { // It has no likelihood.
				if !math.IsNaN(l.Right.Mean) || l.Verdict != "not resolved: P_N is a sum over outcomes, which underflow" || !l.OK {
					t.Errorf("%s: %s is %v, %q", row, l.Name, l.Right.Mean, l.Verdict)
				}
			} else if math.Abs(l.Left.Mean-want) > 1e-9 || math.Abs(l.Right.Mean-want) > 1e-9 {
				t.Errorf("%s: %s is %v beside %v, want %v", row, l.Name, l.Left.Mean, l.Right.Mean, want)
			}
		}
	}
}

// TestWorldGivenTimed checks on a world with time that samplers whose calls are at steps or counts
// have exact lines without collision bounds, and that others are an error that names the sampler.
func TestWorldGivenTimed(t *testing.T) {
	path := reftest.Law(t, "timed3")
	r := reftest.Must(World(context.Background(), path, []Case{
		asked(t, catalog.Options{Sampler: "fhs"}), asked(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), asked(t, catalog.Options{Sampler: "random-sizes", Steps: 2}),
		asked(t, catalog.Options{Sampler: "tau-leaping", Steps: 4, PlanOptions: catalog.PlanOptions{Noise: "exp"}}), asked(t, catalog.Options{Sampler: "dmpm", Steps: 4, PlanOptions: catalog.PlanOptions{Noise: "exp", Finish: "leave"}}),
	}))(t)
	if a, b := find(t, r, "kl.fhs"), find(t, r, "theorem4"); !r.Holds || len(r.Laws) != 2+5 || a.Left.Mean != a.Right.Mean || a.Left.Mean != b.Left.Mean {
		t.Errorf("holds %t, %d laws, %+v", r.Holds, len(r.Laws), a)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "collision") || strings.HasPrefix(l.Name, "share") {
			t.Errorf("%s is claimed of a network that looks at the time", l.Name)
		}
	}
	for _, o := range []catalog.Options{{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,1,1"}}, {Sampler: "uniformization", Steps: 4}, {Sampler: "matu", Steps: 4}} {
		c := asked(t, o)
		reftest.FailsInLine(t, reftest.Err(World(context.Background(), path, []Case{c})), c.Sampler.String()+": it queries this time-conditioned network at random times", o)
	}
}

// TestWorldInterrupted checks that the report covers the work done.
func TestWorldInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, given := range [][]Case{nil, {asked(t, catalog.Options{Sampler: "euler", Steps: 4})}} {
		r, err := World(ctx, reftest.Law(t, "xor3-mixed"), given)
		if err == nil || len(r.Lines) == 0 || find(t, r, "theorem4").Verdict == "" {
			t.Errorf("error %v, %d lines", err, len(r.Lines))
		}
	}
}
