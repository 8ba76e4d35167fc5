package bound

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mdmgen/analysis/baseline"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
)

// known is a law given by its probabilities of texts as strings.
type known map[string]float64

func (k known) LogProb(_ context.Context, windows []likelihood.Target) ([]float64, error) {
	out := make([]float64, len(windows))
	for i, w := range windows {
		out[i] = math.Log(k[fmt.Sprint(w.IDs)])
	}
	return out, nil
}

// TestBaseline uses the windows themselves as the data's distribution. KL, ε″ and the bounds are
// then sums, the bounds by any other law are below the exact values, and those by the data's law
// equal them.
func TestBaseline(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov4-sharp"} {
		w, e := openWorld(t, name)
		all := sequences(w)
		r := rand.New(rand.NewPCG(3, 3))
		q0, uniform := known{}, known{}
		var ts []likelihood.Target
		var documents []int
		for i, x := range all {
			uniform[fmt.Sprint(x.IDs)] = 1 / float64(len(all))
			for range r.IntN(4) {
				ts, documents = append(ts, x), append(documents, i/2)
			}
		}
		for _, x := range ts {
			q0[fmt.Sprint(x.IDs)] += 1 / float64(len(ts))
		}
		var entropy float64
		for _, p := range q0 {
			entropy -= p * math.Log(p)
		}
		for what, law := range map[string]baseline.Distribution{"q0": q0, "uniform": uniform} {
			got := reftest.Must(Text(context.Background(), w, e, ts, documents, Config{Baseline: &Baseline{Name: what, Distribution: law}}))(t)
			checkForm(t, got)
			truth := map[string]float64{"reference_kl": find(t, got, "jensen").Left.Mean - entropy, "reference_epsilon": find(t, got, "jensen").Right.Mean - entropy}
			for line, want := range truth {
				bound := find(t, got, line).Gap
				if vacuous := bound.Bound == "" && strings.HasPrefix(find(t, got, line).Verdict, "not resolved"); bound.Bound != "lower" && !vacuous || vacuous != (bound.Lo <= 0) || bound.N != len(ts) || bound.Units != units(documents) {
					t.Errorf("%s, %s by %s: %+v", name, line, what, bound)
				}
				if bound.Mean > want+1e-12 || what == "q0" && math.Abs(bound.Mean-want) > 1e-12 {
					t.Errorf("%s, %s by %s: %v, the truth is %v", name, line, what, bound.Mean, want)
				}
				mixed := find(t, got, line+".mixture").Gap.Mean
				if mixed > want+1e-12 || mixed < bound.Mean-math.Ln2 || line == "reference_kl" && mixed < -math.Ln2 {
					t.Errorf("%s, %s by the mixture with %s: %v, the truth is %v", name, line, what, mixed, want)
				}
			}
			if what == "uniform" {
				continue
			}
			// With plans instead of exact values only ε″ is bounded, by the same terms.
			long := reftest.Must(Text(context.Background(), w, e, ts, documents, Config{Plans: 60, Seed: 1, Baseline: &Baseline{Name: what, Distribution: law}}))(t)
			if got := find(t, long, "reference_epsilon").Gap; math.Abs(got.Mean-find(t, long, "plans").Right.Mean+find(t, long, "reference_epsilon").Left.Mean) > 1e-12 {
				t.Errorf("%s by plans: %+v", name, got)
			}
			for _, l := range long.Lines {
				if strings.HasPrefix(l.Name, "reference_kl") {
					t.Errorf("%s is claimed of plans", l.Name)
				}
			}
		}
	}
}

// TestBaselineTimed checks the bound on ε″ on a network with time, from the mean cost of plans, and
// that there is none on KL.
func TestBaselineTimed(t *testing.T) {
	w, e := openWorld(t, "timed3")
	q0 := known{}
	ts := sequences(w)
	for _, x := range ts {
		q0[fmt.Sprint(x.IDs)] = 1 / float64(len(ts))
	}
	nelbo, _ := exactMeans(t, w)
	r := reftest.Must(Text(context.Background(), w, e, ts, nil, Config{Plans: 1500, Seed: 1, Baseline: &Baseline{Name: "q0", Distribution: q0}}))(t)
	checkForm(t, r)
	// 8 windows of 1500 plans, whose standard deviation is at most 2 nats: 5 standard errors.
	if got, want := find(t, r, "reference_epsilon").Gap.Mean, nelbo-math.Log(float64(len(ts))); math.Abs(got-want) > 5*2/math.Sqrt(8*1500) {
		t.Errorf("ε″ is %v, want %v", got, want)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "reference_kl") {
			t.Errorf("%s is claimed of plans", l.Name)
		}
	}
}

func units(documents []int) int {
	seen := make(map[int]bool)
	for _, d := range documents {
		seen[d] = true
	}
	return len(seen)
}

type broken struct{}

func (broken) LogProb(context.Context, []likelihood.Target) ([]float64, error) {
	return nil, errors.New("broken")
}

// TestBaselineFaults checks that a failing baseline makes the report fail, and that a single
// document gives no standard error.
func TestBaselineFaults(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	ts := sequences(w)
	one := make([]int, len(ts))
	if _, err := Text(context.Background(), w, e, ts, one, Config{Baseline: &Baseline{Name: "it", Distribution: broken{}}}); err == nil || err.Error() != "bound: it: broken" {
		t.Errorf("error %v", err)
	}
	r := reftest.Must(Text(context.Background(), w, e, ts, one, Config{Baseline: &Baseline{Name: "itself", Distribution: baseline.FirstHitting{Evaluator: e}}}))(t)
	line := find(t, r, "reference_kl").Gap
	if line.Mean != 0 || !math.IsInf(line.SE, 1) || !strings.Contains(r.Head, "cannot fail") {
		t.Errorf("first-hitting by itself: %+v, notes %q", line, r.Notes)
	}
	if r = reftest.Must(Text(context.Background(), w, e, ts, nil, Config{}))(t); !strings.HasSuffix(r.Head, "There is no interval: 8 samples in 8 independent units: an interval takes 32 in 32.") {
		t.Errorf("few windows: %q", r.Head)
	}
}

// TestSays checks the verdicts on lower bounds that are not above 0, and the number of units that
// would suffice.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want string
	}{
		{around(2, 0.1, 100), ""},
		{around(2, 2, 100), "not resolved: too few windows: about 394 would suffice"},
		{around(-15.3, 1, 100), "not resolved: the mean is not above 0"},
		{[]float64{3}, "not resolved: 1 independent unit has no standard error: at least 2 are needed"},
	} {
		if got := says(mean(c.x, nil, 0.95), false); !strings.HasPrefix(got.Verdict, c.want) || c.want == "" && got.Verdict != "" {
			t.Errorf("%.3v…: %q, want %q", c.x[0], got.Verdict, c.want)
		}
	}
	if got := says(estimate.Skewed(around(3, 1, 8), 0.95), false); !strings.HasPrefix(got.Verdict, "not resolved: 8 samples in 8 independent units") {
		t.Errorf("few units: %q", got.Verdict)
	}
}
