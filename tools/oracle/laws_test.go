package oracle

import (
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

// TestFrozen checks that the frozen process has the law of its matrix exponentials.
func TestFrozen(t *testing.T) {
	g := lawstest.Thetas(t, 5, 3, 1, 0.2, 0.01)
	lawstest.Worlds(func(name string, w *laws.World) {
		if d := lawstest.Apart(w.FrozenLaw(g), frozenSeries(w, g)); d > 1e-14 {
			t.Errorf("%s: matrix exponentials differ by %v", name, d)
		}
	})
}

// TestScores checks that truncated τ-leaping of normalised scores is Tweedie, and that the other
// rules equal the samplers of the same names.
func TestScores(t *testing.T) {
	spec := schedule.GridSpec{Kind: schedule.GridPaper, T: 5, Delta: 0.01, Steps: 7}
	lawstest.Worlds(func(name string, w *laws.World) {
		for rule, own := range map[scoreRule]schedule.Rule{
			scoreTruncatedTau: schedule.RuleTweedie, scoreTauAny: schedule.RuleTauAny, scoreEuler: schedule.RuleEuler,
		} {
			s := lawstest.Steps(t, own, spec)
			v := reftest.Must(scoredLaw(w, rule, s.Grid, func(int, int) float64 { return 1 }))(t)
			if d := lawstest.Apart(v.Law, w.GridLaw(s)); d > 1e-14 {
				t.Errorf("%s: %s: differs by %v", name, own, d)
			}
		}
	})
}
