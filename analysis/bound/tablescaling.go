package bound

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/internal/plainjson"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// scalingFile is what a file of scaling tables asks for. Its worlds are files beside it.
type scalingFile struct {
	T, Delta float64
	Worlds   []struct {
		World    string
		GridKind string `json:"grid_kind"`
		Sampler  string
		N        []int
	} `json:"small_worlds"`
	Short []struct {
		World, Sampler string
		T, Delta       float64
		N              int
	} `json:"short_horizon"`
	Pairs []struct {
		D, V            int
		T, Delta, Kappa float64
	} `json:"pairs_large_d"`
	Nested []struct {
		D, Q, N  int
		T, Delta float64
	} `json:"nested_codes"`
	Ancestral []struct{ D, V, N int }             `json:"pairs_ancestral_uniform_masked_fraction"`
	Grids     []struct{ T, Delta, Kappa float64 } `json:"paper_grid_from_kappa"`
}

// scalingRules names the samplers of such files.
var scalingRules = map[string]samplers.Rule{
	"euler": samplers.RuleEuler, "tweedie": samplers.RuleTweedie,
	"tau_leaping_any": samplers.RuleTauAny, "tau_leaping_one": samplers.RuleTauOne,
}

// scaling works out one file.
type scaling struct {
	file   scalingFile
	dir    string
	worlds map[string]*laws.World
	lines  *worldLines
}

// scalingTable is the file of how errors fall with N, T, κ and d, exact score.
func (l *worldLines) scalingTable(ctx context.Context, data []byte, dir string) (notes []string, plots []Plot, err error) {
	s := scaling{dir: dir, worlds: make(map[string]*laws.World), lines: l}
	if err := plainjson.Unmarshal(data, &s.file); err != nil {
		return nil, nil, err
	}
	if f := s.file; len(f.Worlds)+len(f.Short)+len(f.Pairs)+len(f.Nested)+len(f.Ancestral)+len(f.Grids) > maxRows {
		return nil, nil, fmt.Errorf("more than %d rows", maxRows)
	}
	for _, part := range []func(context.Context) error{s.smallWorlds, s.shortHorizon, s.pairs, s.nested, s.ancestral, s.grids} {
		if err := part(ctx); err != nil {
			return nil, s.plots(), err
		}
	}
	return []string{
		"The score is exact in all of it, so that errors are the samplers' own.",
		"TV ∝ 1/N and Theorem 1's right side are put beside each other: the right side for frozen rates bounds another process than Euler, and nested codes show that it is not a bound on Euler.",
		"T ≍ log(d/√ε) is needed by the proof and not by the sampler: TV(q0, P_N) from a short T with δ = 0 is far below TV(q_T, all-mask).",
	}, s.plots(), nil
}

// world opens a neighbour of the file.
func (s *scaling) world(name string) (*laws.World, error) {
	if w := s.worlds[name]; w != nil {
		return w, nil
	}
	if name == "" || name != filepath.Base(name) {
		return nil, fmt.Errorf("world %.60q: must be the name of a file beside this one", name)
	}
	file, err := world.Open(filepath.Join(s.dir, name+".json"))
	if err != nil {
		return nil, fmt.Errorf("world %q: %w", name, err)
	}
	if err := small(file.Facts().Length, file.Facts().Columns); err != nil {
		return nil, fmt.Errorf("world %q: %w", name, err)
	}
	w, err := laws.New(file)
	if err != nil {
		return nil, fmt.Errorf("world %q: %w", name, err)
	}
	s.worlds[name] = w
	return w, nil
}

// steps makes a grid with a sampler's law of reveals on it.
func gridSteps(field string, i int, spec samplers.GridSpec, sampler string) (samplers.Steps, error) {
	rule, ok := scalingRules[sampler]
	if !ok {
		return samplers.Steps{}, fmt.Errorf("field %q: row %d: sampler %.40q is not known", field, i, sampler)
	}
	if spec.Steps > 1e6 || spec.T > 100 {
		return samplers.Steps{}, fmt.Errorf("field %q: row %d: N is %d and T is %v: at most 10^6 and 100", field, i, spec.Steps, spec.T)
	}
	g, err := samplers.NewGrid(spec)
	if err == nil {
		var st samplers.Steps
		if st, err = samplers.NewSteps(rule, samplers.Exp, g); err == nil {
			return st, nil
		}
	}
	return samplers.Steps{}, fmt.Errorf("field %q: row %d: %w", field, i, err)
}

