package oracle

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
)

// rules names the samplers of world files.
var rules = map[string]schedule.Rule{
	"euler":           schedule.RuleEuler,
	"tweedie":         schedule.RuleTweedie,
	"tau_leaping_one": schedule.RuleTauOne,
	"tau_leaping_any": schedule.RuleTauAny,
}

// worldFile recomputes a file of the layout mdm-laws-world/1, which is itself the
// world: q0 and μ are what everything else follows from.
func worldFile(ctx context.Context, f file, m *matcher) error {
	distributions := []string{"q0", "mu0"}
	if f.doc.fields["mu1"] != nil {
		distributions = append(distributions, "mu1")
	}
	for _, name := range distributions {
		if f.doc.fields[name] == nil {
			return fmt.Errorf("field %q is missing", name)
		}
		if err := m.sums(name, f.doc.fields[name]); err != nil {
			return err
		}
	}
	if !m.ok() {
		return nil // not distributions: nothing follows from them
	}
	parsed, err := world.Parse(f.data)
	if err != nil {
		return err
	}
	if err := enumerable(parsed.Facts().Length, parsed.Facts().Columns); err != nil {
		return err
	}
	w, err := laws.New(parsed)
	if err != nil {
		return err
	}
	want, err := worldValues(ctx, w, f.doc)
	if err != nil {
		return err
	}
	for _, name := range distributions {
		want[name] = given{}
	}
	return m.match("", f.doc, want)
}

// enumerable refuses worlds whose (2V+1)^d moves a step, or d! orders, are too many.
func enumerable(d, v int) error {
	if d > 8 || float64(d)*math.Log(float64(2*v+1)) > math.Log(1e6) {
		return fmt.Errorf("d = %d and V = %d: too large to enumerate: d must be at most 8 and (2V+1)^d at most 10^6", d, v)
	}
	return nil
}

// worldValues is everything that follows from a world.
func worldValues(ctx context.Context, w *laws.World, doc *node) (object, error) {
	fhs, nelbo := w.FHSLaw(), w.NELBO()
	p2 := w.Proposition2(nelbo)
	t4 := w.Theorem4(fhs, nelbo)
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
			"score_entropy_integral": p2.ScoreEntropyIntegral, "expected_nelbo": p2.ExpectedNELBO,
			"entropy_sum": p2.EntropySum, "entropy_terms_by_k": p2.EntropyTermsByK,
		},
		"theorem4": object{"kl": t4.KL, "eps_score_double_prime": t4.Epsilon, "gap": t4.Gap},
	}
	if doc.fields["theorem5"] != nil {
		t5, ok := w.Theorem5()
		if !ok {
			return nil, fmt.Errorf("field %q: the world is not Theorem 5's", "theorem5")
		}
		want["theorem5"] = object{
			"a": t5.A, "b": t5.B, "eps_score_double_prime": t5.Epsilon, "rho": t5.Rho, "kl": laws.KL(w.Q0, fhs),
		}
	}
	in := inputs{ctx: ctx}
	scores := list{}
	for _, n := range in.list(doc, "score_entropy_at") {
		t := in.number(n, "t", 1e-12, 700)
		scores = append(scores, object{"t": given{}, "L_SE": w.ScoreEntropy(t), "L1_rate_error": w.RateError(t)})
	}
	want["score_entropy_at"] = scores
	in.checks(doc, worldCheckNames)
	want["importance_weighted"] = importanceValues(w, doc, &in)
	gridValues(w, doc, want, &in)
	return want, in.err
}

// posteriorTable is [state][position] → row, nil where there is none.
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

func importanceValues(w *laws.World, doc *node, in *inputs) list {
	out := list{}
	for _, n := range in.list(doc, "importance_weighted") {
		x0 := in.integers(n, "x0", 0, w.V-1)
		ks := in.integers(n, "K", 1, 1e6)
		if len(x0) != w.D || w.Timed() {
			in.fail("field %q: needs sequences of length %d and a world that does not depend on time", "importance_weighted", w.D)
		}
		if in.err != nil {
			return nil
		}
		sequence := 0
		for _, a := range x0 {
			sequence = sequence*w.V + a
		}
		paths := pathProbabilities(w, sequence)
		var bounds []float64
		var mean laws.Sum
		for _, p := range paths {
			mean.Add(p / float64(len(paths)))
		}
		for _, k := range ks {
			bounds = append(bounds, planBound(paths, k))
		}
		out = append(out, object{
			"x0": given{}, "K": given{}, "path_probabilities": paths, "bound": bounds,
			"neg_log_law": -math.Log(mean.Value()),
		})
	}
	return out
}

