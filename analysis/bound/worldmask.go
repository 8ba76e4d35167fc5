package bound

import (
	"context"
	"errors"
	"fmt"
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/internal/plainjson"
	"mdmgen/samplers"
)

// maskFile is what a report of a world of data with MASK reads.
type maskFile struct {
	D, V int
	T    float64
	Q0   []float64 `json:"q0_states"`
}

func readMaskFile(data []byte) (maskFile, error) {
	var f maskFile
	if err := plainjson.Unmarshal(data, &f); err != nil {
		return f, err
	}
	if f.D < 1 || f.D > 6 || f.V < 1 || f.V > 6 {
		return f, fmt.Errorf("d = %d and V = %d: must be in 1..6", f.D, f.V)
	}
	if err := small(f.D, f.V); err != nil {
		return f, err
	}
	if !(f.T > 1e-6 && f.T < 100) {
		return f, fmt.Errorf("field %q: %v: must be in 1e-6..100", "T", f.T)
	}
	if err := law(f.Q0, laws.NewSpace(f.D, f.V).States); err != nil {
		return f, fmt.Errorf("field %q: %w", "q0_states", err)
	}
	return f, nil
}

// maskGrids are the grids of a report on data with MASK, by number of steps.
func maskGrids(f maskFile, given []Case) ([]samplers.Grid, error) {
	var out []samplers.Grid
	if len(given) == 0 {
		for _, n := range worldSteps {
			out = append(out, samplers.Grid{Kind: samplers.GridUniform, Theta: theory.ConstantTimes(f.T, 0, n)})
		}
		return out, nil
	}
	for _, c := range given {
		steps, ok := c.Sampler.Steps()
		s := c.Sampler.Settings()
		switch {
		case !ok || steps.Rule != samplers.RuleEuler || s.Noise != samplers.Exp.String():
			return nil, fmt.Errorf("%s: data with MASK have Euler with the exact score in the paper's time, noise exp, and no other sampler here", c)
		case c.Sampler.Denoises():
			return nil, fmt.Errorf("%s: masks are data here and stay: finish must be leave", c)
		}
		out = append(out, steps.Grid)
	}
	return out, nil
}

// maskWorldReport is about data with MASK and Euler with the exact score, constant steps from
// T to 0 where no samplers are given: the setting of Corollary 1.
func maskWorldReport(ctx context.Context, data []byte, given []Case) (Report, error) {
	file, err := readMaskFile(data)
	if err != nil {
		return Report{}, err
	}
	grids, err := maskGrids(file, given)
	if err != nil {
		return Report{}, err
	}
	w := laws.NewMaskWorld(file.D, file.V, file.Q0)
	gamma := w.Gamma()
	tv := Plot{Name: "theorem1", Title: "Theorem 1 for Euler with the exact score", X: "N", Y: "TV", LogX: true, LogY: true}
	if len(given) == 0 {
		tv.Title = "Theorem 1 with constant steps"
	}
	names := []string{"TV(q_δ, Euler)", "Theorem 1's right side, frozen rates", "Corollary 1's terms, constants 1"}
	if len(given) == 0 {
		names[0] = "TV(q0, Euler)"
	}
	for _, name := range names {
		tv.Series = append(tv.Series, Series{Name: name})
	}
	notes := []string{
		"Every number is exact up to rounding.",
		"Lines without a verdict are statements that hide constants or hold in a limit only; the numbers are put side by side.",
		"The data hold MASK: the score is not r(t) times a posterior, and Propositions 2 and 3 and Theorems 4 and 5 do not apply.",
	}
	if gamma == 0 {
		notes = append(notes, "γ(q0) = 0: Corollary 1 does not apply.")
	}
	if len(given) > 0 {
		notes = append(notes, "P_N is the law of a sampler as it is set: "+describe(given)+".")
	}
	var l worldLines
	starts := []float64{file.T}
	if len(given) > 0 {
		starts = nil
		for _, g := range grids {
			starts = append(starts, g.Theta[0])
		}
	}
	for _, t := range distinct(starts) {
		name := "lemma3.bound"
		if len(given) > 0 {
			name += ".T=" + timeName(t)
		}
		l.below(name, fmt.Sprintf("Lemma 3: TV(q_T, all-mask) ≤ d·e^(−T), T = %g", t), "TV",
			w.InitialTV(t), float64(w.D)*math.Exp(-t), exactTolerance)
	}
	r := Report{}
	for _, g := range grids {
		if err := ctx.Err(); err != nil {
			return l.report(notes), err
		}
		run := w.Run(g.Theta)
		if len(given) > 0 {
			r.Laws = append(r.Laws, lawOver(w.Space, fmt.Sprintf("euler %d", g.Steps()), run.EulerLaw))
		}
		addPoints(&tv, g.Steps(), l.maskLines(w, g, run, gamma))
	}
	err = l.theorem3(ctx)
	list := r.Laws
	r = l.report(notes)
	if list != nil {
		r.Laws = append([]Law{lawOver(w.Space, "q0", w.Q0)}, list...)
	}
	if tv = visible(tv); len(tv.Series) > 0 {
		r.Plots = []Plot{tv}
	}
	return r, err
}

