package schedule

import (
	"math"

	"mdmgen/internal/fault"
)

// Rule names the law by which a step of a grid reveals masked positions. Each masked position is
// revealed in step k with probability p_k, independently of the others and of the network. Those of
// one step are filled by one call, unless the rule says otherwise.
type Rule string

// The rules. h = Δt·(−α′(t_k))/(1−α(t_k)) is the step times the rate at its start, in the noise's
// own time; for the exp noise h = η/(e^θ−1).
const (
	// RuleEuler has p = h.
	RuleEuler Rule = "euler"
	// RuleTweedie has p = (α_{k+1}−α_k)/(1−α_k): the exact distribution of the reveal time.
	RuleTweedie Rule = "tweedie"
	// RuleTauOne has p = h·e^(−h): exactly one Poisson jump in the step; positions
	// with none or several stay masked.
	RuleTauOne Rule = "tau-one"
	// RuleTauAny has p = 1−e^(−h): at least one jump, the first names the token.
	RuleTauAny Rule = "tau-any"
	// RuleUniformization has Tweedie's probabilities, but reveals one position per call.
	RuleUniformization Rule = "uniformization"
	// RuleMATU does the same.
	RuleMATU Rule = "matu"
	// RuleDMPM has the probabilities of RuleTauAny, but reveals one position per call, in uniform order.
	RuleDMPM Rule = "dmpm"
)

// AtHit reports whether the rule reveals each position by a call of its own at its reveal time.
func (r Rule) AtHit() bool { return r == RuleUniformization || r == RuleMATU }

// Exact reports whether the rule gives each position the exact law of its reveal time.
func (r Rule) Exact() bool {
	return r == RuleTweedie || r.AtHit()
}

// Steps is a grid with the probabilities of a rule.
type Steps struct {
	Grid Grid
	Rule Rule
	// Jump [N] holds p_k, the probability that a masked position is revealed in step k.
	Jump []float64
	// Stay [N+1] holds S_k = Π_{j<k}(1−p_j), the probability of being masked at the start of step
	// k; Stay[N] is the probability of being left masked.
	Stay []float64
	// Reveal [N] holds w_k = p_k·S_k, the probability of being revealed in step k.
	Reveal []float64
}

// Slack is the amount by which rounding may raise a probability above 1.
const Slack = 1e-9

// NewSteps computes the probabilities of a rule on a grid. It returns an error if Euler's
// probability is above 1, naming the step, if the rule needs a finite T or a positive δ that the
// grid does not have, or if the grid is outside the noise's range.
func NewSteps(rule Rule, noise Noise, g Grid) (Steps, error) {
	n := g.Steps()
	s := Steps{Grid: g, Rule: rule, Jump: make([]float64, n), Stay: make([]float64, n+1), Reveal: make([]float64, n)}
	if rule.Exact() {
		if rule.AtHit() && math.IsInf(g.Theta[0], 1) {
			return Steps{}, fault.Errorf("schedule", "T is infinite: the events of %s need a finite one", rule)
		}
		if rule.AtHit() && g.Theta[n] <= 0 {
			return Steps{}, fault.Errorf("schedule", "delta is 0: the rate that %s bounds is infinite there: give a positive delta", rule)
		}
		s.tweedie()
		return s, nil
	}
	if err := noise.check("T", g.Theta[0]); err != nil {
		return Steps{}, err
	}
	if err := noise.check("delta", g.Theta[n]); err != nil {
		return Steps{}, err
	}
	if math.IsInf(g.Theta[0], 1) && noise == Exp {
		return Steps{}, fault.Errorf("schedule", "T is infinite: %s in the time of the exp noise needs a finite one", rule)
	}
	s.Stay[0] = 1
	t := noise.Time(g.Theta[0])
	for k := range s.Jump {
		next := noise.Time(g.Theta[k+1])
		h := (t - next) * noise.rate(t)
		if noise == Exp {
			h = (g.Theta[k] - g.Theta[k+1]) / math.Expm1(g.Theta[k])
		}
		p := h
		switch rule {
		case RuleEuler:
			if h > 1+Slack {
				return Steps{}, fault.Errorf("schedule", "euler: step %d, from −log α = %.6g to %.6g, reveals with probability %.6g: use more steps or a larger delta", k, g.Theta[k], g.Theta[k+1], h)
			}
			p = min(h, 1)
		case RuleTauOne:
			p = h * math.Exp(-h)
		case RuleTauAny, RuleDMPM:
			p = -math.Expm1(-h)
		default:
			return Steps{}, fault.Errorf("schedule", "rule %q is not known", rule)
		}
		s.Jump[k] = p
		s.Reveal[k] = p * s.Stay[k]
		s.Stay[k+1] = (1 - p) * s.Stay[k]
		t = next
	}
	return s, nil
}

// tweedie needs only masked fractions: S_k = λ_k/λ_0. On a grid from λ = 1 this is λ_k, so a
// position is revealed in the step that contains its hitting time under the first-hitting sampler.
func (s *Steps) tweedie() {
	g := s.Grid
	for k := range s.Stay {
		s.Stay[k] = g.Lambda[k] / g.Lambda[0]
	}
	for k := range s.Jump {
		// α_{k+1} − α_k without cancellation near λ = 1, where α is small.
		rise := g.Lambda[k] - g.Lambda[k+1]
		if g.Lambda[k+1] > 0.5 && !math.IsInf(g.Theta[k], 1) {
			rise = math.Exp(-g.Theta[k+1]) * -math.Expm1(g.Theta[k+1]-g.Theta[k])
		}
		s.Jump[k] = rise / g.Lambda[k]
		s.Reveal[k] = rise / g.Lambda[0]
	}
}

// Left returns the probability that a position is masked after the last step.
func (s Steps) Left() float64 { return s.Stay[len(s.Stay)-1] }

// ExpectedCalls returns the exact expected number of non-empty steps over d free positions, Σ_k
// 1−(1−w_k)^d, for any rule, and the probability that some positions are left after them,
// 1−(1−S_N)^d. Rules that reveal one position per call make another number of calls.
func (s Steps) ExpectedCalls(d int) (calls, finish float64) {
	for _, w := range s.Reveal {
		calls += AtLeastOne(w, d)
	}
	return calls, AtLeastOne(s.Left(), d)
}

// AtLeastOne returns the probability that at least one of d independent events of probability w occurs.
func AtLeastOne(w float64, d int) float64 {
	if d == 0 {
		return 0
	}
	return -math.Expm1(float64(d) * math.Log1p(-min(w, 1)))
}
