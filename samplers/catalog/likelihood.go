package catalog

import (
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
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
		text := s.kernel.Law().Likelihood()
		if scores[text] == nil {
			how = append(how, text)
		}
		scores[text] = append(scores[text], score)
	}
	if d.Kind != samplers.ByRank {
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
