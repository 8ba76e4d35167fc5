package rank

import (
	"cmp"
	"slices"

	"mdmgen/samplers"
)

// LocalLeap is the sampler localleap.
var LocalLeap = Decoder{read: newLocalLeap, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRank,
	Name:    "localleap",
	Summary: "threshold with a lower threshold near confident positions",
	Law:     "As threshold, but a position within radius of an anchor needs a score of only relaxed-threshold. An anchor is a masked position with a score of at least threshold in this call. Changes the distribution.",
	Calls:   "1 to d",
	Cost:    "As many calls as the rows require, at most d." + aheadCost,
	Source:  "LocalLeap, generate.py.",
	Flags:   slices.Concat([]string{"lookahead", "threshold", "relaxed-threshold", "radius"}, rankFlags),
}}

// newLocalLeap reads the options.
func newLocalLeap(o *Options, k *kernel) (err error) {
	o.Threshold, o.RelaxedThreshold = cmp.Or(o.Threshold, defaultThreshold), cmp.Or(o.RelaxedThreshold, 0.75)
	o.Radius = cmp.Or(o.Radius, 4)
	k.choosing = leapChoice{o.Threshold, o.RelaxedThreshold, o.Radius}
	o.Score, err = word("score", o.Score, thresholds...)
	return err
}

// leapChoice commits the best candidate, the anchors, which have at least the threshold, and the
// candidates within the radius of an anchor that have at least the relaxed threshold.
type leapChoice struct {
	threshold, relaxed float64
	radius             int
}

func (leapChoice) consider(b *blockRun) (int, bool) { return b.candidates, b.masked > 0 }

func (c leapChoice) choose(_ *blockRun, best []candidate) []candidate {
	var anchors []int
	for _, x := range best {
		if x.score >= c.threshold {
			anchors = append(anchors, x.position)
		}
	}
	out := best[:1:1]
	for _, x := range best[1:] {
		near := x.score >= c.threshold
		for _, l := range anchors {
			near = near || x.score >= c.relaxed && max(l-x.position, x.position-l) <= c.radius
		}
		if near {
			out = append(out, x)
		}
	}
	return out
}

func (c leapChoice) others(b *blockRun, best []candidate, _ int) (limits, bool) {
	x := limits{behind: best[0], below: c.threshold, radius: c.radius, belowNearby: min(c.threshold, c.relaxed)}
	for _, y := range best {
		if y.score >= c.threshold {
			x.near = append(x.near, y.position)
		}
	}
	return x, len(c.choose(b, best)) == len(best)
}
