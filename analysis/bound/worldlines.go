package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/analysis/theory"
	"mdmgen/internal/expsum"
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// losses adds Propositions 2 and 3 and Theorems 4 and 5.
func (d *onWorld) losses() {
	nelbo := d.NELBO()
	p2, t4 := d.Proposition2(), d.Theorem4(nelbo)
	d.equal("entropy", "Σ_k (1/k) E Σ_{l masked} H(q0^l(·|visible)) = H(q0): the chain rule averaged over orders", "nats",
		p2.EntropySum, laws.Entropy(d.Q0), exactTolerance)
	for _, form := range []struct {
		name, statement string
		value           float64
	}{
		{"nelbo.t", "∫_0^∞ r(t) E Σ −log μ dt", nelbo.ContinuousT},
		{"nelbo.lambda", "∫_0^1 (1/λ) E Σ −log μ dλ", nelbo.Lambda},
		{"nelbo.subsets", "Σ_k (1/k) E Σ_{l∈M_k} −log μ̄", nelbo.KSubsets},
		{"nelbo.orders", "mean over orders of the chain's cost", nelbo.AnyOrder},
	} {
		d.equal(form.name, form.statement+" = E[NELBO], summed sequence by sequence", "nats", form.value, nelbo.Expected, exactTolerance)
	}
	d.equal("proposition2", "Proposition 2: ∫_0^∞ L_SE dt, by quadrature of the definition = E[NELBO] − H(q0) = ε″", "nats",
		p2.ScoreEntropyIntegral, t4.Epsilon, exactTolerance)
	d.below("proposition2.sign", "Proposition 2: 0 ≤ ε″, with equality for the posterior", "nats", 0, t4.Epsilon, exactTolerance)
	d.below("theorem4", "Theorem 4: KL(q0‖P_FHS) ≤ ε″", "nats", t4.KL, t4.Epsilon, exactTolerance)
	gaps := differences(nelbo.BySequence, d.costs)
	least := slices.Index(gaps, slices.Min(gaps))
	d.below("theorem4.pointwise", "−log P_FHS(x0) ≤ L_∞(x0) for every sequence; shown is the one with the smallest gap", "nats",
		d.costs[least], nelbo.BySequence[least], exactTolerance, gaps...)
	d.below("theorem4.pinsker", "TV(q0,P_FHS) ≤ √(ε″/2)", "TV", laws.TV(d.Q0, d.fhs), math.Sqrt(max(t4.Epsilon, 0)/2), exactTolerance)
	d.equal("proposition3", "Proposition 3: TV(q0, First-Hitting with the posterior for μ) = 0: First-Hitting differs from the true chain in the token's law alone", "TV",
		laws.TV(d.Q0, d.withPosterior().FHSLaw()), 0, exactTolerance)
	if t5, ok := d.Theorem5(); ok {
		d.equal("theorem5", fmt.Sprintf("Theorem 5: KL(q0‖P_FHS) = ε″ on its construction, ρ = %.6g", t5.Rho), "nats", t4.KL, t4.Epsilon, theorem5Tolerance)
		d.equal("theorem5.closed", "Theorem 5: KL(q0‖P_FHS) = −d·log(1−ρ)", "nats", t4.KL, -float64(d.D)*expsum.Log(t5.Rest, 0), theorem5Tolerance)
	}
}

// withPosterior returns the world with its posterior as μ, uniform where the posterior does not
// exist.
func (d *onWorld) withPosterior() *laws.World {
	mu := slices.Repeat([]float64{1 / float64(d.V)}, d.States*d.D*d.V)
	for x := range d.States {
		for l := range d.D {
			if p, ok := d.Posterior(x, l); ok {
				copy(mu[(x*d.D+l)*d.V:], p)
			}
		}
	}
	return laws.FromTables(d.D, d.V, d.Q0, mu, nil, 0, 0)
}

