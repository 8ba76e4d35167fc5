package rank

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Confidence is the sampler confidence.
var Confidence = Decoder{read: newConfidence, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "confidence",
	Common:  true,
	Aliases: []string{"llada", "low-confidence", "maskgit-plus"},
	Summary: "most confident positions first, a fixed number per call, as in LLaDA, Dream and dLLM",
	Law: "A token is drawn at every masked position. The positions with the greatest scores keep their tokens, the leftmost first among equals; the other draws are discarded. " +
		"Scores: confidence, the network's own probability of the drawn token (LLaDA); maskgit-plus, the probability with which it was drawn, after temperature and truncation (Dream); margin, the difference between the two greatest probabilities of that distribution; entropy, its negative entropy; random; leftmost, the first masks. " +
		"At temperature 0, scores are computed at temperature 1. Changes the distribution: a probable token is more likely to be kept, so early calls reveal the easy positions. " +
		"Positions per call: llada, ⌊n/N⌋, and one more in the first n mod N steps; dream, ⌊m(1−t'/t)⌋ of m masked positions, t from 1 to eps, and all in the last step; dllm, m(α(s)−α(t))/(1−α(t)), rounded half to even. " +
		"With block-length, blocks are filled one after the other, and masks before a block are candidates too. The steps are divided by the number of blocks, rounded up.",
	Calls:  "steps that reveal something, at most d",
	Cost:   "One network call per step that reveals something: min(N, d). Calls of a rule that can reveal nothing are not made, and are counted separately. With guidance, two canvases per call. With score=random, a call computes only the rows of the positions that it reveals." + aheadCost,
	Source: "Chang et al., arXiv 2202.04200 (MaskGIT); Nie et al., arXiv 2502.09992, generate.py (LLaDA); Ye et al., arXiv 2508.15487, generation_utils.py (Dream); Cheng et al., arXiv 2510.06303, generate.py (SDAR); dLLM, dllm/core/samplers/mdlm.py.",
	Flags:  slices.Concat([]string{"lookahead", "rule", "steps", "schedule", "transfer", "eps", "alg-temp", "columns"}, rankFlags),
}}

// newConfidence reads the options.
func newConfidence(o *Options, k *kernel) (err error) {
	k.steps = cmp.Or(k.steps, samplers.DefaultSteps)
	o.Rule = cmp.Or(o.Rule, schedule.RoundLLaDA)
	switch o.Rule {
	case schedule.RoundDream:
		o.Eps = cmp.Or(o.Eps, 1e-3)
	case schedule.RoundDLLM:
		o.Schedule, o.Transfer = cmp.Or(o.Schedule, "linear"), cmp.Or(o.Transfer, "rounded")
	}
	k.rounding, k.eps = o.Rule, o.Eps
	k.cosine, k.binomial = o.Schedule == "cosine", o.Transfer == "binomial"
	k.choosing = quotaChoice{k.rounding, k.eps}
	o.Score, err = word("score", o.Score, ByConfidence, ByMaskGIT, ByMargin, ByEntropy, ByRandom, ByLeftmost)
	return err
}

// quotaChoice commits a quota in each call.
type quotaChoice struct {
	rounding schedule.Rounding
	eps      float64
}

func (q quotaChoice) consider(b *blockRun) (int, bool) {
	if q.rounding == schedule.RoundDream {
		// A committed MASK is still a mask.
		return schedule.DreamQuota(b.calls, b.steps, b.masked, q.eps), b.calls < b.steps
	}
	return b.quota() + b.refused, b.calls < len(b.quotas) || b.refused > 0
}

func (quotaChoice) choose(_ *blockRun, best []candidate) []candidate { return best }

func (quotaChoice) others(_ *blockRun, best []candidate, _ int) (limits, bool) {
	return limits{behind: best[len(best)-1], below: math.Inf(1)}, true
}
