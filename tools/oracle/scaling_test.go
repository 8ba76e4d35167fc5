package oracle

import (
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/parallel"
	"mdmgen/samplers/schedule"
)

// scalingInputs holds what the values of such a file are computed from.
type scalingInputs struct {
	T, Delta    float64
	SmallWorlds []struct {
		World, Sampler string
		Kind           schedule.GridKind `json:"grid_kind"`
		N              []int
	} `json:"small_worlds"`
	ShortHorizon []struct {
		World, Sampler string
		T, Delta       float64
		N              int
	} `json:"short_horizon"`
	Pairs []struct {
		D, V            int
		T, Delta, Kappa float64
	} `json:"pairs_large_d"`
	Codes []struct {
		D, Q, N  int
		T, Delta float64
	} `json:"nested_codes"`
	Ancestral []struct{ D, V, N int }             `json:"pairs_ancestral_uniform_masked_fraction"`
	Paper     []struct{ T, Delta, Kappa float64 } `json:"paper_grid_from_kappa"`
}

// scalingFile recomputes a file of the layout mdm-laws-scaling/1. Its worlds have their own files.
func scalingFile(m *matcher, f *file) {
	in := inputs[scalingInputs](m.t, f)
	worlds := make(map[string]*laws.World)
	world := func(name string) *laws.World {
		if worlds[name] == nil {
			_, _, worlds[name] = f.in.world(m.t, name)
		}
		return worlds[name]
	}
	m.match("", f.doc, object{
		"T": given{}, "delta": given{},
		"small_worlds":  smallWorlds(m.t, in, world),
		"short_horizon": shortHorizon(m.t, in, world),
		"pairs_large_d": pairsLargeD(m.t, in),
		"nested_codes":  nestedCodes(m.t, in),
		"pairs_ancestral_uniform_masked_fraction": ancestralPairs(in),
		"paper_grid_from_kappa":                   paperFromKappa(m.t, in),
	})
}

// smallWorlds returns TV(q_δ, law) against N.
func smallWorlds(t testing.TB, in scalingInputs, world func(name string) *laws.World) list {
	type job struct {
		w     *laws.World
		steps schedule.Steps
		tv    float64
	}
	rows := make([][]job, len(in.SmallWorlds))
	var all []*job
	for i, row := range in.SmallWorlds {
		rows[i] = make([]job, len(row.N))
		for j, n := range row.N {
			spec := schedule.GridSpec{Kind: row.Kind, T: in.T, Delta: in.Delta, Steps: n}
			rows[i][j] = job{w: world(row.World), steps: lawstest.Steps(t, rules[row.Sampler], spec)}
			all = append(all, &rows[i][j])
		}
	}
	parallel.For(len(all), func(i int) { all[i].tv = laws.TV(all[i].w.Marginal(in.Delta), all[i].w.GridLaw(all[i].steps)) })
	out := list{}
	for i, row := range in.SmallWorlds {
		var kappa, tv, exponent, rhs []float64
		for j, r := range rows[i] {
			kappa, tv = append(kappa, gridKappa(r.steps.Grid)), append(tv, r.tv)
			rhs = append(rhs, exactScoreRHS(r.w.D, r.steps.Grid.Theta))
			if j > 0 {
				exponent = append(exponent, math.Log(tv[j]/tv[j-1])/math.Log(float64(row.N[j])/float64(row.N[j-1])))
			}
		}
		out = append(out, object{
			"N": given{}, "kappa": kappa, "tv_q_delta": tv, "local_exponent": exponent, "theorem1_rhs_exact_score": rhs,
			"tv_initial": theory.InitialTV(world(row.World).D, in.T),
		})
	}
	return out
}

// shortHorizon returns TV(q0, law) for small T and δ = 0.
func shortHorizon(t testing.TB, in scalingInputs, world func(name string) *laws.World) list {
	out := list{}
	for _, row := range in.ShortHorizon {
		w := world(row.World)
		steps := lawstest.Steps(t, rules[row.Sampler], schedule.GridSpec{Kind: schedule.GridUniform, T: row.T, Delta: row.Delta, Steps: row.N})
		out = append(out, object{
			"T": given{}, "delta": given{}, "N": given{}, "kappa": gridKappa(steps.Grid),
			"tv_q0": laws.TV(w.OnStates(w.Q0), w.GridLaw(steps)), "tv_initial": theory.InitialTV(w.D, row.T),
		})
	}
	return out
}

// pairsLargeD returns the values of Euler on the paper's grid for pairs of equal tokens.
func pairsLargeD(t testing.TB, in scalingInputs) list {
	out := list{}
	for _, row := range in.Pairs {
		steps := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridPaper, T: row.T, Delta: row.Delta, Kappa: row.Kappa})
		plan := planOf(steps.Reveal, steps.Left())
		count, theta := steps.Grid.Steps(), steps.Grid.Theta
		out = append(out, object{
			"d": given{}, "V": given{}, "T": given{}, "delta": given{}, "kappa": given{},
			"N": count, "p_M": plan.Left, "same_step_probability": plan.SameStep,
			"tv_q0":                    tokenPairs{D: row.D, V: row.V}.TV(plan),
			"tv_lower_bound_any_grid":  gridLowerBound(row.D, row.V, count, plan.Left),
			"tv_early_stopping":        theory.EarlyStoppingTV(row.D, row.Delta),
			"theorem1_rhs_exact_score": rounded(exactScoreRHS(row.D, theta), exactScoreRounding(row.D, theta)),
			"theorem2_term":            theory.Theorem2(row.D, row.V+1, row.T, row.Delta, row.Kappa, 0).Discretisation,
		})
	}
	return out
}

func nestedCodes(t testing.TB, in scalingInputs) list {
	out := list{}
	for _, row := range in.Codes {
		c := NestedCodes{D: row.D, Q: row.Q}
		steps := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridUniform, T: row.T, Delta: row.Delta, Steps: row.N})
		bound, collision := c.EulerLowerBound(steps.Reveal, steps.Left())
		out = append(out, object{
			"d": given{}, "q": given{}, "T": given{}, "delta": given{}, "N": given{},
			"log_V": c.LogV(), "kappa": gridKappa(steps.Grid),
			"some_step_reveals_two": collision, "euler_tv_lower_bound": bound,
			"theorem1_rhs_exact_score": exactScoreRHS(c.D, steps.Grid.Theta),
		})
	}
	return out
}

func ancestralPairs(in scalingInputs) list {
	out := list{}
	for _, row := range in.Ancestral {
		tv, kl, calls := AncestralPairs(row.D, row.V, row.N)
		out = append(out, object{
			"d": given{}, "V": given{}, "N": given{}, "tv_q0": tv, "kl_q0": kl, "expected_nonempty_steps": calls,
		})
	}
	return out
}

// paperFromKappa returns the paper's grids for a given κ.
func paperFromKappa(t testing.TB, in scalingInputs) list {
	out := list{}
	for _, row := range in.Paper {
		g := lawstest.Grid(t, schedule.GridSpec{Kind: schedule.GridPaper, T: row.T, Delta: row.Delta, Kappa: row.Kappa})
		out = append(out, object{
			"T": given{}, "delta": given{}, "kappa": given{}, "N": g.Steps(), "forward_times": g.Theta,
			"lemma1_count": lemma1Count(row.T, row.Delta, row.Kappa),
		})
	}
	return out
}
