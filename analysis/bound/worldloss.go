package bound

import (
	"fmt"
	"math"

	"mdmgen/analysis/laws"
)

// losses adds what the paper states of losses and of the first-hitting sampler:
// Proposition 2, Theorems 4 and 5.
func (l *worldLines) losses(w *laws.World, fhs []float64, nelbo laws.NELBO) {
	p2, t4 := w.Proposition2(nelbo), w.Theorem4(fhs, nelbo)
	entropy := laws.Entropy(w.Q0)
	l.equal("entropy", "Σ_k (1/k) E Σ_{l masked} H(q0^l(·|visible)) = H(q0): the chain rule averaged over orders", "nats",
		p2.EntropySum, entropy, exactTolerance)
	for _, form := range []struct {
		name, statement string
		value           float64
	}{
		{"nelbo.t", "∫_0^∞ r(t) E Σ −log μ dt", nelbo.ContinuousT},
		{"nelbo.lambda", "∫_0^1 (1/λ) E Σ −log μ dλ", nelbo.Lambda},
		{"nelbo.subsets", "Σ_k (1/k) E Σ_{l∈M_k} −log μ̄", nelbo.KSubsets},
		{"nelbo.orders", "mean over orders of the chain's cost", nelbo.AnyOrder},
	} {
		l.equal(form.name, form.statement+" = E[NELBO], summed sequence by sequence", "nats", form.value, nelbo.Expected, exactTolerance)
	}
	l.equal("proposition2", "Proposition 2: ∫_0^∞ L_SE dt, by quadrature of the definition = E[NELBO] − H(q0) = ε″", "nats",
		p2.ScoreEntropyIntegral, t4.Epsilon, exactTolerance)
	l.below("proposition2.sign", "Proposition 2: 0 ≤ ε″, with equality for the posterior", "nats", 0, t4.Epsilon, exactTolerance)
	l.below("theorem4", "Theorem 4: KL(q0‖P_FHS) ≤ ε″", "nats", t4.KL, t4.Epsilon, exactTolerance)
	left, right, gaps := bySequence(fhs, nelbo.BySequence)
	l.below("theorem4.pointwise", "−log P_FHS(x0) ≤ L_∞(x0) for every sequence; shown is the one with the smallest gap", "nats",
		left, right, exactTolerance, gaps...)
	l.below("theorem4.pinsker", "TV(q0,P_FHS) ≤ √(ε″/2)", "TV",
		laws.TV(w.Q0, fhs), math.Sqrt(max(t4.Epsilon, 0)/2), exactTolerance)
	if t5, ok := w.Theorem5(); ok {
		l.equal("theorem5", fmt.Sprintf("Theorem 5: KL(q0‖P_FHS) = ε″ on its construction, ρ = %.6g", t5.Rho), "nats",
			t4.KL, t4.Epsilon, theorem5Tolerance)
		l.equal("theorem5.closed", "Theorem 5: KL(q0‖P_FHS) = −d·log(1−ρ)", "nats",
			t4.KL, -float64(w.D)*math.Log1p(-t5.Rho), theorem5Tolerance)
	}
}

// bySequence returns −log P and L_∞ of the sequence with the smallest gap, and the gaps
// of all.
func bySequence(fhs, nelbo []float64) (left, right float64, gaps []float64) {
	gaps = make([]float64, len(fhs))
	worst := math.Inf(1)
	for i, p := range fhs {
		a, b := -math.Log(p), nelbo[i]
		if gaps[i] = b - a; math.IsInf(a, 1) && math.IsInf(b, 1) {
			gaps[i] = 0
		}
		if i == 0 || gaps[i] < worst {
			worst, left, right = gaps[i], a, b
		}
	}
	return left, right, gaps
}
