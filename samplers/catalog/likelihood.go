package catalog

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
)

// Likelihood describes how −log P of a text under the sampler is computed, and for which of its
// scores, according to the [Sampler.Law] of each.
func (d Descriptor) Likelihood() string {
	var how []string
	scores := make(map[string][]string)
	add := func(score string, o Options) {
		s, err := New(o, samplers.Spec{})
		if err != nil {
			return // not one of its scores
		}
		text := likelihood(s.kernel.Law())
		if scores[text] == nil {
			how = append(how, text)
		}
		scores[text] = append(scores[text], score)
	}
	if !slices.Contains(d.Flags, "score") {
		add("", Options{Sampler: d.Name})
		text := strings.ToUpper(how[0][:1]) + how[0][1:] + "."
		if !strings.HasPrefix(how[0], "none") {
			text += " None in blocks, with corrections or guidance, or with banned words or a minimum length."
		}
		return text
	}
	for _, score := range []rank.RankBy{rank.ByConfidence, rank.ByMaskGIT, rank.ByMargin, rank.ByEntropy, rank.ByRandom, rank.ByLeftmost} {
		add("score "+string(score), Options{Sampler: d.Name, RankOptions: rank.Options{Score: score}})
	}
	add("temperature 0", Options{Sampler: d.Name, Draw: draw.Settings{Temperature: new(float64)}})
	var out []string
	for _, text := range how {
		out = append(out, "With "+strings.Join(scores[text], ", ")+": "+text+".")
	}
	return strings.Join(out, " ")
}

// likelihood describes how −log P is computed.
func likelihood(l samplers.Law) string {
	replayed := fmt.Sprintf("exact up to %d free positions, or in blocks of up to that many, by a replay on at most 2^d canvases", rank.MaxReplayed)
	switch {
	case l.Replay == samplers.ReplayOne:
		return "exact at any length, by a replay of as many rows as calls"
	case l.Replay == samplers.ReplayRandom:
		return replayed + ", and bounds by paths at any length"
	case l.Replay == samplers.ReplayMany:
		return replayed
	case !l.Planned:
		return "none, because " + l.Why
	case l.Fixed && l.OneByOne:
		return "exact at any length, from d rows"
	case l.Fixed:
		return fmt.Sprintf("exact if it has at most %d plans, by one call per group of each plan, and bounds by plans", plan.MaxListed)
	case l.LookBack:
		return "exact up to 14 free positions, from 2^d rows that are kept whole, and bounds by plans"
	}
	return "exact up to 16 free positions, from 2^d rows, and bounds by plans"
}
