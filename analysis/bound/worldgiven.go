package bound

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
)

// givenRun is the law of a sampler that was asked for, in a world.
type givenRun struct {
	Case
	steps schedule.Steps
	// chain is the run of a sampler whose every step asks the denoiser at its start, nil
	// for others.
	chain *laws.Chain
	// law [States] is the law as the sampler is set, clean [Sequences] its part without
	// MASK, left the probability of the rest.
	law, clean []float64
	left       float64
}

// plainRules are those that [laws.World.Run] runs.
var plainRules = []schedule.Rule{schedule.RuleEuler, schedule.RuleTweedie, schedule.RuleTauAny, schedule.RuleTauOne}

// runGiven works out the law of a sampler in a world.
func runGiven(w *laws.World, c Case) (givenRun, error) {
	r := givenRun{Case: c}
	steps, ok := c.Sampler.Steps()
	r.steps = steps
	if ok && slices.Contains(plainRules, steps.Rule) {
		chain := w.Run(steps)
		r.chain = &chain
		if r.law = chain.Law; c.Sampler.Denoises() {
			r.law = w.OnStates(chain.Denoised)
		}
	} else {
		var err error
		if r.law, err = w.SamplerLaw(c.Sampler); err != nil {
			return r, fmt.Errorf("%s: %w", c, err)
		}
	}
	r.clean = w.OnSequences(r.law)
	var mass laws.Sum
	for _, p := range r.clean {
		mass.Add(p)
	}
	if r.left = 1 - mass.Value(); math.Abs(r.left) < exactTolerance {
		r.left = 0
	}
	return r, nil
}

// tv is the distance of a law over sequences from the run's, whose masked outcomes the
// other never has.
func (r givenRun) tv(p []float64) float64 { return laws.TV(p, r.clean) + r.left/2 }

// at names a case inside a line's name.
func (r givenRun) at() string {
	if r.N == 0 {
		return r.Name
	}
	return fmt.Sprintf("%s.N=%d", r.Name, r.N)
}

// given adds the lines of samplers that were asked for and returns the pictures.
func (l *worldLines) given(w *laws.World, fhs []float64, all []givenRun) []report.Plot {
	l.ends(w, all)
	entropy := laws.Entropy(w.Q0)
	for _, r := range all {
		l.reported("kl."+r.at(), "KL(q0‖P_FHS) beside KL(q0‖P_N), P_N as the sampler is set", "nats", laws.KL(w.Q0, fhs), laws.KL(w.Q0, r.clean))
		l.reported("tv."+r.at(), "TV(q0,P_FHS) beside TV(q0,P_N), P_N as the sampler is set", "TV", laws.TV(w.Q0, fhs), r.tv(w.Q0))
		if r.chain == nil {
			continue
		}
		delta := r.steps.Grid.Theta[r.steps.Grid.Steps()]
		l.reported("tv-delta."+r.at(), fmt.Sprintf("TV(q0,P_N) beside TV(q_δ,P_N), δ = %g, masks left", delta), "TV",
			laws.TV(w.OnStates(w.Q0), r.chain.Law), laws.TV(w.Marginal(delta), r.chain.Law))
		l.below("plans."+r.at(), "E_q0[−log P_N] ≤ E_q0 E_plan Σ −log μ, what is masked at the end filled (Jensen over plans)", "nats",
			entropy+laws.KL(w.Q0, r.chain.Denoised), r.chain.PlanNELBO, exactTolerance)
	}
	for _, r := range all {
		l.givenEuler(w, r)
	}
	for _, r := range all {
		l.givenCollision(w, fhs, r)
	}
	return l.givenSlopes(w, fhs, all)
}