// addPoints adds a point to each series in turn.
func addPoints(p *Plot, n int, values []float64) {
	for i, y := range values {
		if y > noiseFloor && !math.IsInf(y, 0) {
			p.Series[i].Points = append(p.Series[i].Points, Point{X: float64(n), Y: y})
		}
	}
}

// maskLines adds the lines of one grid, and returns TV, Theorem 1's right side and, for
// constant steps to 0, the sum of Corollary 1's terms.
func (l *worldLines) maskLines(w *laws.MaskWorld, g samplers.Grid, run laws.MaskRun, gamma float64) []float64 {
	n := g.Steps()
	at, end := fmt.Sprintf("N=%d", n), "q0"
	if g.Theta[n] > 0 {
		end = fmt.Sprintf("q_δ, δ = %g", g.Theta[n])
		l.reported("tv-q0."+at, "TV(q0, Euler) beside TV("+end+", Euler)", "TV", laws.TV(w.Q0, run.EulerLaw), run.EulerTV)
	}
	l.below("theorem1.frozen."+at, "Theorem 1, rates frozen at θ_k: TV("+end+", their process) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
		run.FrozenTV, run.FrozenRHS, exactTolerance)
	l.reported("theorem1.mixed."+at, "TV("+end+", Euler) beside the right side for frozen rates, which bounds another process: not claimed", "TV",
		run.EulerTV, run.FrozenRHS)
	values := []float64{run.EulerTV, run.FrozenRHS}
	if gamma > 0 && g.Kind == samplers.GridUniform && g.Theta[n] == 0 {
		t := g.Theta[0]
		terms := theory.Corollary1(w.D, w.V+1, t, t/float64(n), gamma, 0)
		l.reported("corollary1."+at, fmt.Sprintf("Corollary 1, constants 1: TV(q0, Euler) beside d·e^(−T) %.4g + κdS(1−e^(−T)+γ^(−1/2)) %.4g, γ(q0) = %.4g",
			terms.Initial, terms.Discretisation, gamma), "TV", run.EulerTV, terms.Sum())
		values = append(values, terms.Sum())
	}
	return values
}

// law says why p is not a probability law over n states.
func law(p []float64, n int) error {
	if len(p) != n {
		return fmt.Errorf("%d entries: must have %d", len(p), n)
	}
	var sum laws.Sum
	for _, x := range p {
		if !(x >= 0) {
			return fmt.Errorf("%v is not a probability", x)
		}
		sum.Add(x)
	}
	if math.Abs(sum.Value()-1) > 1e-9 {
		return errors.New("does not sum to 1")
	}
	return nil
}
