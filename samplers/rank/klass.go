package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// KLASS is the sampler klass.
var KLASS = Decoder{read: newKLASS, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "klass",
	Summary: "all confident positions with stable rows, or a quota",
	Law: "As confidence, but a call reveals all positions with a score above threshold and a stable row. A row is stable if its Kullback–Leibler divergence from the row of the previous call was below kl-threshold nats in each of the last `history` calls on the block. " +
		"If there is no such position, the call reveals llada's quota of the step, the most confident positions first. Only masks inside the block are candidates, unless reach=before. Rows of the next block are watched too, so that their first divergence is known. Divergences are computed at temperature 1. " +
		"Changes the distribution.",
	Calls:  "1 to d",
	Cost:   "As many calls as the rows require, at most d. Calls return whole rows of two blocks.",
	Source: "Kim et al., arXiv 2511.05664 (KLASS), stable_confident_decode.",
	Flags:  slices.Concat([]string{"threshold", "kl-threshold", "history", "steps"}, rankFlags),
}}

// newKLASS reads the options, whose defaults are those of KLASS's program.
func newKLASS(o *Options, k *kernel) (err error) {
	o.Threshold, o.KLThreshold, o.History = cmp.Or(o.Threshold, defaultThreshold), cmp.Or(o.KLThreshold, 0.01), cmp.Or(o.History, 2)
	if k.block > 0 {
		o.Reach = cmp.Or(o.Reach, "inside")
		k.inside = o.Reach == "inside"
	}
	k.steps, k.rounding = cmp.Or(k.steps, samplers.DefaultSteps), schedule.RoundLLaDA
	k.choosing = stableChoice{o.Threshold, o.KLThreshold, o.History}
	o.Score, err = word("score", o.Score, thresholds...)
	return err
}

// stableChoice commits all candidates above a threshold whose rows were stable in the last history
// calls, or the quota if there are none.
type stableChoice struct {
	threshold, divergence float64
	history               int
}

func (stableChoice) consider(b *blockRun) (int, bool) { return b.candidates, b.masked > 0 }

func (c stableChoice) choose(b *blockRun, best []candidate) []candidate {
	var out []candidate
	for _, x := range best {
		if x.score > c.threshold && x.stable >= c.history && b.calls+1 >= c.history {
			out = append(out, x)
		}
	}
	if out == nil {
		return best[:min(max(b.quota(), 1), len(best))]
	}
	return out
}

// sight is a row of a call, with log Σ e^x over its tokens. stable counts the consecutive calls, up
// to this one, in which the position's row diverged by less than the limit.
type sight struct {
	row    draw.Row
	norm   float64
	stable int
}

// ahead appends to dst the masks of the next block, whose rows are watched, if the call computes
// them.
func (d *rankDecoder) ahead(dst []int) []int {
	if _, watches := d.kernel.choosing.(stableChoice); !watches || d.kernel.block == 0 || d.kernel.outsideKept || d.canvas.Spec().BlockSize > 0 {
		return dst
	}
	for l := d.block.To; l < min(d.block.To+d.kernel.block, d.canvas.Len()); l++ {
		if d.canvas.IsMasked(l) {
			dst = append(dst, l)
		}
	}
	return dst
}

// watch compares the rows of a call with those of the previous call.
func (d *rankDecoder) watch(rows samplers.Rows) error {
	choice, watches := d.kernel.choosing.(stableChoice)
	if !watches {
		return nil
	}
	seen := make(map[int]sight, len(d.asked))
	p := make([]float64, rows.Columns())
	for i, l := range d.asked {
		s := sight{row: rows.Row(0, i).Clone()}
		var err error
		if s.norm, err = d.reader.network.LogSum(s.row); err == nil {
			err = d.reader.network.Probabilities(p, s.row)
		}
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		if before, ok := d.seen[l]; ok && divergence(p, s, before) < choice.divergence {
			s.stable = before.stable + 1
		}
		seen[l] = s
	}
	d.seen = seen
	return nil
}

// divergence returns KL(p‖q) in nats, where p is the softmax of the row of and q that of the row from.
func divergence(p []float64, of, from sight) float64 {
	kl := from.norm - of.norm
	for a, x := range p {
		if x > 0 {
			kl += x * (of.row.At(a) - from.row.At(a))
		}
	}
	return math.Max(kl, 0)
}