// smallWorlds is TV(q_δ, P_N) by N, with Theorem 1's right side and local exponents.
func (s *scaling) smallWorlds(ctx context.Context) error {
	for i, row := range s.file.Worlds {
		w, err := s.world(row.World)
		if err != nil {
			return err
		}
		at := fmt.Sprintf("scaling.%s.%s.%s", row.World, row.GridKind, row.Sampler)
		tv := make([]float64, len(row.N))
		for j, n := range row.N {
			if err := ctx.Err(); err != nil {
				return err
			}
			st, err := gridSteps("small_worlds", i, samplers.GridSpec{Kind: samplers.GridKind(row.GridKind), T: s.file.T, Delta: s.file.Delta, Steps: n}, row.Sampler)
			if err != nil {
				return err
			}
			tv[j] = laws.TV(w.Marginal(s.file.Delta), w.GridLaw(st))
			s.lines.reported(fmt.Sprintf("%s.N=%d", at, n), "TV(q_δ,P_N) beside Theorem 1's right side for the exact score, rates frozen", "TV", tv[j], theory.ExactScoreRHS(w.D, st.Grid.Theta))
			if j > 0 && row.N[j] > row.N[j-1] && tv[j] > noiseFloor && tv[j-1] > noiseFloor {
				s.lines.reported(fmt.Sprintf("%s.slope.%d..%d", at, row.N[j-1], n), "d log TV(q_δ,P_N)/d log N beside the rate 1/N (asymptotic)", "exponent",
					math.Log(tv[j]/tv[j-1])/math.Log(float64(n)/float64(row.N[j-1])), -1)
			}
		}
	}
	return nil
}

// shortHorizon is TV(q0, P_N) from a small T.
func (s *scaling) shortHorizon(ctx context.Context) error {
	for i, row := range s.file.Short {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := s.world(row.World)
		if err != nil {
			return err
		}
		st, err := gridSteps("short_horizon", i, samplers.GridSpec{Kind: samplers.GridUniform, T: row.T, Delta: row.Delta, Steps: row.N}, row.Sampler)
		if err != nil {
			return err
		}
		s.lines.reported(fmt.Sprintf("short-horizon.%s.%s.T=%g.N=%d", row.World, row.Sampler, row.T, row.N), fmt.Sprintf("TV(q0,P_N), δ = %g, beside TV(q_T, all-mask), the first term of Theorem 1", row.Delta), "TV",
			laws.TV(w.OnStates(w.Q0), w.GridLaw(st)), theory.InitialTV(w.D, row.T))
	}
	return nil
}

// pairs is Euler on the paper's grid for pairs of equal tokens.
func (s *scaling) pairs(ctx context.Context) error {
	for i, row := range s.file.Pairs {
		if err := errors.Join(ctx.Err(), inRange("pairs_large_d", i, "d", float64(row.D), 2, 1e6), inRange("pairs_large_d", i, "V", float64(row.V), 1, 1e9),
			inRange("pairs_large_d", i, "kappa", row.Kappa, 1e-6, 1), inRange("pairs_large_d", i, "delta", row.Delta, 1e-12, 1)); err != nil {
			return first(ctx, err)
		}
		st, err := gridSteps("pairs_large_d", i, samplers.GridSpec{Kind: samplers.GridPaper, T: row.T, Delta: row.Delta, Kappa: row.Kappa}, "euler")
		if err != nil {
			return err
		}
		plan, n := theory.PlanOf(st.Reveal, st.Left()), st.Grid.Steps()
		tv := theory.Pairs{D: row.D, V: row.V}.TV(plan)
		at := fmt.Sprintf("pairs.d=%d.V=%d.delta=%.4g.kappa=%.4g", row.D, row.V, row.Delta, row.Kappa)
		s.lines.below(at+".lower", "1−(1−(1−1/V)(1−p_M)²/N)^(d/2) ≤ TV(q0,P_N): the lower bound on pairs for every grid sampler with N steps", "TV",
			theory.GridLowerBound(row.D, row.V, n, plan.Left), tv, exactTolerance)
		s.lines.reported(at+".theorem1", "TV(q0,P_N) on pairs beside Theorem 1's right side for the exact score, rates frozen, against q_δ", "TV", tv, theory.ExactScoreRHS(row.D, st.Grid.Theta))
		s.lines.reported(at+".theorem2", "TV(q0,P_N) on pairs beside Theorem 2's κdS(1−e^(−T)+log 1/δ), constant 1", "TV", tv, theory.Theorem2(row.D, row.V+1, row.T, row.Delta, row.Kappa, 0).Discretisation)
	}
	return nil
}

