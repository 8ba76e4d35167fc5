package rank

import (
	"cmp"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Factor is the sampler factor.
var Factor = Decoder{read: newFactor, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "factor",
	Summary: "threshold that rises with the number of positions that a call reveals",
	Law: "As confidence, but the number of positions depends on their scores c in decreasing order. The first position is always revealed. The r-th is revealed if c ≥ 1 − F/(r+1), up to the first that fails. If only the last position of all fails, it is revealed too (Fast-dLLM), except with rule=dllm. " +
		"Changes the distribution.",
	Calls:  "1 to d",
	Cost:   "As many calls as the rows require, at most d." + aheadCost,
	Source: "Wu et al., arXiv 2505.22618 (Fast-dLLM), get_transfer_index_dynamic; dLLM, dllm/pipelines/fastdllm.",
	Flags:  slices.Concat([]string{"lookahead", "factor", "rule"}, rankFlags),
}}

// newFactor reads the options.
func newFactor(o *Options, k *kernel) error {
	var errs [2]error
	o.Rule, errs[0] = word("rule", o.Rule, schedule.RoundLLaDA, schedule.RoundDLLM)
	o.Factor = cmp.Or(o.Factor, 1)
	k.choosing = factorChoice{o.Factor, o.Rule == schedule.RoundDLLM}
	o.Score, errs[1] = word("score", o.Score, thresholds...)
	return fault.Join("samplers", errs[:]...)
}

// factorChoice accepts the best candidate, and the r-th best for r ≥ 2 if its score is at least 1 −
// f/(r+1), up to the first that fails. If only the last candidate fails it is accepted, unless strict.
type factorChoice struct {
	factor float64
	strict bool
}

func (factorChoice) consider(b *blockRun) (int, bool) { return untilFilled(b) }

func (f factorChoice) choose(_ *blockRun, best []candidate) []candidate {
	n := 1
	for n < len(best) && best[n].score >= 1-f.factor/float64(n+2) {
		n++
	}
	if n == len(best)-1 && !f.strict {
		n++ // upstream's loop ends there, whatever the score of the last
	}
	return best[:n]
}

func (f factorChoice) others(b *blockRun, best []candidate, considered int) (limits, bool) {
	n := len(best)
	if n == considered {
		return limits{}, len(f.choose(b, best)) == n
	}
	alone := factorChoice{f.factor, true} // with and without the exception the same sets are chosen, except sets of all and of all but one
	return limits{behind: best[n-1], below: 1 - f.factor/float64(n+2)}, len(alone.choose(b, best)) == n && (f.strict || n < considered-1)
}
