package bound

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/theory"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

var (
	// worldSteps are the numbers of steps whose laws are worked out.
	worldSteps = []int{1, 2, 4, 8, 16, 32, 64}
	worldGrids = []schedule.GridKind{schedule.GridUniform, schedule.GridPaper}
	worldRules = []schedule.Rule{schedule.RuleEuler, schedule.RuleTweedie, schedule.RuleTauAny, schedule.RuleTauOne}
)

// family is a sampler on one kind of grid.
type family struct {
	grid schedule.GridKind
	rule schedule.Rule
}

// String is "euler.paper".
func (f family) String() string { return fmt.Sprintf("%s.%s", f.rule, f.grid) }

// runs are the laws of every sampler on every grid, by family and in the order of
// worldSteps.
type runs map[family][]laws.Chain

func families() []family {
	var out []family
	for _, grid := range worldGrids {
		for _, rule := range worldRules {
			out = append(out, family{grid, rule})
		}
	}
	return out
}

func newRuns(ctx context.Context, w *laws.World, e ends) (runs, error) {
	out := make(runs)
	for _, f := range families() {
		for _, n := range worldSteps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			g, err := schedule.NewGrid(schedule.GridSpec{Kind: f.grid, T: e.t, Delta: e.delta, Steps: n})
			if err != nil {
				return nil, err
			}
			steps, err := schedule.NewSteps(f.rule, schedule.Exp, g)
			if err != nil {
				return nil, err
			}
			out[f] = append(out[f], w.Run(steps))
		}
	}
	return out, nil
}

// theorem1 adds what the paper states of Euler: Theorem 1, Assumption 1's loss,
// Lemma 3, and on the paper's grid the terms of Theorem 2.
func (l *worldLines) theorem1(ctx context.Context, w *laws.World, e ends, all runs) error {
	l.equal("lemma3", fmt.Sprintf("Lemma 3: TV(q_T, all-mask) = 1−(1−e^(−T))^d, T = %g", e.t), "TV",
		1-w.Marginal(e.t)[w.AllMask()], theory.InitialTV(w.D, e.t), exactTolerance)
	l.below("lemma3.bound", "Lemma 3: TV(q_T, all-mask) ≤ d·e^(−T)", "TV",
		theory.InitialTV(w.D, e.t), float64(w.D)*math.Exp(-e.t), exactTolerance)
	l.equal("early-stopping", fmt.Sprintf("TV(q0,q_δ) = 1−e^(−dδ), δ = %g", e.delta), "TV",
		laws.TV(w.OnStates(w.Q0), w.Marginal(e.delta)), theory.EarlyStoppingTV(w.D, e.delta), exactTolerance)
	for _, grid := range worldGrids {
		for i, c := range all[family{grid, schedule.RuleEuler}] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if i%2 == 0 { // N = 1, 4, 16, 64
				l.eulerBounds(w, c, fmt.Sprintf("%s.N=%d", grid, worldSteps[i]))
			}
		}
	}
	return nil
}

// eulerBounds adds the lines of one grid.
func (l *worldLines) eulerBounds(w *laws.World, c laws.Chain, at string) {
	t := w.Theorem1(c)
	theta := c.Steps.Grid.Theta
	l.below("theorem1.frozen."+at, "Theorem 1, rates r(θ_k)·μ(x_t,θ_k): TV(q_δ, their process) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
		t.FrozenTV, t.FrozenRHS, exactTolerance)
	l.below("theorem1.euler."+at, "Theorem 1, the rates of Euler's own chain: TV(q_δ, Euler) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
		t.EulerTV, t.EulerRHS, eulerTolerance)
	l.reported("theorem1.mixed."+at, "TV(q_δ, Euler) beside the right side for frozen rates, which bounds another process: not claimed", "TV",
		t.EulerTV, t.FrozenRHS)
	l.below("assumption1."+at, "Assumption 1: L_TV ≤ Σ η_k √(2d·e^(−θ_k)·L_SE(θ_k)), in place of Proposition 1", "TV",
		t.LTV, t.LTVPinsker, exactTolerance+t.PinskerRounding)
	if kappa := c.Steps.Grid.Kappa; kappa != 0 { // Theorem 2 is about η = κ·min(1,θ) alone.
		terms := theory.Theorem2(w.D, w.V+1, theta[0], theta[len(theta)-1], kappa, t.LTV)
		l.reported("theorem2."+at, fmt.Sprintf("Theorem 2, constants 1: TV(q0, Euler) beside d·e^(−T) %.4g + L_TV %.4g + κdS(1−e^(−T)+log 1/δ) %.4g + dδ %.4g",
			terms.Initial, round(terms.Score), terms.Discretisation, terms.EarlyStopping), "TV", t.EulerTVQ0, terms.Sum())
	}
	if t.LTV < exactTolerance {
		l.equal("exact-score."+at, "Theorem 1's frozen integral for the posterior = d·Σ r_k(e^η_k−1−η_k), for every q0", "TV",
			t.FrozenIntegral, theory.ExactScoreRateIntegral(w.D, theta), exactTolerance)
	}
}

// round takes what is rounding alone for 0.
func round(x float64) float64 {
	if math.Abs(x) < exactTolerance {
		return 0
	}
	return x
}

