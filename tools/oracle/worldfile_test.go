package oracle

import (
	"maps"
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// rules maps the names of samplers in world files.
var rules = map[string]schedule.Rule{
	"euler":           schedule.RuleEuler,
	"tweedie":         schedule.RuleTweedie,
	"tau_leaping_one": schedule.RuleTauOne,
	"tau_leaping_any": schedule.RuleTauAny,
}

// gridKinds maps the names of grids in world files.
var gridKinds = map[string]schedule.GridKind{
	"uniform":                 schedule.GridUniform,
	"paper":                   schedule.GridPaper,
	"uniform_masked_fraction": schedule.GridLambda,
}

// worldInputs holds what the values of a world's file are computed from, in addition to the world.
type worldInputs struct {
	ScoreEntropyAt []struct{ T float64 } `json:"score_entropy_at"`
	Laws           []struct{ Grid, Sampler string }
	Theorem1       []struct{ Grid string }
	Grids          []struct {
		ID, Kind string
		T        *float64 // nil for +∞
		Delta    float64
		N        int
	}
}

// orInf returns +Inf for null.
func orInf(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}

// worldFile recomputes a file of the layout mdm-laws-world/1, which is itself the world: all other
// values follow from its q0 and μ.
func worldFile(m *matcher, f *file) {
	for _, name := range distributions(f) {
		m.sums(name, f.doc[name])
	}
	if m.ok() { // otherwise nothing follows from them
		_, w := openWorld(m.t, f)
		m.match("", f.doc, worldValues(m.t, w, f))
	}
}

// distributions returns the fields that define a world.
func distributions(f *file) []string {
	if f.doc["mu1"] == nil {
		return []string{"q0", "mu0"}
	}
	return []string{"q0", "mu0", "mu1"}
}

// worldValues returns all values that follow from a world.
func worldValues(t testing.TB, w *laws.World, f *file) object {
	in := inputs[worldInputs](t, f)
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	p2 := w.Proposition2()
	t4 := w.Theorem4(nelbo)
	want := object{
		"seed": exempt{}, "checks": exempt{},
		"d": given{}, "V": given{}, "mu_weight": given{},
		"S": w.V + 1, "mask": w.V,
		"q0_entropy": laws.Entropy(w.Q0),
		"posterior":  posteriorTable(w),
		"fhs": object{
			"law": fhs, "neg_log_law": laws.NegLog(fhs), "kl_q0": laws.KL(w.Q0, fhs),
			"tv_q0": laws.TV(w.Q0, fhs), "cross_entropy": laws.CrossEntropy(w.Q0, fhs),
		},
		"nelbo": object{
			"by_sequence": nelbo.BySequence, "expected": nelbo.Expected,
			"expected_forms": object{
				"continuous_t": nelbo.ContinuousT, "lambda": nelbo.Lambda,
				"k_subsets": nelbo.KSubsets, "any_order": nelbo.AnyOrder,
			},
			"expected_terms_by_k": nelbo.TermsByK,
		},
		"proposition2": object{
			"score_entropy_integral": p2.ScoreEntropyIntegral, "expected_nelbo": nelbo.Expected,
			"entropy_sum": p2.EntropySum, "entropy_terms_by_k": p2.EntropyTermsByK,
		},
		"theorem4": object{"kl": t4.KL, "eps_score_double_prime": t4.Epsilon, "gap": t4.Epsilon - t4.KL},
	}
	for _, name := range distributions(f) {
		want[name] = given{}
	}
	if f.doc["theorem5"] != nil {
		t5, ok := w.Theorem5()
		if !ok {
			t.Fatalf("%s: the world is not Theorem 5's", f.path)
		}
		want["theorem5"] = object{
			"a": t5.A, "b": t5.B, "eps_score_double_prime": -float64(w.D) * math.Log1p(-t5.Rho), "rho": t5.Rho, "kl": laws.KL(w.Q0, fhs),
		}
	}
	scores := list{}
	for _, at := range in.ScoreEntropyAt {
		scores = append(scores, object{"t": given{}, "L_SE": w.ScoreEntropy(at.T), "L1_rate_error": w.RateError(at.T)})
	}
	want["score_entropy_at"] = scores
	want["importance_weighted"] = given{} // package likelihood compares its estimates with them
	maps.Copy(want, gridValues(t, w, in))
	return want
}

// posteriorTable returns the rows by state and position, nil if there is none.
func posteriorTable(w *laws.World) [][][]float64 {
	out := make([][][]float64, w.States)
	for x := range out {
		out[x] = make([][]float64, w.D)
		for l := range out[x] {
			if p, ok := w.Posterior(x, l); ok {
				out[x][l] = p
			}
		}
	}
	return out
}

// gridValues returns "grids", "laws" and "theorem1".
func gridValues(t testing.TB, w *laws.World, in worldInputs) object {
	specs := make(map[string]schedule.GridSpec)
	kappas := make(map[string]float64)
	grids, entries, bounds := list{}, list{}, list{}
	for _, row := range in.Grids {
		spec := schedule.GridSpec{Kind: gridKinds[row.Kind], T: orInf(row.T), Delta: row.Delta, Steps: row.N}
		g := lawstest.Grid(t, spec)
		specs[row.ID], kappas[row.ID] = spec, gridKappa(g)
		grids = append(grids, object{
			"T": given{}, "delta": given{}, "N": given{}, "kappa": kappas[row.ID],
			"forward_times": g.Theta, "masked_fractions": g.Lambda,
		})
	}
	euler := make(map[string]schedule.Steps)
	for _, row := range in.Laws {
		rule := rules[row.Sampler]
		steps := lawstest.Steps(t, rule, specs[row.Grid])
		if rule == schedule.RuleEuler {
			euler[row.Grid] = steps
		}
		entries = append(entries, lawValues(t, w, steps))
	}
	for _, row := range in.Theorem1 {
		bounds = append(bounds, theorem1Values(w, euler[row.Grid], kappas[row.Grid]))
	}
	return object{"grids": grids, "laws": entries, "theorem1": bounds}
}

// gridKappa returns a grid's step constant: the paper's κ, or the step of a uniform grid, which is
// infinite from T = ∞.
func gridKappa(g schedule.Grid) float64 {
	if g.Kappa != 0 {
		return g.Kappa
	}
	n := g.Steps()
	return (g.Theta[0] - g.Theta[n]) / float64(n)
}

func lawValues(t testing.TB, w *laws.World, steps schedule.Steps) object {
	calls, _ := steps.ExpectedCalls(w.D)
	theta, law := steps.Grid.Theta, w.GridLaw(steps)
	denoised := w.Denoise(law, last(steps.Grid))
	return object{
		"jump_probabilities": steps.Jump, "reveal_probabilities": steps.Reveal,
		"left_masked_probability":        steps.Left(),
		"expected_masked_positions_left": float64(w.D) * steps.Left(),
		"expected_nonempty_steps":        calls,
		"law":                            law, "law_denoised": denoised,
		"tv_q0": laws.TV(w.OnStates(w.Q0), law), "kl_q0": laws.KL(w.OnStates(w.Q0), law),
		"tv_q_delta":     laws.TV(w.Marginal(theta[len(theta)-1]), law),
		"tv_q0_denoised": laws.TV(w.Q0, denoised), "kl_q0_denoised": laws.KL(w.Q0, denoised),
		"expected_plan_nelbo_denoised": planNELBO(t, w, steps),
	}
}

func theorem1Values(w *laws.World, euler schedule.Steps, kappa float64) object {
	t := w.Theorem1(euler)
	theta := euler.Grid.Theta
	first, last := theta[0], theta[len(theta)-1]
	out := object{
		"tv_initial":           t.TVInitial,
		"frozen_rate_integral": t.FrozenIntegral, "frozen_rhs": t.FrozenRHS, "frozen_tv": t.FrozenTV,
		"euler_rate_integral": within{t.EulerIntegral, rateIntegralLimit}, "euler_rhs": within{t.EulerRHS, rateIntegralLimit}, "euler_tv": t.EulerTV,
		"euler_rate_integral_error": exempt{},
		"exact_score_rate_integral": exactScoreRateIntegral(w.D, theta),
		"L_TV":                      t.LTV, "L_TV_pinsker": rounded(t.LTVPinsker, t.PinskerRounding),
		"tv_early_stopping":         theory.EarlyStoppingTV(w.D, last),
		"euler_tv_q0":               t.EulerTVQ0,
		"euler_tv_below_frozen_rhs": t.EulerTV < t.FrozenRHS,
		"theorem2_terms":            nil,
	}
	if last > 0 {
		terms := theory.Theorem2(w.D, w.V+1, first, last, kappa, t.LTV)
		out["theorem2_terms"] = object{
			"d_exp_minus_T": terms.Initial, "sqrt_eps_score": terms.Score,
			"kappa_d_S_log": terms.Discretisation, "d_delta": terms.EarlyStopping, "sum": terms.Sum(),
		}
	}
	return out
}