// gridValues adds "grids", "laws" and "theorem1".
func gridValues(w *laws.World, doc *node, want object, in *inputs) {
	grids := make(map[string]schedule.Grid)
	kappas := make(map[string]float64)
	rows := list{}
	for _, n := range in.list(doc, "grids") {
		g, kappa := readGrid(n, in)
		if in.err != nil {
			return
		}
		id := in.text(n, "id")
		grids[id], kappas[id] = g, kappa
		rows = append(rows, object{
			"T": given{}, "delta": given{}, "N": given{}, "kappa": kappa,
			"forward_times": g.Theta, "masked_fractions": g.Lambda,
		})
	}
	want["grids"] = rows

	euler := make(map[string]laws.Chain)
	entries := list{}
	for i, n := range in.list(doc, "laws") {
		id, name := in.text(n, "grid"), in.text(n, "sampler")
		rule, known := rules[name]
		g, has := grids[id]
		if !known || !has {
			in.fail("field laws[%d]: grid %.40q or sampler %.40q is not known", i, id, name)
			return
		}
		steps, err := schedule.NewSteps(rule, schedule.Exp, g)
		if err != nil {
			in.fail("field laws[%d]: %w", i, err)
			return
		}
		c := w.Run(steps)
		if rule == schedule.RuleEuler {
			euler[id] = c
		}
		entries = append(entries, lawValues(w, c))
	}
	want["laws"] = entries

	bounds := list{}
	for i, n := range in.list(doc, "theorem1") {
		id := in.text(n, "grid")
		c, ok := euler[id]
		if !ok {
			in.fail("field theorem1[%d]: there is no law of euler on grid %.40q", i, id)
			return
		}
		bounds = append(bounds, theorem1Values(w, c, kappas[id]))
	}
	want["theorem1"] = bounds
}

// readGrid makes the grid that an entry of "grids" describes.
func readGrid(n *node, in *inputs) (schedule.Grid, float64) {
	spec := schedule.GridSpec{T: math.Inf(1), Delta: in.number(n, "delta", 0, 700), Steps: in.integer(n, "N", 1, 1e5)}
	switch kind := in.text(n, "kind"); kind {
	case "uniform":
		spec.Kind = schedule.GridUniform
	case "paper":
		spec.Kind = schedule.GridPaper
	case "uniform_masked_fraction":
		spec.Kind = schedule.GridLambda
	default:
		in.fail("field \"grids\": kind %.40q is not known", kind)
	}
	if t := in.get(n, "T"); t.value != nil {
		spec.T = in.number(n, "T", 1e-12, 700)
	}
	if in.err != nil {
		return schedule.Grid{}, 0
	}
	g, err := schedule.NewGrid(spec)
	if err != nil {
		in.fail("field \"grids\": %w", err)
		return g, 0
	}
	return g, gridKappa(g)
}

// gridKappa is a grid's step constant: the paper's κ, else the step of the uniform
// grid, which is infinite from T = ∞.
func gridKappa(g schedule.Grid) float64 {
	if g.Kappa != 0 {
		return g.Kappa
	}
	n := g.Steps()
	return (g.Theta[0] - g.Theta[n]) / float64(n)
}

func lawValues(w *laws.World, c laws.Chain) object {
	calls, _ := c.Steps.ExpectedCalls(w.D)
	theta := c.Steps.Grid.Theta
	return object{
		"jump_probabilities": c.Steps.Jump, "reveal_probabilities": c.Steps.Reveal,
		"left_masked_probability":        c.Steps.Left(),
		"expected_masked_positions_left": float64(w.D) * c.Steps.Left(),
		"expected_nonempty_steps":        calls,
		"law":                            c.Law, "law_denoised": c.Denoised,
		"tv_q0": laws.TV(w.OnStates(w.Q0), c.Law), "kl_q0": laws.KL(w.OnStates(w.Q0), c.Law),
		"tv_q_delta":     laws.TV(w.Marginal(theta[len(theta)-1]), c.Law),
		"tv_q0_denoised": laws.TV(w.Q0, c.Denoised), "kl_q0_denoised": laws.KL(w.Q0, c.Denoised),
		"expected_plan_nelbo_denoised": c.PlanNELBO,
	}
}

func theorem1Values(w *laws.World, c laws.Chain, kappa float64) object {
	t := w.Theorem1(c)
	theta := c.Steps.Grid.Theta
	first, last := theta[0], theta[len(theta)-1]
	out := object{
		"tv_initial":           t.TVInitial,
		"frozen_rate_integral": t.FrozenIntegral, "frozen_rhs": t.FrozenRHS, "frozen_tv": t.FrozenTV,
		"euler_rate_integral": t.EulerIntegral, "euler_rhs": t.EulerRHS, "euler_tv": t.EulerTV,
		"euler_rate_integral_error": exempt{},
		"exact_score_rate_integral": theory.ExactScoreRateIntegral(w.D, theta),
		"L_TV":                      t.LTV, "L_TV_pinsker": rounded{t.LTVPinsker, t.PinskerRounding},
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