// nested is the example that the frozen right side is no bound on Euler.
func (s *scaling) nested(ctx context.Context) error {
	for i, row := range s.file.Nested {
		if err := errors.Join(ctx.Err(), inRange("nested_codes", i, "d", float64(row.D), 2, 1e4), inRange("nested_codes", i, "q", float64(row.Q), 2, 1e6)); err != nil {
			return first(ctx, err)
		}
		st, err := gridSteps("nested_codes", i, samplers.GridSpec{Kind: samplers.GridUniform, T: row.T, Delta: row.Delta, Steps: row.N}, "euler")
		if err != nil {
			return err
		}
		c := theory.NestedCodes{D: row.D, Q: row.Q}
		least, _ := c.EulerLowerBound(st.Reveal, st.Left())
		s.lines.reported(fmt.Sprintf("nested.d=%d.q=%d.delta=%g.N=%d", row.D, row.Q, row.Delta, row.N), fmt.Sprintf("(1−1/q)·P(some step reveals two) ≤ TV(q_δ, Euler) on nested MDS codes, log V = %.4g, beside Theorem 1's right side for frozen rates: not claimed of Euler", c.LogV()), "TV",
			least, theory.ExactScoreRHS(row.D, st.Grid.Theta))
	}
	return nil
}

// ancestral is the ancestral sampler on pairs, in closed form.
func (s *scaling) ancestral(ctx context.Context) error {
	const field = "pairs_ancestral_uniform_masked_fraction"
	for i, row := range s.file.Ancestral {
		if err := errors.Join(ctx.Err(), inRange(field, i, "d", float64(row.D), 2, 1e7), inRange(field, i, "V", float64(row.V), 1, 1e9), inRange(field, i, "N", float64(row.N), 1, 1e9)); err != nil {
			return first(ctx, err)
		}
		tv, kl, calls := theory.AncestralPairs(row.D, row.V, row.N)
		s.lines.below(fmt.Sprintf("ancestral.d=%d.V=%d.N=%d", row.D, row.V, row.N), "TV(q0,P_N) ≤ √(KL(q0‖P_N)/2) on pairs, the ancestral sampler on λ_k = 1−k/N (closed form)", "TV",
			tv, math.Sqrt(kl/2), exactTolerance)
		s.lines.reported(fmt.Sprintf("ancestral.d=%d.V=%d.N=%d.calls", row.D, row.V, row.N), "expected number of network calls beside N", "calls", calls, float64(row.N))
	}
	return nil
}

// grids counts the steps of the paper's grid.
func (s *scaling) grids(ctx context.Context) error {
	for i, row := range s.file.Grids {
		if err := errors.Join(ctx.Err(), inRange("paper_grid_from_kappa", i, "kappa", row.Kappa, 1e-4, 1), inRange("paper_grid_from_kappa", i, "T", row.T, 1e-3, 100)); err != nil {
			return first(ctx, err)
		}
		g, err := samplers.NewGrid(samplers.GridSpec{Kind: samplers.GridPaper, T: row.T, Delta: row.Delta, Kappa: row.Kappa})
		if err != nil {
			return fmt.Errorf("field %q: row %d: %w", "paper_grid_from_kappa", i, err)
		}
		s.lines.reported(fmt.Sprintf("lemma1.T=%g.delta=%g.kappa=%g", row.T, row.Delta, row.Kappa), "Lemma 1: steps of the paper's grid beside (T+log 1/δ)/κ (asymptotic)", "steps",
			float64(g.Steps()), theory.Lemma1Count(row.T, row.Delta, row.Kappa))
	}
	return nil
}

// first is the end of ctx, or the first line of joined errors.
func first(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return oneLine(err)
}

// plots are TV against N, a picture a world.
func (s *scaling) plots() []Plot {
	var out []Plot
	at := make(map[string]int)
	values := make(map[string]float64)
	for _, l := range *s.lines {
		values[l.Name] = l.Left.Mean
	}
	for _, row := range s.file.Worlds {
		i, ok := at[row.World]
		if !ok {
			i = len(out)
			at[row.World] = i
			out = append(out, Plot{Name: "scaling-" + row.World, Title: "TV(q_δ, P_N), exact score: " + row.World, X: "N", Y: "TV", LogX: true, LogY: true})
		}
		line := Series{Name: row.Sampler + ", " + row.GridKind}
		for _, n := range row.N {
			if y, ok := values[fmt.Sprintf("scaling.%s.%s.%s.N=%d", row.World, row.GridKind, row.Sampler, n)]; ok && y > noiseFloor {
				line.Points = append(line.Points, Point{X: float64(n), Y: y})
			}
		}
		out[i].Series = append(out[i].Series, line)
	}
	var shown []Plot
	for _, p := range out {
		if p = visible(p); len(p.Series) > 0 {
			shown = append(shown, p)
		}
	}
	return shown
}
