package likelihood

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// Form names a Monte-Carlo estimator. The expectation of every form but Plans and the protocols is
// the NELBO, L_∞, without bias.
type Form string

// The forms. M is the set of masked positions, d the number of free ones.
const (
	// Subsets draws k, stratified over 1..d, and M uniform among the subsets of k positions:
	// (d/k)·Σ_{l∈M} −log μ^l. It covers all times.
	Subsets Form = "k"
	// Lambda draws the masked fraction λ uniform on (0,1) and M given that it is not empty:
	// (1−(1−λ)^d)/λ·Σ. An unconditional M would give the same mean and an infinite variance.
	Lambda Form = "lambda"
	// Time draws times of the model's own noise, antithetic in pairs u and 1−u, and M as Lambda
	// does, weighted with −α'/(1−α). Masked fractions outside the noise's range get their share of
	// the draws, so the estimate covers all of (0,1).
	Time Form = "t"
	// Orders draws orders and hitting times of the first-hitting sampler: Σ −log μ along the chain,
	// d rows a draw.
	Orders Form = "orders"
	// ScoreEntropyForm is Lambda with the denoising score entropy of the network's unnormalised
	// scores in place of −log μ: Σ_a s − r·log s + r(log r − 1).
	ScoreEntropyForm Form = "score-entropy"
	// Plans is −log (1/K)Σ P(path) over K plans of a sampler, or K paths of a decoder without a
	// plan ([catalog.Sampler.ReplayPaths]): a bound on its −log P that decreases in K in
	// expectation. A draw is K plans.
	Plans Form = "plans"

	// The following compute the numbers that those projects report, with their truncation: see
	// [Protocols].
	MDLM  Form = "mdlm"  // MDLM's
	RADD  Form = "radd"  // RADD's
	SEDD  Form = "sedd"  // SEDD's
	LLaDA Form = "llada" // LLaDA's
)

// Forms lists the estimators, the default first, without the protocols.
func Forms() []Form { return []Form{Subsets, Lambda, Time, Orders, ScoreEntropyForm, Plans} }

// Protocols lists the estimators of public implementations.
func Protocols() []Form { return []Form{MDLM, RADD, SEDD, LLaDA} }

// forms describes how the estimators draw.
var forms = map[Form]struct {
	// draws is the default number of draws per window.
	draws int
	// strata reports whether the uniforms of a window's draws are stratified. group is the number of
	// consecutive draws that depend on each other, 0 for none; those of a group of two are antithetic.
	strata bool
	group  int
	// at appends a draw at a uniform; nil for draws that are made in another way.
	at func(d *drawer, u float64)
}{
	Subsets:          {16, true, 0, (*drawer).subset},
	Lambda:           {16, false, 0, func(d *drawer, u float64) { d.lambda(u, crossEntropy) }},
	Time:             {16, false, 2, (*drawer).time},
	Orders:           {draws: 16},
	ScoreEntropyForm: {16, false, 0, func(d *drawer, u float64) { d.lambda(u, scoreCost(u)) }},
	Plans:            {draws: 16},
	MDLM:             {1, true, 0, (*drawer).mdlm},
	RADD:             {1024, true, 0, func(d *drawer, u float64) { d.independent(u, 1/u, crossEntropy) }},
	SEDD:             {1000, false, 0, (*drawer).sedd},
	LLaDA:            {draws: 128, group: lladaBatch},
}

// Config configures an estimate.
type Config struct {
	// Form is the estimator; "" is Subsets.
	Form Form
	// Draws is the number of draws per window; 0 means the form's default: 16, or the protocol's
	// own number.
	Draws int
	// Plans is K, for Plans; 0 means 1. Sampler, which [FitsPlans] must accept, draws the plans; nil means
	// FHS.
	Plans   int
	Sampler *catalog.Sampler
	// Seed and a window's index determine its draws.
	Seed uint64
	// Confidence is the level of the intervals; 0 means 0.95.
	Confidence float64
}

