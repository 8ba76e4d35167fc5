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

// scalingFile recomputes a file of the layout mdm-laws-scaling/1. Its worlds have files of
// their own.
func scalingFile(ctx context.Context, f file, m *matcher) error {
	in := &inputs{ctx: ctx}
	s := scaling{in: in, folder: f.in, worlds: make(map[string]*laws.World)}
	t, delta := in.number(f.doc, "T", 0.1, 100), in.number(f.doc, "delta", 1e-6, 1)
	want := object{
		"T": given{}, "delta": given{},
		"small_worlds":  s.smallWorlds(f.doc, t, delta),
		"short_horizon": s.shortHorizon(f.doc),
		"pairs_large_d": pairsLargeD(f.doc, in),
		"nested_codes":  nestedCodes(f.doc, in),
		"pairs_ancestral_uniform_masked_fraction": ancestralPairs(f.doc, in),
		"paper_grid_from_kappa":                   paperFromKappa(f.doc, in),
	}
	if in.err != nil {
		return in.err
	}
	return m.match("", f.doc, want)
}

type scaling struct {
	in     *inputs
	folder *Folder
	worlds map[string]*laws.World
}

// world opens a world that the file names.
func (s *scaling) world(n *node) *laws.World {
	name := s.in.text(n, "world")
	if w := s.worlds[name]; w != nil {
		return w
	}
	if s.in.err != nil {
		return nil
	}
	_, data, err := s.folder.World(name)
	if err != nil {
		s.in.fail("%w", err)
		return nil
	}
	open, err := world.Parse(data)
	if err == nil {
		s.worlds[name], err = laws.New(open)
	}
	if err != nil {
		s.in.fail("world %q: %w", name, err)
	}
	return s.worlds[name]
}

// steps makes a grid and a sampler's law of reveals on it.
func (in *inputs) steps(n *node, spec schedule.GridSpec, sampler string) (schedule.Steps, bool) {
	if in.err != nil {
		return schedule.Steps{}, false
	}
	rule, known := rules[sampler]
	if !known {
		in.fail("sampler %.40q is not known", sampler)
		return schedule.Steps{}, false
	}
	g, err := schedule.NewGrid(spec)
	if err == nil {
		var s schedule.Steps
		if s, err = schedule.NewSteps(rule, schedule.Exp, g); err == nil {
			return s, true
		}
	}
	in.fail("%w", err)
	return schedule.Steps{}, false
}

// smallWorlds is TV(q_δ, law) against N.
func (s *scaling) smallWorlds(doc *node, t, delta float64) list {
	nodes := s.in.list(doc, "small_worlds")
	type job struct {
		w     *laws.World
		steps schedule.Steps
		tv    float64
	}
	rows := make([][]job, len(nodes))
	var all []*job
	counts := make([][]int, len(nodes))
	for i, n := range nodes {
		w, kind, sampler := s.world(n), s.in.text(n, "grid_kind"), s.in.text(n, "sampler")
		counts[i] = s.in.integers(n, "N", 1, 1e5)
		rows[i] = make([]job, len(counts[i]))
		for j, steps := range counts[i] {
			spec := schedule.GridSpec{Kind: schedule.GridKind(kind), T: t, Delta: delta, Steps: steps}
			st, ok := s.in.steps(n, spec, sampler)
			if !ok {
				return nil
			}
			rows[i][j] = job{w: w, steps: st}
			all = append(all, &rows[i][j])
		}
	}
	inParallel(len(all), func(i int) { all[i].tv = laws.TV(all[i].w.Marginal(delta), all[i].w.GridLaw(all[i].steps)) })
	out := list{}
	for i := range nodes {
		var kappa, tv, exponent, rhs []float64
		for j, r := range rows[i] {
			kappa, tv = append(kappa, gridKappa(r.steps.Grid)), append(tv, r.tv)
			rhs = append(rhs, exactScoreRHS(r.w.D, r.steps.Grid.Theta))
			if j > 0 {
				exponent = append(exponent, math.Log(tv[j]/tv[j-1])/math.Log(float64(counts[i][j])/float64(counts[i][j-1])))
			}
		}
		row := object{"N": given{}, "kappa": kappa, "tv_q_delta": tv, "local_exponent": exponent, "theorem1_rhs_exact_score": rhs}
		if len(rows[i]) > 0 {
			row["tv_initial"] = theory.InitialTV(rows[i][0].w.D, t)
		}
		out = append(out, row)
	}
	return out
}

