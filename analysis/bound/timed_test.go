package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/samplers/catalog"
)

// TestTimedText compares a text on a denoiser that looks at the time with the exact laws of
// its world.
func TestTimedText(t *testing.T) {
	m, e := openWorld(t, "timed3")
	file, err := m.Laws()
	if err != nil {
		t.Fatal(err)
	}
	ts := sequences(m)
	theta := func(x float64) *float64 { return &x }
	euler := asked(t, catalog.Options{Sampler: "euler", Steps: 4, T: (*catalog.Theta)(theta(5)), Delta: (*catalog.Theta)(theta(0.01))})
	r, err := Text(context.Background(), m, e, ts, nil, Config{Cases: []Case{euler, asked(t, catalog.Options{})}, Draws: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkForm(t, r)
	if !r.Holds {
		t.Errorf("%+v", r.Lines)
	}
	lawsOf, err := laws.New(m)
	if err != nil {
		t.Fatal(err)
	}
	bySequence := lawsOf.NELBO().BySequence
	var fhs, nelbo, grid float64
	law, ok := file.Law("uniform-4", "euler")
	if !ok {
		t.Fatal("the file has no law of euler on 4 steps")
	}
	for i := range ts {
		fhs += -math.Log(file.FHS.Law[i]) / float64(len(ts))
		nelbo += bySequence[i] / float64(len(ts))
		grid += -math.Log(law.LawDenoised[i]) / float64(len(ts))
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

// TestTimedNetwork works on random weights, whose rows oscillate in time.
func TestTimedNetwork(t *testing.T) {
	m, e := tiny(t, "mdlm-timecond")
	ts := []likelihood.Target{likelihood.Whole([]int{1, 7, 33, 45}), likelihood.Whole([]int{9, 3, 3})}
	r, err := Text(context.Background(), m, e, ts, nil, Config{Draws: 4, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	checkForm(t, r)
	if !r.Holds || !find(t, r, "draws").OK {
		t.Errorf("%+v", r.Lines)
	}
}

// TestTimedCost: what is too large is refused before a row is asked for, with its cost.
func TestTimedCost(t *testing.T) {
	m, e := openWorld(t, "timed3")
	long := []likelihood.Target{likelihood.Whole(make([]int, 15))}
	for _, c := range []struct {
		ts    []likelihood.Target
		cases []Case
		want  string
	}{
		{[]likelihood.Target{likelihood.Whole(make([]int, 17))}, nil, "4.06323e+06 network rows"},
		{long, []Case{asked(t, catalog.Options{Sampler: "euler", Steps: 100})}, "3.30957e+06 network rows"},
	} {
		_, err := Text(context.Background(), m, e, c.ts, nil, Config{Cases: c.cases})
		if err == nil || !strings.Contains(err.Error(), c.want) || e.Totals().Rows > 0 {
			t.Errorf("error %v, want %q; %d rows", err, c.want, e.Totals().Rows)
		}
	}
}

func TestSlackVerdicts(t *testing.T) {
	for _, c := range []struct {
		d, slack []float64
		want     string
		ok       bool
	}{
		{[]float64{1, 2}, []float64{0.1, 0.1}, "holds (quadrature): D_i above its error, at most 0.1, on all 2", true},
		{[]float64{0.05, -0.05}, []float64{0.1, 0.1}, "equal within the quadrature's error of 0.1 on all 2", true},
		{[]float64{1, -0.05}, []float64{0.1, 0.1}, "equal within the error of 0.1 on the others", true},
		{[]float64{1, -0.5}, []float64{0.1, 0.1}, "violated", false},
		{[]float64{math.NaN()}, []float64{0.1}, "violated", false},
	} {
		got, ok := withinSlack(c.d, c.slack)
		if ok != c.ok || !strings.Contains(got, c.want) {
			t.Errorf("%v ± %v: %q, want %q", c.d, c.slack, got, c.want)
		}
	}
	at := func(m, se float64) sampled {
		return func(c float64) estimate.Estimate {
			half := 3.1 * se
			return estimate.Estimate{Mean: m, SE: se, Lo: m - half, Hi: m + half, Units: 100, N: 100, Confidence: c}
		}
	}
	for _, c := range []struct {
		mean, se, slack float64
		want            string
	}{
		{1, 0.1, 0.01, "holds"}, {1, 0.1, 0.8, "not resolved"}, {0.001, 0.1, 0.01, "equal within"}, {-1, 0.1, 0.01, "violated"}, {-1, 0.1, 0.9, "not resolved"},
	} {
		if got, _ := oneSidedWithin(c.slack)(at(c.mean, c.se), 1); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestEffective: the size of weights that are alike, and of one that has it all.
func TestEffective(t *testing.T) {
	if size, share := effective([]float64{1, 1, 1, 1}); size != 4 || share != 0.25 {
		t.Errorf("equal weights: %v, %v", size, share)
	}
	if size, share := effective([]float64{1, 0, 0, 0}); size != 1 || share != 1 {
		t.Errorf("one weight: %v, %v", size, share)
	}
	d := newDraft("text")
	normalised(d, append(make([]float64, 63), 64), 0, 0.95, "one law")
	if v := d.finish().Lines[0].Verdict; !strings.HasPrefix(v, "not resolved: the weights are degenerate, effective sample size 1.0 of 64") {
		t.Errorf("degenerate weights: %q", v)
	}
}

// TestChainInterrupted: the same of both sets of samples.
func TestChainInterrupted(t *testing.T) {
	for _, after := range []int{1, 2} {
		m, e := openWorld(t, "xor3-mixed")
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		r, err := Chain(ctx, m, e, likelihood.Whole(make([]int, 3)), Config{Draws: 1030, Seed: 1, Cases: grids(t, "", 4, 8), Done: func(int) {
			if calls++; calls == after {
				cancel()
			}
		}})
		if err == nil || len(r.Lines) == 0 {
			t.Fatalf("error %v, %d lines", err, len(r.Lines))
		}
		if n := find(t, r, "theorem4").Left.N; n == 0 || n > 1030 || !r.Holds {
			t.Errorf("%d samples: %+v", n, r.Lines)
		}
	}
}

// TestTextInterrupted: the report is about the windows that were done.
func TestTextInterrupted(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3"} {
		m, e := openWorld(t, name)
		ctx, cancel := context.WithCancel(context.Background())
		ts := sequences(m)
		for len(ts) < 3000 {
			ts = append(ts, ts[:8]...)
		}
		r, err := Text(ctx, m, e, ts, nil, Config{Draws: 5, Done: func(int) { cancel() }})
		if err == nil || len(r.Lines) == 0 {
			t.Fatalf("%s: error %v, %d lines", name, err, len(r.Lines))
		}
		if n := find(t, r, "jensen").Left.N; n == 0 || n == len(ts) {
			t.Errorf("%s: a report about %d windows", name, n)
		}
	}
}
