package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestTimedText compares a text under a time-conditioned denoiser with the exact laws of its world.
func TestTimedText(t *testing.T) {
	m, e := openWorld(t, "timed3")
	ts := sequences(m)
	theta := func(x float64) *float64 { return &x }
	euler := asked(t, catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(theta(5)), Delta: (*catalog.Theta)(theta(0.01))}})
	r := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Cases: []Case{euler, asked(t, catalog.Options{})}, Seed: 1}))(t)
	checkForm(t, r)
	if !r.Holds {
		t.Errorf("%+v", r.Lines)
	}
	bySequence := reftest.Must(laws.New(m))(t).NELBO().BySequence
	var fhs, nelbo, grid float64
	law, first := lawstest.LawOf(t, m, "uniform-4", "euler"), lawstest.FHS(t, m)
	for i := range ts {
		fhs += -math.Log(first[i]) / float64(len(ts))
		nelbo += bySequence[i] / float64(len(ts))
		grid += -math.Log(law.Denoised[i]) / float64(len(ts))
	}
	jensen, excess := find(t, r, "jensen"), find(t, r, "excess euler 4")
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"FHS", jensen.Left.Mean, fhs}, {"NELBO", jensen.Right.Mean, nelbo}, {"euler", excess.Right.Mean, grid}} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
	if !strings.HasPrefix(jensen.Verdict, "holds (quadrature)") || !strings.Contains(strings.Join(r.Notes, " "), "nodes") {
		t.Errorf("verdict %q, notes %q", jensen.Verdict, r.Notes)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "collision") {
			t.Errorf("%s is claimed of a network that looks at the time", l.Name)
		}
	}
}

// TestTimedNetwork uses random weights, whose rows oscillate in time.
func TestTimedNetwork(t *testing.T) {
	m, e := tiny(t, "mdlm-timecond")
	ts := []likelihood.Target{likelihood.Whole([]int{1, 7, 33, 45}), likelihood.Whole([]int{9, 3, 3})}
	r := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Seed: 2}))(t)
	checkForm(t, r)
	if !r.Holds {
		t.Errorf("%+v", r.Lines)
	}
}

func TestSlackVerdicts(t *testing.T) {
	for _, c := range []struct {
		d, slack []float64
		want     string
		ok       bool
	}{
		{[]float64{1, -0.05}, []float64{0.1, 0.1}, "holds (quadrature): D_i ≥ −1e-10 on all 2, including its error of at most 0.1", true},
		{[]float64{1, -0.5}, []float64{0.1, 0.1}, "violated: D_i < −1e-10 on 1 of 2, the least is -0.4", false},
		{[]float64{math.NaN(), 1}, []float64{0.1, 0.1}, "violated", false},
	} {
		if got := withinSlack(c.d, c.slack); got.OK != c.ok || !strings.HasPrefix(got.Verdict, c.want) {
			t.Errorf("%v ± %v: %q, want %q", c.d, c.slack, got.Verdict, c.want)
		}
	}
	out := newDraft("text", 0).over(nil)
	for _, c := range []struct {
		mean, se, slack float64
		want            string
	}{
		{1, 0.1, 0.01, "holds"}, {1, 0.1, 0.8, "not resolved"}, {0.001, 0.1, 0.01, "equal within"}, {-1, 0.1, 0.01, "violated"}, {-1, 0.1, 0.9, "not resolved"},
	} {
		if got := out.oneSided(around(c.mean, c.se, 100), c.slack); !strings.HasPrefix(got.Verdict, c.want) {
			t.Errorf("%+v: %q", c, got.Verdict)
		}
	}
}

// TestInterrupted checks that the report covers the work done.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		world, line string
		after       int
		chain       bool
	}{{"xor3-mixed", "jensen", 1, false}, {"timed3", "jensen", 1, false}, {"xor3-mixed", "theorem4", 1, true}, {"xor3-mixed", "theorem4", 2, true}} {
		m, e := openWorld(t, c.world)
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cfg := Config{Draws: 1030, Seed: 1, Done: func(int) {
			if calls++; calls == c.after {
				cancel()
			}
		}}
		var ts []likelihood.Target
		for len(ts) < 3000 {
			ts = append(ts, sequences(m)...)
		}
		work := func() (Report, error) { return Text(ctx, m, e, ts, nil, cfg) }
		if c.chain {
			cfg.Cases = grids(t, "", 4, 8)
			work = func() (Report, error) { return Chain(ctx, m, e, ts[0], cfg) }
		}
		r, err := work()
		if err == nil || len(r.Lines) == 0 {
			t.Fatalf("%+v: error %v, %d lines", c, err, len(r.Lines))
		}
		if n := find(t, r, c.line).Left.N; n == 0 || n == len(ts) || !r.Holds {
			t.Errorf("%+v: a report about %d, holds %v", c, n, r.Holds)
		}
	}
}