// ends adds Lemma 3 and the price of early stopping for each T and δ of the grids.
func (d *onWorld) ends() {
	seen := make(map[string]bool)
	for _, r := range d.runs {
		theta := r.steps.Grid.Theta
		if len(theta) == 0 {
			continue
		}
		t, delta := theta[0], theta[len(theta)-1]
		name := strings.Replace(fmt.Sprintf("T=%.6g", t), "+Inf", "inf", 1)
		if !seen[name] {
			seen[name] = true
			d.equal("lemma3."+name, "Lemma 3: TV(q_T, all-mask) = 1−(1−e^(−T))^d", "TV",
				1-d.Marginal(t)[d.AllMask()], theory.InitialTV(d.D, t), exactTolerance).About = name
			d.below("lemma3.bound."+name, "Lemma 3: TV(q_T, all-mask) ≤ d·e^(−T)", "TV",
				theory.InitialTV(d.D, t), float64(d.D)*math.Exp(-t), exactTolerance).About = name
		}
		if name := fmt.Sprintf("delta=%.6g", delta); !seen[name] {
			seen[name] = true
			d.equal("early-stopping."+name, "TV(q0,q_δ) = 1−e^(−dδ)", "TV", laws.TV(d.OnStates(d.Q0), d.Marginal(delta)), theory.EarlyStoppingTV(d.D, delta), exactTolerance).About = name
		}
	}
}

// distances adds the distances of the samplers from the data and plots them against N.
func (d *onWorld) distances() {
	tv := report.Plot{Name: "tv-fhs", Title: "Discretisation alone: TV(P_FHS, P_N)", X: "N", Y: "TV", LogX: true, LogY: true, Guide: -1, Caption: "Slope −1 is the paper's rate: twice the steps halve the distance."}
	data := report.Plot{Name: "tv-q0", Title: "Distance from the data: TV(q0, P_N)", X: "N", Y: "TV", LogX: true, LogY: true,
		Caption: "The curves level off at First-Hitting's own distance, which is the denoiser's error."}
	kl := report.Plot{Name: "kl-q0", Title: "KL(q0‖P_N)", X: "N", Y: "nats", LogX: true, LogY: true,
		Caption: "Theorem 4 puts First-Hitting below ε″. Grid samplers come to it from above or below."}
	apart := 0.0
	for _, r := range d.runs {
		line := d.exact("kl."+r.at(), "KL(q0‖P_FHS) beside KL(q0‖P_N), P_N as the sampler is set", "nats", laws.KLFrom(d.Q0, d.costs), laws.KLFrom(d.Q0, r.costs))
		if line.About = r.at(); math.IsNaN(line.Right.Mean) {
			line.Judgement = report.Judge(report.NotResolved, ": P_N is a sum over outcomes, which underflow")
		}
		d.exact("tv."+r.at(), "TV(q0,P_FHS) beside TV(q0,P_N), P_N as the sampler is set", "TV", laws.TV(d.Q0, d.fhs), r.tv(d.Q0)).About = r.at()
		name := report.Said(r.Name)
		tv.Add(name, "", report.Point{X: float64(r.N), Y: beyondNoise(r.tv(d.fhs))})
		apart = max(apart, beyondNoise(r.tv(d.fhs)))
		data.Add(name, "", report.Point{X: float64(r.N), Y: beyondNoise(r.tv(d.Q0))})
		kl.Add(name, "", report.Point{X: float64(r.N), Y: beyondNoise(laws.KLFrom(d.Q0, r.costs))})
	}
	if apart == 0 {
		tv = report.Plot{} // a logarithmic axis cannot show 0
	}
	d.plot(tv, data, kl)
}

// eulerBounds adds Theorem 1 and Assumption 1, with the terms of Theorem 2 if the steps are the
// paper's, and of Corollary 1 if they are constant.
func (d *onWorld) eulerBounds(r worldRun) {
	at := strings.TrimPrefix(r.at(), "euler.")
	t, grid := d.Theorem1(r.steps), r.steps.Grid
	start, delta := grid.Theta[0], grid.Theta[grid.Steps()]
	d.below("theorem1.frozen."+at, "Theorem 1, rates r(θ_k)·μ(x_t,θ_k): TV(q_δ, their process) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
		t.FrozenTV, t.FrozenRHS, exactTolerance).About = at
	d.below("theorem1.euler."+at, "Theorem 1, the rates of Euler's own chain: TV(q_δ, Euler) ≤ TV(q_T, all-mask) + ∫ E Σ|R̂−R|", "TV",
		t.EulerTV, t.EulerRHS, exactTolerance).About = at
	d.exact("theorem1.mixed."+at, "TV(q_δ, Euler) beside the right side for frozen rates, which bounds another process: not claimed", "TV",
		t.EulerTV, t.FrozenRHS).About = at
	d.below("assumption1."+at, "Assumption 1: L_TV ≤ Σ η_k √(2d·e^(−θ_k)·L_SE(θ_k)), in place of Proposition 1", "TV",
		t.LTV, t.LTVPinsker, exactTolerance+t.PinskerRounding).About = at
	score := t.LTV
	if score < exactTolerance {
		score = 0
	}
	if kappa := grid.Kappa; kappa != 0 { // Theorem 2 requires η = κ·min(1,θ).
		terms := theory.Theorem2(d.D, d.V+1, start, delta, kappa, t.LTV)
		d.exact("theorem2."+at, fmt.Sprintf("Theorem 2, constants 1: TV(q0, Euler) beside d·e^(−T) %.4g + L_TV %.4g + κdS(1−e^(−T)+log 1/δ) %.4g + dδ %.4g",
			terms.Initial, score, terms.Discretisation, terms.EarlyStopping), "TV", t.EulerTVQ0, terms.Sum()).About = at
	}
	if grid.Kind != schedule.GridUniform || delta == 0 {
		return
	}
	// After noising for time δ the data contain MASK, and a run down to δ has no early stopping
	// with respect to them.
	gamma, horizon := d.Gamma(d.Marginal(delta)), start-delta
	terms := theory.Corollary1(d.D, d.V+1, horizon, horizon/float64(grid.Steps()), gamma, t.LTV)
	d.exact("corollary1."+at, fmt.Sprintf("Corollary 1 for the data q_δ, which hold MASK, constants 1: TV(q_δ, Euler) beside d·e^(−T) %.4g + L_TV %.4g + κdS(1−e^(−T)+γ^(−1/2)) %.4g, γ(q_δ) = %.4g",
		terms.Initial, score, terms.Discretisation, gamma), "TV", t.EulerTV, terms.Sum()).About = at
}

