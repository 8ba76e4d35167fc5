package oracle

import (
	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
)

// maskmassFile recomputes a file of the layout mdm-laws-maskmass/1: data with MASK, and Euler with
// the exact score.
func maskmassFile(m *matcher, f *file) {
	in := inputs[struct {
		D, V      int
		T         float64
		Q0        []float64             `json:"q0_states"`
		Marginals []struct{ T float64 } `json:"forward_marginals"`
		Euler     []struct{ N int }
	}](m.t, f)
	m.sums("q0_states", f.doc["q0_states"])
	if states := laws.NewSpace(in.D, in.V).States; len(in.Q0) != states {
		m.t.Fatalf("field %q: %d entries: must have %d", "q0_states", len(in.Q0), states)
	}
	w := newMaskWorld(in.D, in.V, in.Q0)
	point := f.doc["theorem3"] != nil
	marginals, runs := list{}, list{}
	for _, row := range in.Marginals {
		marginals = append(marginals, object{"t": given{}, "q_t": w.Marginal(row.T)})
	}
	for _, row := range in.Euler {
		runs = append(runs, maskRunValues(w, in.T, row.N, point))
	}
	want := object{
		"seed": exempt{},
		"d":    given{}, "V": given{}, "T": given{}, "q0_states": given{},
		"S": in.V + 1, "mask": in.V,
		"gamma_q0":          w.Gamma(w.Q0),
		"tv_initial":        w.InitialTV(in.T),
		"forward_marginals": marginals, "euler": runs,
	}
	if f.doc["gamma_noise"] != nil {
		want["gamma_noise"] = w.NoiseTime()
	}
	if point {
		want["theorem3"] = object{"a": w.Mode(), "gamma": w.NoiseTime()}
	}
	m.match("", f.doc, want)
}

// maskRunValues runs n constant steps from t to 0.
func maskRunValues(w *maskWorld, t float64, n int, point bool) object {
	theta := constantTimes(t, 0, n)
	r := w.Run(theta)
	kappa := t / float64(n)
	terms := theory.Corollary1(w.D, w.V+1, t, kappa, w.Gamma(w.Q0), 0)
	out := object{
		"N": given{}, "kappa": kappa, "forward_times": theta,
		"largest_jump_probability": r.LargestJump,
		"euler_law":                r.EulerLaw, "euler_tv": r.EulerTV,
		"frozen_rate_integral": r.FrozenIntegral, "frozen_rhs": r.FrozenRHS, "frozen_tv": r.FrozenTV,
		"corollary1_terms": object{
			"d_exp_minus_T": terms.Initial, "sqrt_eps_score": terms.Score,
			"kappa_d_S": terms.Discretisation, "sum": terms.Sum(),
		},
	}
	if point {
		gamma := w.NoiseTime()
		out["p_M"] = constantSteps(t+gamma, gamma, n).Left
	}
	return out
}