// ends adds Lemma 3 and the price of early stopping for each T and δ of the grids.
func (l *worldLines) ends(w *laws.World, all []givenRun) {
	var starts, stops []float64
	for _, r := range all {
		if n := len(r.steps.Grid.Theta); n > 0 {
			starts, stops = append(starts, r.steps.Grid.Theta[0]), append(stops, r.steps.Grid.Theta[n-1])
		}
	}
	for _, t := range distinct(starts) {
		l.equal("lemma3.T="+timeName(t), "Lemma 3: TV(q_T, all-mask) = 1−(1−e^(−T))^d", "TV",
			1-w.Marginal(t)[w.AllMask()], theory.InitialTV(w.D, t), exactTolerance)
		l.below("lemma3.bound.T="+timeName(t), "Lemma 3: TV(q_T, all-mask) ≤ d·e^(−T)", "TV",
			theory.InitialTV(w.D, t), float64(w.D)*math.Exp(-t), exactTolerance)
	}
	for _, delta := range distinct(stops) {
		l.equal(fmt.Sprintf("early-stopping.delta=%.6g", delta), "TV(q0,q_δ) = 1−e^(−dδ)", "TV",
			laws.TV(w.OnStates(w.Q0), w.Marginal(delta)), theory.EarlyStoppingTV(w.D, delta), exactTolerance)
	}
}

// timeName writes a time as the command line has it.
func timeName(t float64) string {
	if math.IsInf(t, 1) {
		return "inf"
	}
	return fmt.Sprintf("%.6g", t)
}

// distinct are the values that differ in the digits which names have.
func distinct(x []float64) []float64 {
	var out []float64
	for _, v := range x {
		if !slices.ContainsFunc(out, func(o float64) bool { return timeName(o) == timeName(v) }) {
			out = append(out, v)
		}
	}
	return out
}

// paperEuler says whether a run is Euler in the paper's time from a finite T: what
// Theorems 1 and 2 are about.
func (r givenRun) paperEuler() bool {
	return r.euler() && r.Sampler.Settings().Noise == schedule.Exp.String() && !math.IsInf(r.steps.Grid.Theta[0], 1)
}

// euler says whether the paper's upper bounds, which are Euler's, speak of a run on a grid.
func (r givenRun) euler() bool {
	law, ok := r.Sampler.Law()
	return ok && r.chain != nil && law.PaperUpper
}

// givenEuler adds Theorem 1, Assumption 1 and the terms of Theorem 2 where steps are the
// paper's and of Corollary 1 where they are constant.
func (l *worldLines) givenEuler(w *laws.World, r givenRun) {
	if !r.paperEuler() {
		return
	}
	l.eulerBounds(w, *r.chain, fmt.Sprintf("N=%d", r.N))
	g := r.steps.Grid
	delta := g.Theta[g.Steps()]
	if g.Kind != schedule.GridUniform || delta == 0 {
		return
	}
	// Noised for time δ the data hold MASK, and the run down to δ is one without early
	// stopping on them.
	gamma := w.Gamma(w.Marginal(delta))
	t := w.Theorem1(*r.chain)
	horizon := g.Theta[0] - delta
	terms := theory.Corollary1(w.D, w.V+1, horizon, horizon/float64(g.Steps()), gamma, t.LTV)
	l.reported(fmt.Sprintf("corollary1.N=%d", r.N), fmt.Sprintf("Corollary 1 for the data q_δ, which hold MASK, constants 1: TV(q_δ, Euler) beside d·e^(−T) %.4g + L_TV %.4g + κdS(1−e^(−T)+γ^(−1/2)) %.4g, γ(q_δ) = %.4g",
		terms.Initial, round(terms.Score), terms.Discretisation, gamma), "TV", t.EulerTV, terms.Sum())
}

// givenCollision adds the collision bound of a run.
func (l *worldLines) givenCollision(w *laws.World, fhs []float64, r givenRun) {
	logp, err := quality.Collision(r.Sampler, w.D)
	if err != nil || w.Timed() {
		return // another order than first-hitting's, or time: nothing is claimed
	}
	if math.IsInf(logp, -1) {
		l.reported("collision."+r.at(), "TV(P_FHS,P_N) beside 1−p*: p* = 0, so that nothing is claimed", "TV", r.tv(fhs), 1)
		return
	}
	worst := newWorst()
	for x, p := range fhs {
		worst.see(r.N, math.Exp(logp)*p, r.clean[x])
	}
	name := "collision." + r.at()
	l.below(name+".tv", "TV(P_FHS,P_N) ≤ 1−p*", "TV", r.tv(fhs), -math.Expm1(logp), exactTolerance)
	l.below(name+".kl", "KL(P_FHS‖P_N) ≤ −log p*", "nats", laws.KL(fhs, r.clean), -logp, exactTolerance)
	l.below(name+".pointwise", "p*·P_FHS(x) ≤ P_N(x) for every x; shown is the one nearest to equality", "probability", worst.left, worst.right, exactTolerance, worst.gaps...)
}