// Result is the estimate for one window, in nats.
type Result struct {
	// Nats is the form's estimate. For networks with scores it is computed from the normalised
	// scores, except by SEDD and ScoreEntropyForm, which use the scores as they are.
	Nats estimate.Estimate
	// Price, for networks with scores, is the estimate of ∫ r·E Σ (c−1−log c) dt, the amount that
	// the mass c = Σ_a μ of the scores adds to the integrated score entropy. It is nil for other
	// networks and for forms that do not integrate over time. If the integral may have no limit,
	// its mean is NaN, and so is that of ScoreEntropyForm.
	Price *estimate.Estimate
	// Lower is the lower bound of Plans, or why there is none; nil for other forms.
	Lower *Lower
	// Deviation is the mean of |c − 1| over the rows, for networks with scores.
	Deviation float64
	// Rows counts network rows.
	Rows int
}

// Check returns an error if the configuration is invalid for a network with these facts.
func (c Config) Check(f Facts) error {
	form := c.form()
	_, known := forms[form]
	switch {
	case !known:
		return fault.Errorf("likelihood", "estimator %q: must be one of %s, or a protocol %s", form, Listed(Forms()), Listed(Protocols()))
	case c.Draws < 0:
		return fault.Errorf("likelihood", "%d draws: must be at least 1", c.Draws)
	case c.Plans < 0:
		return fault.Errorf("likelihood", "%d plans: must be at least 1", c.Plans)
	case form != Plans && (c.Plans != 0 || c.Sampler != nil):
		return fault.Errorf("likelihood", "a sampler and a number of plans are for the estimator %s", Plans)
	case f.BlockSize > 0 && form != Subsets && !(form == Plans && c.Sampler != nil && replays(c.Sampler)):
		return fault.Errorf("likelihood", "estimator %s: the network is block-causal, and is estimated block by block: must be %s, or %s of a decoder that is replayed", form, Subsets, Plans)
	case form == SEDD && f.Output != facts.LogScore:
		return fault.Errorf("likelihood", "the protocol %s needs scores; this network has %s", SEDD, f.Output)
	}
	_, err := schedule.ParseNoise(f.Noise)
	return err
}

// Listed joins the names of forms by commas.
func Listed(forms []Form) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(forms), "[]"), " ", ", ")
}

func (c Config) form() Form { return cmp.Or(c.Form, Subsets) }

// DrawsOr returns Draws, or the form's default if it is 0.
func (c Config) DrawsOr() int { return cmp.Or(c.Draws, forms[c.form()].draws) }

// RowsOf returns the greatest number of network rows for a window with d free positions.
func (c Config) RowsOf(d int) int {
	switch c.form() {
	case Orders:
		return c.DrawsOr() * d
	case Plans:
		return c.DrawsOr() * max(c.Plans, 1) * d
	}
	return c.DrawsOr()
}

// sample is one draw of an estimator: a range of asks and functions of their answers.
type sample struct {
	from, to int
	// value computes the draw's value; price its price, nil if it has none.
	value, price func(asks []Ask) float64
	// costs returns −log of each path's probability, for Plans.
	costs func(asks []Ask) []float64
}

// drawer makes the draws of one window.
type drawer struct {
	cfg    Config
	facts  facts.Facts
	noise  schedule.Noise
	target *Target
	stream draw.Stream
	mass   bool

	asks    []Ask
	samples []sample
	free    []int
	planned plan.Plan // reused by all plans
}

