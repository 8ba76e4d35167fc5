package rank

import (
	"slices"

	"mdmgen/samplers"
)

// EntropyBounded is the sampler entropy-bounded.
var EntropyBounded = Decoder{read: newEntropyBounded, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "entropy-bounded",
	Aliases: []string{"eb", "eb-sampler"},
	Summary: "as many positions as a bound on their total entropy allows",
	Law: "Positions are ordered by rising entropy, or by another score. A call reveals the longest prefix whose entropies, without the greatest, sum to at most gamma nats. That sum bounds the mutual information of the positions, and so the error of drawing them in one call. " +
		"With score=entropy, a call's positions depend on its rows, not on the tokens drawn from them. The entropy is that of the distribution from which the token is drawn; at temperature 0, it is computed at temperature 1.",
	Calls:  "1 to d",
	Cost:   "As many calls as the rows require, at most d. With gamma 0 it is d, except that positions of zero entropy are revealed together." + aheadCost,
	Source: "Ben-Hamu et al., arXiv 2505.24857.",
	Flags:  slices.Concat([]string{"lookahead", "gamma"}, rankFlags),
}}

// newEntropyBounded reads the options.
func newEntropyBounded(o *Options, k *kernel) (err error) {
	if o.Gamma == nil {
		o.Gamma = new(0.1)
	}
	k.choosing = boundedChoice{*o.Gamma}
	o.Score, err = word("score", o.Score, ByEntropy, ByConfidence, ByMaskGIT, ByMargin)
	return err
}

// boundedChoice commits the longest prefix of the best candidates whose entropies, without the
// greatest, sum to at most gamma.
type boundedChoice struct{ gamma float64 }

func (boundedChoice) consider(b *blockRun) (int, bool) { return b.candidates, b.masked > 0 }

func (c boundedChoice) choose(_ *blockRun, best []candidate) []candidate {
	var sum, greatest float64
	for n, x := range best {
		sum, greatest = sum+x.entropy, max(greatest, x.entropy)
		if n > 0 && sum-greatest > c.gamma+tie {
			return best[:n]
		}
	}
	return best
}
