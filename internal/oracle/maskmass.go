package oracle

import (
	"context"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
)

// maskmassFile recomputes a file of the layout mdm-laws-maskmass/1: data with MASK and
// Euler with the exact score.
func maskmassFile(ctx context.Context, f file, m *matcher) error {
	in := inputs{ctx: ctx}
	d, v := in.integer(f.doc, "d", 1, 6), in.integer(f.doc, "V", 1, 6)
	t := in.number(f.doc, "T", 1e-6, 100)
	q0 := in.numbers(f.doc, "q0_states", -2, 2)
	if states := laws.NewSpace(d, v).States; in.err == nil && len(q0) != states {
		in.fail("field %q: %d entries: must have %d", "q0_states", len(q0), states)
	}
	if in.err != nil {
		return in.err
	}
	if err := m.sums("q0_states", f.doc.fields["q0_states"]); err != nil || !m.ok() {
		return err
	}
	w := newMaskWorld(d, v, q0)
	want := object{
		"seed": exempt{},
		"d":    given{}, "V": given{}, "T": given{}, "q0_states": given{},
		"S": v + 1, "mask": v,
		"gamma_q0":   w.Gamma(w.Q0),
		"tv_initial": w.InitialTV(t),
	}
	marginals := list{}
	for _, n := range in.list(f.doc, "forward_marginals") {
		marginals = append(marginals, object{"t": given{}, "q_t": w.Marginal(in.number(n, "t", 0, 700))})
	}
	want["forward_marginals"] = marginals
	if f.doc.fields["gamma_noise"] != nil {
		want["gamma_noise"] = w.NoiseTime()
	}
	point := f.doc.fields["theorem3"] != nil
	if point {
		want["theorem3"] = object{"a": w.Mode(), "gamma": w.NoiseTime()}
	}
	runs := list{}
	for _, n := range in.list(f.doc, "euler") {
		steps := in.integer(n, "N", 1, 1e4)
		if in.err != nil {
			break
		}
		runs = append(runs, maskRunValues(w, t, steps, point))
	}
	want["euler"] = runs
	if in.err != nil {
		return in.err
	}
	return m.match("", f.doc, want)
}

// maskRunValues runs N constant steps from T to 0.
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
		out["p_M"] = theory.ConstantSteps(t+gamma, gamma, n).Left
	}
	return out
}
