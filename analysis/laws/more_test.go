package laws_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
)

// TestDMPM checks that the masks left agree with the step probabilities, and that the law without
// masks is FHS's if μ does not depend on time.
func TestDMPM(t *testing.T) {
	g := lawstest.Thetas(t, 5, 3, 1, 0.2, 0.01)
	lawstest.Worlds(func(name string, w *laws.World) {
		law := w.FrozenLaw(g)
		left := 1.0
		for k := range g.Steps() {
			left *= math.Exp(-(g.Theta[k] - g.Theta[k+1]) * laws.Rate(g.Theta[k]))
		}
		clean := w.OnSequences(law)
		if got, want := floats.SumCompensated(clean), math.Pow(1-left, float64(w.D)); !reftest.Near(got, want, 1e-12) {
			t.Errorf("%s: nothing is left with probability %v, want %v", name, got, want)
		}
		if w.Timed() {
			return
		}
		scale := floats.SumCompensated(clean)
		for i := range clean {
			clean[i] /= scale
		}
		if d := lawstest.Apart(clean, w.FHSLaw()); d > 1e-14 {
			t.Errorf("%s: without leftovers DMPM differs from FHS by %v", name, d)
		}
	})
}

// TestProposition2Null checks that equality in Proposition 2 does not imply that μ is the posterior
// in every context, as printed, but only in those of positive probability. With another μ in the
// other contexts the loss stays 0, and Euler, which reaches them, has another law.
func TestProposition2Null(t *testing.T) {
	data := reftest.Must(os.ReadFile(reftest.Law(t, "pairs4-exact")))(t)
	var content map[string]json.RawMessage
	var mu, posterior [][][]float64
	for _, x := range []struct {
		from func() []byte
		to   any
	}{
		{func() []byte { return data }, &content}, {func() []byte { return content["mu0"] }, &mu}, {func() []byte { return content["posterior"] }, &posterior},
	} {
		reftest.OK(t, json.Unmarshal(x.from(), x.to))
	}
	changed := 0
	for state, rows := range mu {
		for l, row := range rows {
			if row != nil && posterior[state][l] == nil {
				clear(row)
				row[0] = 1
				changed++
			}
		}
	}
	content["mu0"] = reftest.Must(json.Marshal(mu))(t)
	data = reftest.Must(json.Marshal(content))(t)
	file := reftest.Must(world.Parse(data))(t)
	other := reftest.Must(laws.New(file))(t)
	_, w := lawstest.Open(t, "pairs4-exact")
	steps := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridUniform, T: 5, Delta: 0.01, Steps: 4})
	if x := other.Proposition2().ScoreEntropyIntegral; changed == 0 || math.Abs(x) > 1e-12 {
		t.Errorf("%d rows are changed, the integral is %v", changed, x)
	}
	if tv := laws.TV(w.GridLaw(steps), other.GridLaw(steps)); !(tv > 1e-3) {
		t.Errorf("Euler's laws are %v apart", tv)
	}
}
