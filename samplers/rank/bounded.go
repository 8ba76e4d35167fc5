package rank

import (
	"slices"

	"mdmgen/samplers"
)

// EntropyBounded is the sampler entropy-bounded.
var EntropyBounded = Decoder{read: newEntropyBounded, Descriptor: samplers.Descriptor{
	Name:    "entropy-bounded",
	Aliases: []string{"eb", "eb-sampler"},
	Summary: "as many positions as a bound on their total entropy allows",
	Law: "A call reveals the longest sequence of positions, in the order of rising entropy or of another score, whose entropies sum to at most gamma nats, the greatest left out. Their mutual information is at most that, so that the error of drawing them at once is bounded. " +
		"With the score entropy positions do not depend on what is drawn; which are revealed when depends on the rows. Entropies are of what tokens are drawn from, at temperature 0 of temperature 1.",
	Calls:  "1 to d",
	Cost:   "As many calls as the rows require, at most d: d with gamma 0, but where a position has no entropy." + aheadCost,
	Source: "Ben-Hamu et al., arXiv 2505.24857.",
	Flags:  slices.Concat([]string{"lookahead", "gamma"}, rankFlags),
}}

// newEntropyBounded reads the options.
func newEntropyBounded(o *Options, law *rankLaw) (err error) {
	if o.Gamma == nil {
		o.Gamma = new(0.1)
	}
	law.choosing = boundedChoice{*o.Gamma}
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