// collision adds the collision bound of a run.
func (d *onWorld) collision(r worldRun) {
	logp, err := r.Sampler.Collision(d.D)
	if err != nil || d.Timed() {
		return // another order than First-Hitting's, or time: no bound applies
	}
	name := "collision." + r.at()
	if math.IsInf(logp, -1) {
		d.exact(name, "TV(P_FHS,P_N) beside 1−p*: p* = 0, so that nothing is claimed", "TV", r.tv(d.fhs), 1).About = r.at()
		return
	}
	left, gaps, nearest := make([]float64, len(d.fhs)), make([]float64, len(d.fhs)), 0
	ratio := func(x int) float64 {
		if !(r.clean[x] > 0) {
			return 0
		}
		return left[x] / r.clean[x]
	}
	for x, p := range d.fhs {
		left[x] = math.Exp(logp) * p
		if gaps[x] = r.clean[x] - left[x]; ratio(x) > ratio(nearest) {
			nearest = x
		}
	}
	d.below(name+".tv", "TV(P_FHS,P_N) ≤ 1−p*", "TV", r.tv(d.fhs), -math.Expm1(logp), exactTolerance).About = r.at()
	d.below(name+".kl", "KL(P_FHS‖P_N) ≤ −log p*", "nats", laws.KLFrom(d.fhs, r.costs), -logp, exactTolerance).About = r.at()
	d.below(name+".pointwise", "p*·P_FHS(x) ≤ P_N(x) for every x; shown is the one nearest to equality", "probability", left[nearest], r.clean[nearest], exactTolerance, gaps...).About = r.at()
}

// shares adds how much of the dependence among tokens random sizes may lose. The distribution of
// the sizes gives the mean R_m of the number of positions revealed together with position m and
// after it in its block.
func (d *onWorld) shares(r worldRun) {
	law, _ := r.Sampler.Law().(samplers.BySizes)
	if law.Random == nil || d.Timed() {
		return
	}
	mean := theory.MeanWaits(law.Random(d.D), d.D)
	var total, dual float64
	for m := 1; m < d.D; m++ {
		total, dual = max(total, mean[m]/float64(d.D-m)), max(dual, mean[m]/float64(m))
	}
	tc, dtc := d.Correlations(d.fhs)
	kl := laws.KLFrom(d.fhs, r.costs)
	d.exact("share.total."+r.at(), fmt.Sprintf("KL(P_FHS‖P_N) beside %.4g of the total correlation of P_FHS, which bounds it where rows are the conditionals of one distribution", total), "nats", kl, total*tc).About = r.at()
	d.exact("share.dual."+r.at(), fmt.Sprintf("KL(P_FHS‖P_N) beside %.4g of the dual total correlation of P_FHS, which bounds it where rows are the conditionals of one distribution", dual), "nats", kl, dual*dtc).About = r.at()
}

// noiseFloor is the distance below which values are rounding errors without a slope.
const noiseFloor = 1e-11

// beyondNoise returns a distance, or 0 if it is within rounding.
func beyondNoise(x float64) float64 {
	if x <= noiseFloor {
		return 0
	}
	return x
}