// givenCertificates adds certificates of the runs.
func (l *worldLines) givenCertificates(ctx context.Context, file *world.World, fhs []float64, all []givenRun) error {
	var cases []Case
	for _, r := range all {
		cases = append(cases, r.Case)
	}
	return l.certificates(ctx, file, cases, func(i int) string { return all[i].at() }, func(i int) (tv, kl float64) {
		return all[i].tv(fhs), laws.KL(fhs, all[i].clean)
	})
}

// givenSlopes adds local exponents between the last two numbers of steps of each sampler
// with a rate in N, and returns the pictures against N.
func (l *worldLines) givenSlopes(w *laws.World, fhs []float64, all []givenRun) []report.Plot {
	tv := report.Plot{Name: "tv-fhs", Title: "TV(P_FHS, P_N)", X: "N", Y: "TV", LogX: true, LogY: true, Guide: -1}
	data := report.Plot{Name: "tv-q0", Title: "Distance from the data: TV(q0, P_N)", X: "N", Y: "TV", LogX: true, LogY: true}
	kl := report.Plot{Name: "kl-q0", Title: "KL(q0‖P_N)", X: "N", Y: "nats", LogX: true, LogY: true}
	last := make(map[string]givenRun)
	for _, r := range all {
		for _, p := range []struct {
			plot *report.Plot
			y    float64
		}{{&tv, r.tv(fhs)}, {&data, r.tv(w.Q0)}, {&kl, laws.KL(w.Q0, r.clean)}} {
			p.plot.Add(r.Name, "", report.Point{X: float64(r.N), Y: beyondNoise(p.y)})
		}
		before, ok := last[r.Name]
		last[r.Name] = r
		// Nobody claims a rate of samplers whose error N does not decide, or not like a grid's.
		if law, planned := r.Sampler.Law(); !planned || !law.PaperLower || !ok || before.N >= r.N || slices.ContainsFunc(all, func(o givenRun) bool { return o.Name == r.Name && o.N > r.N }) {
			continue
		}
		for _, d := range []struct {
			name, statement string
			from, to, rate  float64
		}{
			{"tv", "TV(P_FHS,P_N)", before.tv(fhs), r.tv(fhs), -1},
			{"kl", "KL(P_FHS‖P_N)", laws.KL(fhs, before.clean), laws.KL(fhs, r.clean), -2},
		} {
			if d.from > noiseFloor && d.to > noiseFloor && !math.IsInf(d.from, 1) && !math.IsInf(d.to, 1) {
				rate := "the rate 1/N (asymptotic)"
				if d.rate == -2 {
					rate = "1/N², the rate where P_FHS has full support and no mask is left (asymptotic)"
				}
				l.reported(fmt.Sprintf("slope.%s.%s", d.name, r.Name), fmt.Sprintf("d log %s/d log N from N = %d to %d beside %s", d.statement, before.N, r.N, rate),
					"exponent", math.Log(d.to/d.from)/math.Log(float64(r.N)/float64(before.N)), d.rate)
			}
		}
	}
	return report.Shown(tv, data, kl)
}

// describe tells the settings of samplers, each once whatever the number of steps.
func describe(cases []Case) string {
	var out []string
	for _, c := range cases {
		s := c.Sampler.Settings()
		var parts []string
		add := func(name, value string) {
			if value != "" {
				parts = append(parts, name+" "+value)
			}
		}
		add("grid", s.Grid)
		if s.T != nil && s.Delta != nil {
			parts = append(parts, fmt.Sprintf("T = %s, δ = %s", infinity(float64(*s.T)), infinity(float64(*s.Delta))))
		}
		add("noise", s.Noise)
		add("sizes", s.Sizes)
		add("order", s.Order)
		add("tau", s.Tau)
		add("rule", string(s.Rule))
		add("score", string(s.Score))
		add("remask", string(s.Remask))
		add("finish", s.Finish)
		text := c.Name
		if len(parts) > 0 {
			text += " (" + strings.Join(parts, ", ") + ")"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

func infinity(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.6g", x)
}