// collisions adds the collision bound of every sampler and grid, each on the number of
// steps where its right side is nearest.
func (l *worldLines) collisions(w *laws.World, fhs []float64, all runs) {
	if w.Timed() {
		return
	}
	for _, f := range families() {
		tv, kl, point := newWorst(), newWorst(), newWorst()
		for i, c := range all[f] {
			for _, denoised := range []bool{true, false} {
				law, left := c.Denoised, c.Steps.Left()
				if !denoised {
					law = w.OnSequences(c.Law)
				}
				logp := theory.LogCollisionBound(w.D, c.Steps.Reveal, left, denoised)
				// Masks that stay are a part of the law that fhs does not have.
				distance := laws.TV(fhs, law)
				if !denoised {
					var mass laws.Sum
					for _, p := range law {
						mass.Add(p)
					}
					distance += (1 - mass.Value()) / 2
				}
				if math.IsInf(logp, -1) {
					continue // fewer calls than positions: nothing is claimed
				}
				tv.see(worldSteps[i], distance, -math.Expm1(logp))
				kl.see(worldSteps[i], laws.KL(fhs, law), -logp)
				for x, p := range fhs {
					point.see(worldSteps[i], math.Exp(logp)*p, law[x])
				}
			}
		}
		name := fmt.Sprintf("collision.%s.", f)
		l.below(name+"tv", fmt.Sprintf("TV(P_FHS,P_N) ≤ 1−p*, N up to 64, with masks left and filled; shown is N = %d", tv.n), "TV", tv.left, tv.right, exactTolerance, tv.gaps...)
		l.below(name+"kl", fmt.Sprintf("KL(P_FHS‖P_N) ≤ −log p*, the same laws; shown is N = %d", kl.n), "nats", kl.left, kl.right, exactTolerance, kl.gaps...)
		l.below(name+"pointwise", fmt.Sprintf("p*·P_FHS(x) ≤ P_N(x), the same laws and every x; shown is N = %d", point.n), "probability", point.left, point.right, exactTolerance, point.gaps...)
	}
}

// certifiedSteps is the number of steps whose certificates are shown.
const certifiedSteps = 16

// certified adds certificates of every sampler and grid for one number of steps.
func (l *worldLines) certified(ctx context.Context, file *world.World, e ends, fhs []float64, all runs) error {
	var cases []Case
	for _, f := range families() {
		o := catalog.Options{Sampler: string(f.rule), Grid: string(f.grid), Steps: certifiedSteps, T: (*catalog.Theta)(&e.t), Delta: (*catalog.Theta)(&e.delta)}
		if f.rule != schedule.RuleTweedie || f.grid == schedule.GridUniform {
			o.Noise = schedule.Exp.String()
		}
		if tau, ok := strings.CutPrefix(o.Sampler, "tau-"); ok {
			o.Sampler, o.Tau = "tau-leaping", tau
		}
		s, err := catalog.New(o, file.Spec())
		if err != nil {
			return err
		}
		cases = append(cases, Case{Name: f.String(), N: certifiedSteps, Sampler: s})
	}
	at := slices.Index(worldSteps, certifiedSteps)
	return l.certificates(ctx, file, cases, func(i int) string { return fmt.Sprintf("%s.N=%d", cases[i].Name, certifiedSteps) }, func(i int) (tv, kl float64) {
		law := all[families()[i]][at].Denoised
		return laws.TV(fhs, law), laws.KL(fhs, law)
	})
}

// worst is the case of an inequality whose sides have the greatest ratio.
type worst struct {
	n                  int
	left, right, ratio float64
	gaps               []float64
}

func newWorst() *worst { return &worst{ratio: -1} }

func (w *worst) see(n int, left, right float64) {
	w.gaps = append(w.gaps, right-left)
	ratio := 0.0
	if right > 0 {
		ratio = left / right
	}
	if ratio > w.ratio {
		w.n, w.left, w.right, w.ratio = n, left, right, ratio
	}
}

// noiseFloor is below what a distance is rounding and has no slope.
const noiseFloor = 1e-11

// slope is the local exponent of y between the last two numbers of steps.
func slope(y []float64) (float64, bool) {
	n := len(y) - 1
	if !(y[n] > noiseFloor && y[n-1] > noiseFloor) || math.IsInf(y[n-1], 1) {
		return 0, false
	}
	return math.Log(y[n]/y[n-1]) / math.Log(float64(worldSteps[n])/float64(worldSteps[n-1])), true
}

// slopes adds local exponents in N next to the paper's rates.
func (l *worldLines) slopes(fhs []float64, all runs) {
	for _, f := range families() {
		tv, kl := fromFHS(fhs, all[f])
		if s, ok := slope(tv); ok {
			l.reported("slope.tv."+f.String(), "d log TV(P_FHS,P_N)/d log N from N = 32 to 64 beside the rate 1/N (asymptotic)", "exponent", s, -1)
		}
		if s, ok := slope(kl); ok {
			l.reported("slope.kl."+f.String(), "d log KL(P_FHS‖P_N)/d log N from N = 32 to 64 beside 1/N², the rate where P_FHS has full support (asymptotic)", "exponent", s, -2)
		}
	}
}

// fromFHS are TV(P_FHS,P_N) and KL(P_FHS‖P_N) by number of steps, of denoised laws.
func fromFHS(fhs []float64, chains []laws.Chain) (tv, kl []float64) {
	for _, c := range chains {
		tv = append(tv, laws.TV(fhs, c.Denoised))
		kl = append(kl, max(laws.KL(fhs, c.Denoised), 0))
	}
	return tv, kl
}