// Estimate estimates the windows ts, the first of which has the given index. The rows of all
// windows are requested together. A window's result depends on the configuration and the window's
// index, and in its last bits on the other windows of the call, because rows that share a call
// round differently. Equal calls give equal results.
func (e *Evaluator) Estimate(ctx context.Context, ts []Target, first uint64, c Config) ([]Result, error) {
	if err := c.Check(e.facts); err != nil {
		return nil, err
	}
	if c.Sampler != nil && replays(c.Sampler) {
		return e.replayPaths(ctx, ts, first, c)
	}
	noise, err := schedule.ParseNoise(e.facts.Noise)
	if err != nil {
		return nil, err
	}
	d := drawer{cfg: c, facts: e.facts, noise: noise}
	d.mass = e.facts.Output == facts.LogScore && c.form() != Plans || c.form() == ScoreEntropyForm
	begin := make([]int, len(ts)+1)
	rows := make([]int, len(ts)+1)
	for i := range ts {
		if err := e.Check(ts[i]); err != nil {
			return nil, err
		}
		d.target = &ts[i]
		d.stream.Reset(c.Seed, first+uint64(i))
		if e.facts.BlockSize > 0 {
			d.blocks(e)
			err = e.evalBlocks(ctx, d.target, d.asks[rows[i]:])
		} else {
			err = d.draw()
		}
		if err != nil {
			return nil, err
		}
		begin[i+1], rows[i+1] = len(d.samples), len(d.asks)
	}
	if e.facts.BlockSize == 0 {
		if err := e.Eval(ctx, d.asks); err != nil {
			return nil, err
		}
	}
	unresolved := false
	if d.mass && c.form() != SEDD && len(ts) > 0 {
		if unresolved, err = e.unresolvedTail(ctx, &ts[0]); err != nil {
			return nil, err
		}
	}
	out := make([]Result, len(ts))
	for i := range out {
		out[i] = d.result(d.samples[begin[i]:begin[i+1]], d.asks[rows[i]:rows[i+1]])
		if e.opts.Guidance != 0 {
			out[i].Rows *= 2
		}
		if !unresolved {
			continue
		}
		if c.form() == ScoreEntropyForm {
			out[i].Nats = notResolved(out[i].Nats)
		}
		if out[i].Price != nil {
			*out[i].Price = notResolved(*out[i].Price)
		}
	}
	return out, nil
}

// result computes an estimate from the answers.
func (d *drawer) result(samples []sample, asks []Ask) Result {
	values, prices := make([]float64, len(samples)), make([]float64, len(samples))
	priced := d.facts.Output == facts.LogScore
	for i, s := range samples {
		values[i] = s.value(d.asks[s.from:s.to])
		if s.price == nil {
			priced = false
		} else if priced {
			prices[i] = s.price(d.asks[s.from:s.to])
		}
	}
	out := Result{Nats: d.interval(values), Rows: len(asks)}
	if e := &out.Nats; e.Units > 1 && math.IsInf(e.SE, 1) && !math.IsInf(e.Mean, 0) && len(asks) > 0 && len(asks[0].Target.Free) == 1 {
		e.SE, e.Lo, e.Hi, e.Warnings = 0, e.Mean, e.Mean, nil // One position has one value.
	}
	if d.cfg.form() == Plans {
		var costs []float64
		for _, s := range samples {
			costs = append(costs, s.costs(d.asks[s.from:s.to])...)
		}
		out.Lower = lowerSide(costs, d.cfg.Confidence)
	}
	if priced {
		p := d.interval(prices)
		out.Price = &p
	}
	n := 0
	for _, a := range asks {
		for _, m := range a.LogMass {
			out.Deviation += math.Abs(math.Expm1(m))
			n++
		}
	}
	if n > 0 {
		out.Deviation /= float64(n)
	}
	if d.facts.Output != facts.LogScore {
		out.Deviation = 0
	}
	return out
}

// interval estimates the mean according to how the form's draws depend on each other.
func (d *drawer) interval(values []float64) estimate.Estimate {
	switch f := forms[d.cfg.form()]; {
	case f.strata:
		e := estimate.Strata(values, d.cfg.Confidence)
		if d.cfg.form() == RADD {
			e.Warnings = append(e.Warnings, "unbounded weights 1/λ have no finite variance: the interval is too narrow")
		}
		return e
	case f.group > 0:
		return estimate.Groups(values, f.group, d.cfg.Confidence)
	}
	return estimate.Mean(values, d.cfg.Confidence)
}
