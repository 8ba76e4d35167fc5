package rank

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/samplers"
)

// LLaDA2 is the sampler llada2.
var LLaDA2 = Decoder{read: newLLaDA2, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "llada2",
	Aliases: []string{"llada2.1"},
	Summary: "all confident positions, or a quota; can edit revealed tokens",
	Law: "As confidence, but a call reveals all positions with a score above threshold if they are at least the quota of the step, and otherwise as many as the quota. The quota is llada's for the length of a block; steps counts the steps of each block. " +
		"With editing-threshold, each call also replaces a token that was revealed in the current block if another has a probability above that threshold. A call then reveals at least at-least positions, instead of the quota. Calls go on until one changes nothing, at most post-steps of them without masks. " +
		"Changes the distribution. Attention between blocks is not causal here.",
	Calls:  "1 to d, or more with edits",
	Cost:   "At most steps (default 32) calls per block; with edits, at most d plus post-steps per block." + aheadCost,
	Source: "LLaDA2 and LLaDA2.1; dLLM, dllm/pipelines/llada2 and llada21.",
	Flags:  slices.Concat([]string{"lookahead", "threshold", "steps", "editing-threshold", "at-least", "post-steps"}, rankFlags),
	Edits:  true,
}}

// newLLaDA2 reads the options. The defaults are LLaDA2's.
func newLLaDA2(o *Options, k *kernel) (err error) {
	o.Threshold = cmp.Or(o.Threshold, 0.95)
	if edits := o.EditingThreshold > 0; edits {
		o.AtLeast, o.PostSteps = cmp.Or(o.AtLeast, 1), cmp.Or(o.PostSteps, 16)
		k.choosing = surelyChoice{o.Threshold, o.AtLeast, edits, o.PostSteps}
	} else {
		k.choosing = surelyChoice{threshold: o.Threshold, least: o.AtLeast}
		k.steps, k.ofLength = cmp.Or(k.steps, 32), true
	}
	o.Score, err = word("score", o.Score, thresholds...)
	return err
}

// surelyChoice commits all candidates above a threshold if they are at least the quota, which is of
// the length of the block, and otherwise as many as the quota. With edits it then continues until a
// call changes nothing, for at most polishes calls.
type surelyChoice struct {
	threshold float64
	least     int // replaces the quota; 0 for none
	edits     bool
	polishes  int
}

func (c surelyChoice) consider(b *blockRun) (int, bool) {
	return b.candidates, b.masked > 0 || c.edits && !b.idle && b.polished < c.polishes
}

// due returns the least number of candidates to commit, if there are as many.
func (c surelyChoice) due(b *blockRun) int {
	if c.least > 0 {
		return c.least
	}
	return max(b.quota(), 1)
}

func (c surelyChoice) choose(b *blockRun, best []candidate) []candidate {
	n := 0
	for n < len(best) && best[n].score > c.threshold {
		n++
	}
	return best[:min(max(n, c.due(b)), len(best))]
}

func (c surelyChoice) others(b *blockRun, best []candidate, considered int) (limits, bool) {
	x := limits{behind: best[len(best)-1], below: math.Inf(1)}
	if x.behind.score > c.threshold {
		x.below = math.Nextafter(c.threshold, math.Inf(1)) // at most the threshold
	}
	return x, len(c.choose(b, best)) == len(best) && len(best) >= min(c.due(b), considered)
}
