// Package rank implements the decoders that reveal the positions about which the network is surest:
// those of LLaDA, Dream, Fast-dLLM and related programs. They are one decoder with different
// choices. [Replay] computes the probability that they give to a text, on any network.
package rank

import (
	"cmp"
	"math"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/schedule"
)

// kernel is that of the decoders that commit the positions about which the network is surest.
// One decoder implements them all: it scores candidates, which are masked positions, by their rows,
// decides how many are committed ([choosing]), and commits the tokens drawn there. The reveals
// depend on the rows, so there is no plan.
type kernel struct {
	score    RankBy
	choosing choosing
	// byToken reports whether scores depend on the drawn tokens, which are random.
	byToken bool
	// temper, if above 0, selects positions without replacement in proportion to e^(score/temper),
	// instead of in the order of their scores.
	temper float64
	// block is the length of a block; 0 is one block of the whole canvas. Blocks begin after a
	// prompt of prompt positions; −1 is the part before the first mask. inside restricts candidates
	// to masks of the block, without those before it.
	block, prompt int
	inside        bool
	// outsideKept is [Options.OutsideKept].
	outsideKept bool
	// The following determine the quotas of a block; steps are those of all blocks.
	rounding schedule.Rounding
	eps      float64
	cosine   bool
	binomial bool
	ofLength bool // quotas are of the block's length, not of its masks
	// wholeBlocks makes quotas shares of k.block positions, like SDAR's, until no mask is left.
	wholeBlocks bool
	steps       int
	editing     float64 // the probability above which a token replaces the one on the canvas; 0 for never
	stop        int     // the token that ends the sequence after a finished block, −1 for none
	begin       []int
	raw         bool
	// firstAlone reports whether a call may fill the first position of a block alone.
	firstAlone bool
	most       int // canvases of a call with look-ahead
}

func (k *kernel) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	r, err := k.start(c, d, free)
	if err == nil && k.most > 1 {
		return &lookahead{rankDecoder: r, most: k.most}, nil
	}
	return r, err
}

// start starts to fill a canvas without look-ahead.
func (k *kernel) start(c *samplers.Canvas, d *draw.Numbers, free []int) (*rankDecoder, error) {
	r := &rankDecoder{kernel: k, canvas: c, draws: d, masked: free, free: len(free)}
	var err error
	if r.block, err = layer.NewWindow(c, k.block, k.prompt, k.stop); err != nil {
		return nil, err
	}
	return r, r.reader.begin(r)
}

// ExpectedCalls counts the calls if quotas fix them.
func (k *kernel) ExpectedCalls(d int) (calls, finish float64, err error) {
	if _, quota := k.choosing.(quotaChoice); !quota || k.most > 1 || k.raw || k.binomial || k.firstAlone || k.stop >= 0 {
		return math.NaN(), math.NaN(), nil
	}
	blocks := layer.BlocksOf(d, k.block)
	for from := 0; from < d; from += cmp.Or(k.block, d) {
		for _, n := range k.quotas(min(cmp.Or(k.block, d), d-from), (k.steps+blocks-1)/blocks) {
			calls += float64(min(n, 1))
		}
	}
	return calls, 0, nil
}

// quotas returns the tokens of each call of a block with the given number of masks.
func (k *kernel) quotas(masks, steps int) []int {
	if !k.wholeBlocks {
		return schedule.Quotas(k.rounding, masks, steps, k.eps, k.cosine)
	}
	out := schedule.Quotas(k.rounding, k.block, steps, k.eps, k.cosine)
	for i, n := range out {
		if masks -= n; masks <= 0 {
			return out[:i+1]
		}
	}
	return out
}

// Law declares how the decoder is replayed.
func (k *kernel) Law() samplers.Law {
	_, excludes := k.choosing.(excluding)
	_, watches := k.choosing.(stableChoice)
	switch {
	case k.raw:
		return samplers.Unknown{Why: "MASK may be drawn, and drawn again"}
	case k.editing > 0:
		return samplers.Unknown{Why: "revealed tokens are replaced"}
	case k.binomial:
		return samplers.Unknown{Why: "the number of positions that a call reveals is random"}
	case watches:
		return samplers.Unknown{Why: "what a call reveals depends on the rows of earlier calls"}
	case k.byToken && k.temper > 0:
		return samplers.Unknown{Why: "positions are drawn with weights that depend on the tokens drawn at all others"}
	case k.byToken && !excludes:
		return samplers.Unknown{Why: "the number of revealed positions depends on the tokens drawn, which order them"}
	case k.byToken:
		return samplers.Replayed{By: samplers.ReplayMany, Block: k.block}
	case k.temper > 0, k.score == ByRandom:
		return samplers.Replayed{By: samplers.ReplayRandom, Block: k.block}
	}
	return samplers.Replayed{By: samplers.ReplayOne, Block: k.block}
}

// needsRows reports whether whole rows are needed, in addition to the tokens that
// [samplers.HeadBest] draws from them.
func (k *kernel) needsRows(d draw.Settings) bool {
	t := d.AtTemperature()
	_, watches := k.choosing.(stableChoice)
	return watches || k.raw || k.begin != nil || k.score == ByConfidence && (d.Truncates() || t != 0 && t != 1)
}

func (k *kernel) Head(d draw.Settings) samplers.Head {
	if k.needsRows(d) {
		return samplers.HeadRows
	}
	return samplers.HeadBest
}

func (k *kernel) MostCalls(_ samplers.Spec, d, length int) int {
	blocks := layer.BlocksOf(length, k.block)
	switch choice, _ := k.choosing.(surelyChoice); {
	case choice.edits:
		return d + blocks*choice.polishes
	case k.raw && k.rounding == schedule.RoundDream: // a mask may be drawn in each step
		return max(d, k.steps+blocks)
	}
	return d
}
