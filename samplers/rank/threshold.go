package rank

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Threshold is the sampler threshold.
var Threshold = Decoder{read: newThreshold, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "threshold",
	Common:  true,
	Aliases: []string{"fast-dllm"},
	Summary: "all positions above a confidence threshold, and at least the most confident",
	Law: "As confidence, but a call reveals the most confident position and every other with a score of at least threshold. With rule=dream, a call considers only the quota of its step, an even share of the positions, plus as many as were refused before; calls go on while any is refused. " +
		"With rule=dllm, the quotas are dLLM's. Changes the distribution. Positions revealed in one call do not see each other; at a threshold near 1 that matters little.",
	Calls:  "1 to d",
	Cost:   "As many calls as the rows require; without quotas, at most d." + aheadCost,
	Source: "Wu et al., arXiv 2505.22618 (Fast-dLLM); cache=dual and prefix are its caches.",
	Flags:  slices.Concat([]string{"lookahead", "threshold", "rule", "steps"}, rankFlags),
}}

// newThreshold reads the options. The default threshold is that of Fast-dLLM's evaluation.
func newThreshold(o *Options, k *kernel) error {
	o.Threshold = cmp.Or(o.Threshold, defaultThreshold)
	k.choosing = thresholdChoice{o.Threshold, o.Rule}
	var errs [2]error
	if o.Rule != "" {
		_, errs[0] = word("rule", o.Rule, schedule.RoundDream, schedule.RoundDLLM)
		k.steps = cmp.Or(k.steps, samplers.DefaultSteps)
		if o.Rule == schedule.RoundDLLM {
			k.rounding = schedule.RoundDLLM
		}
	}
	o.Score, errs[1] = word("score", o.Score, thresholds...)
	return fault.Join("samplers", errs[:]...)
}

// thresholdChoice commits the best candidate and all others with at least a score. With quotas it
// considers only as many candidates as are due and those refused before.
type thresholdChoice struct {
	threshold float64
	rounding  schedule.Rounding // "" for no quotas
}

func (t thresholdChoice) consider(b *blockRun) (int, bool) {
	switch t.rounding {
	case schedule.RoundDream:
		return b.quota() + b.refused, b.calls < len(b.quotas) || b.refused > 0
	case schedule.RoundDLLM:
		n := b.masked
		for i := b.calls + 1; i < len(b.quotas); i++ {
			n -= b.quotas[i]
		}
		return n, b.masked > 0
	}
	return untilFilled(b)
}

func (t thresholdChoice) choose(_ *blockRun, best []candidate) []candidate {
	n := 1
	for n < len(best) && best[n].score >= t.threshold {
		n++
	}
	return best[:n]
}

func (t thresholdChoice) others(b *blockRun, best []candidate, considered int) (limits, bool) {
	x := limits{behind: best[len(best)-1], below: t.threshold}
	if len(best) == considered {
		x.below = math.Inf(1) // other candidates were not considered
	}
	return x, len(t.choose(b, best)) == len(best)
}
