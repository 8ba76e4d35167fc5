package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestTimedText compares a text under a time-conditioned denoiser, of which there are bounds by
// plans, with the exact laws of its world.
func TestTimedText(t *testing.T) {
	m, e := openWorld(t, "timed3")
	ts := sequences(m)
	euler := asked(t, catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.01))}})
	cfg := Config{Plans: 1500, Cases: []Case{euler, asked(t, catalog.Options{})}, Seed: 1}
	r := reftest.Must(Text(context.Background(), m, e, ts, nil, cfg))(t)
	checkForm(t, r)
	if !r.Holds {
		t.Errorf("%+v", r.Lines)
	}
	nelbo, fhs := exactMeans(t, m)
	plans, entropy := find(t, r, "plans"), find(t, r, "score_entropy")
	for _, c := range []struct {
		what            string
		got, want, over float64
	}{{"FHS", plans.Left.Mean, fhs, 0.002}, {"NELBO", plans.Right.Mean, nelbo, 0}, {"∫ L_SE", entropy.Left.Mean, nelbo, 0}, {"NELBO", entropy.Right.Mean, nelbo, 0}} {
		// 8 windows of 1500 plans or draws, whose standard deviation is at most 2 nats: 5 standard errors. The bound by
		// plans is above −log P_FHS by about their relative variance, at most 6, over 2·1500.
		if within := 5 * 2 / math.Sqrt(8*1500); math.Abs(c.got-c.want) > within+c.over {
			t.Errorf("%s is %v, want %v ± %v", c.what, c.got, c.want, within)
		}
	}
	if !strings.HasPrefix(plans.Verdict, "holds, one-sided") || plans.Left.Bound != "upper" || plans.Gap.Bound != "lower" {
		t.Errorf("%+v", plans)
	}
	if !strings.HasPrefix(entropy.Verdict, "equal within 0.") || entropy.Gap.Mean == 0 || entropy.Gap.Mean != entropy.Right.Mean-entropy.Left.Mean && math.Abs(entropy.Gap.Mean-entropy.Right.Mean+entropy.Left.Mean) > 1e-12 {
		t.Errorf("%+v", entropy)
	}
	if !strings.Contains(strings.Join(r.Notes, " "), "The network is time-conditioned") {
		t.Errorf("notes %q", r.Notes)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "collision") || strings.HasPrefix(l.Name, "excess") || l.Name == "jensen" || l.Name == "theorem4" {
			t.Errorf("%s is claimed of a network that looks at the time", l.Name)
		}
	}
	// Without time there is no such line: exact values have it.
	free, ofFree := openWorld(t, "xor3-mixed")
	for _, l := range reftest.Must(Text(context.Background(), free, ofFree, sequences(free), nil, Config{Plans: 4, Seed: 1}))(t).Lines {
		if l.Name == "score_entropy" {
			t.Errorf("%+v", l)
		}
	}
	s := reftest.Must(NewStudy(m, e, ts, nil, Config{Seed: 1}))(t)
	reftest.Fails(t, reftest.Err(s.Work(context.Background(), 0)), "time-conditioned", "exact values of a network with time")
}

// TestWrongEntropy checks that a report with a score entropy that is not the NELBO is judged to be
// violated, for 3 seeds, and with the right one is not, for 40.
func TestWrongEntropy(t *testing.T) {
	m, e := openWorld(t, "timed3")
	var ts []likelihood.Target
	for len(ts) < 64 {
		ts = append(ts, sequences(m)...)
	}
	for seed := range uint64(16) {
		for _, c := range []struct {
			times, plus float64
			ok          bool
		}{{1, 0, true}, {1.1, 0, false}, {0.9, 0, false}, {1, 0.2, false}, {0, 0, false}} {
			if !c.ok && seed > 2 {
				continue
			}
			s := reftest.Must(NewStudy(m, e, ts, nil, Config{Plans: 100, Seed: seed}))(t)
			for i := range s.Chunks() {
				chunk := reftest.Must(s.Work(context.Background(), i))(t)
				for k := range chunk.Windows {
					w := &chunk.Windows[k]
					w.ScoreEntropy = number(c.times*float64(w.ScoreEntropy) + c.plus)
				}
				reftest.OK(t, s.Take(chunk))
			}
			r := s.Report()
			if l := find(t, r, "score_entropy"); r.Holds != c.ok || l.OK != c.ok || strings.HasPrefix(l.Verdict, "violated: |mean| > 3.") == c.ok || !find(t, r, "plans").OK {
				t.Errorf("seed %d, entropies times %v plus %v: holds %t, %+v", seed, c.times, c.plus, r.Holds, l)
			}
		}
	}
}

// TestTimedNetwork uses random weights, whose rows oscillate in time.
func TestTimedNetwork(t *testing.T) {
	m, e := tiny(t, "mdlm-timecond")
	ts := []likelihood.Target{likelihood.Whole([]int{1, 7, 33, 45}), likelihood.Whole([]int{9, 3, 3}), {IDs: []int{5, 17, 9, 99, 3, 42}, Free: []int{1, 2, 4, 5}}, likelihood.Whole([]int{8, 8, 8, 8, 8})}
	r := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Plans: 60, Seed: 2}))(t)
	checkForm(t, r)
	if l := find(t, r, "score_entropy"); !r.Holds || l.Left.Mean < 5 || find(t, r, "plans").Gap.Mean <= 0 {
		t.Errorf("%+v", r.Lines)
	}
	again := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Plans: 60, Seed: 2}))(t)
	other := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Plans: 60, Seed: 3}))(t)
	if a := find(t, r, "score_entropy").Left.Mean; a != find(t, again, "score_entropy").Left.Mean || a == find(t, other, "score_entropy").Left.Mean {
		t.Error("draws do not depend on the seed alone")
	}
}

// TestInterrupted checks that the report covers the work done.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		world, line string
		after       int
		chain       bool
		plans       int
	}{{"xor3-mixed", "jensen", 1, false, 0}, {"timed3", "plans", 1, false, 4}, {"xor3-mixed", "theorem4", 1, true, 0}, {"xor3-mixed", "theorem4", 2, true, 0}} {
		m, e := openWorld(t, c.world)
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cfg := Config{Draws: 1030, Plans: c.plans, Seed: 1, Done: func(int) {
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