// shortHorizon is TV(q0, law) for small T and δ = 0.
func (s *scaling) shortHorizon(doc *node) list {
	out := list{}
	for _, n := range s.in.list(doc, "short_horizon") {
		w := s.world(n)
		spec := schedule.GridSpec{
			Kind: schedule.GridUniform, T: s.in.number(n, "T", 1e-3, 100), Delta: s.in.number(n, "delta", 0, 1),
			Steps: s.in.integer(n, "N", 1, 1e5),
		}
		steps, ok := s.in.steps(n, spec, s.in.text(n, "sampler"))
		if !ok {
			return nil
		}
		out = append(out, object{
			"T": given{}, "delta": given{}, "N": given{}, "kappa": gridKappa(steps.Grid),
			"tv_q0": laws.TV(w.OnStates(w.Q0), w.GridLaw(steps)), "tv_initial": theory.InitialTV(w.D, spec.T),
		})
	}
	return out
}

// pairsLargeD is Euler on the paper's grid for pairs of equal tokens.
func pairsLargeD(doc *node, in *inputs) list {
	nodes := in.list(doc, "pairs_large_d")
	out := make(list, len(nodes))
	for i, n := range nodes {
		d, v := in.integer(n, "d", 2, 1e6), in.integer(n, "V", 1, 1e9)
		t, delta, kappa := in.number(n, "T", 1e-3, 100), in.number(n, "delta", 1e-12, 1), in.number(n, "kappa", 1e-6, 1)
		steps, ok := in.steps(n, schedule.GridSpec{Kind: schedule.GridPaper, T: t, Delta: delta, Kappa: kappa}, "euler")
		if !ok {
			return nil
		}
		plan := planOf(steps.Reveal, steps.Left())
		count := steps.Grid.Steps()
		out[i] = object{
			"d": given{}, "V": given{}, "T": given{}, "delta": given{}, "kappa": given{},
			"N": count, "p_M": plan.Left, "same_step_probability": plan.SameStep,
			"tv_q0":                    theory.Pairs{D: d, V: v}.TV(plan),
			"tv_lower_bound_any_grid":  gridLowerBound(d, v, count, plan.Left),
			"tv_early_stopping":        theory.EarlyStoppingTV(d, delta),
			"theorem1_rhs_exact_score": rounded{exactScoreRHS(d, steps.Grid.Theta), exactScoreRounding(d, steps.Grid.Theta)},
			"theorem2_term":            theory.Theorem2(d, v+1, t, delta, kappa, 0).Discretisation,
		}
	}
	return out
}

func nestedCodes(doc *node, in *inputs) list {
	out := list{}
	for _, n := range in.list(doc, "nested_codes") {
		c := NestedCodes{D: in.integer(n, "d", 2, 1e4), Q: in.integer(n, "q", 2, 1e6)}
		spec := schedule.GridSpec{
			Kind: schedule.GridUniform, T: in.number(n, "T", 1e-3, 100), Delta: in.number(n, "delta", 1e-9, 10),
			Steps: in.integer(n, "N", 1, 1e6),
		}
		steps, ok := in.steps(n, spec, "euler")
		if !ok {
			return nil
		}
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

func ancestralPairs(doc *node, in *inputs) list {
	out := list{}
	for _, n := range in.list(doc, "pairs_ancestral_uniform_masked_fraction") {
		tv, kl, calls := AncestralPairs(in.integer(n, "d", 2, 1e7), in.integer(n, "V", 1, 1e9), in.integer(n, "N", 1, 1e9))
		out = append(out, object{
			"d": given{}, "V": given{}, "N": given{}, "tv_q0": tv, "kl_q0": kl, "expected_nonempty_steps": calls,
		})
	}
	return out
}

// paperFromKappa are the paper's grids for a given κ.
func paperFromKappa(doc *node, in *inputs) list {
	out := list{}
	for _, n := range in.list(doc, "paper_grid_from_kappa") {
		t, delta, kappa := in.number(n, "T", 1e-3, 100), in.number(n, "delta", 1e-12, 1), in.number(n, "kappa", 1e-4, 1)
		if in.err != nil {
			return nil
		}
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridPaper, T: t, Delta: delta, Kappa: kappa})
		if err != nil {
			in.err = fmt.Errorf("field \"paper_grid_from_kappa\": %w", err)
			return nil
		}
		out = append(out, object{
			"T": given{}, "delta": given{}, "kappa": given{}, "N": g.Steps(), "forward_times": g.Theta,
			"lemma1_count": lemma1Count(t, delta, kappa),
		})
	}
	return out
}
