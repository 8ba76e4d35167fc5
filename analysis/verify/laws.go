package verify

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/samplers/catalog"
)

// MaxLaw is the greatest number of tokens of texts whose laws are compared: each takes 2^d
// rows of both networks.
const MaxLaw = 10

// Where nothing else is said laws are of defaultLaw tokens, and of timedLaw for a
// time-conditioned network, which is asked for as many rows at each node of a quadrature.
const (
	defaultLaw = 8
	timedLaw   = 3
)

// Laws is how far apart First-Hitting's distributions of texts are on the two networks. Texts
// are drawn from it on the reference, and both probabilities of each are exact.
type Laws struct {
	Length int `json:"length"`
	Texts  int `json:"texts"`
	// TV estimates the total variation distance, the greatest difference of the probabilities
	// of any set of texts, KL is KL(P_reference‖P_model) in nats a text.
	TV estimate.Estimate `json:"tv"`
	KL estimate.Estimate `json:"kl"`
}

// lawLength is the number of tokens of a text, or why there is none.
func (c *comparison) lawLength() (d int, without string) {
	f := c.sides[0].Facts()
	d = c.cfg.LawLength
	switch {
	case f.Shift || c.sides[1].Facts().Shift:
		return 0, "the network has no row for the first position"
	case f.FixedLength && f.Length > MaxLaw:
		return 0, fmt.Sprintf("all texts have %d tokens, and exact laws at most %d", f.Length, MaxLaw)
	case d > 0:
		return d, ""
	case f.FixedLength:
		return f.Length, ""
	case f.TimeConditioned || c.sides[1].Facts().TimeConditioned:
		return min(timedLaw, f.Length), ""
	}
	return min(defaultLaw, f.Length), ""
}

// laws draws texts and works out their probabilities on both sides.
func (c *comparison) laws(ctx context.Context, out *Difference) error {
	if c.cfg.LawTexts == 0 {
		return nil
	}
	d, without := c.lawLength()
	if out.WithoutLaws = without; without != "" {
		return nil
	}
	reference := c.sides[0]
	fhs, err := catalog.New(catalog.Options{}, reference.Facts().Spec())
	if err != nil {
		return err
	}
	indices := make([]uint64, c.cfg.LawTexts)
	for i := range indices {
		indices[i] = uint64(i)
	}
	texts, _, err := reference.Sample(ctx, likelihood.Whole(make([]int, d)), fhs, c.cfg.Seed, indices)
	if err != nil {
		return err
	}
	targets := make([]likelihood.Target, len(texts))
	for i, ids := range texts {
		targets[i] = likelihood.Whole(ids)
	}
	var costs [2][]float64
	var quadrature float64
	for side, e := range c.sides {
		err := e.LawsOf(ctx, targets, []*catalog.Sampler{fhs}, func(_ int, laws []likelihood.Exact, _ int) error {
			costs[side] = append(costs[side], laws[0].NegLog)
			quadrature = max(quadrature, laws[0].QuadratureError)
			if side == 1 && c.cfg.Done != nil {
				c.cfg.Done()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	out.Laws = &Laws{
		Length: d, Texts: len(texts),
		TV: estimate.Mean(quality.VariationTerms(costs[0], costs[1]), c.cfg.Confidence).Within(0, 1),
		KL: estimate.Skewed(quality.DivergenceTerms(costs[0], costs[1]), c.cfg.Confidence).Within(0, math.Inf(1)),
	}
	if quadrature > 0 {
		out.Laws.TV.Warnings = append(out.Laws.TV.Warnings, fmt.Sprintf("log-probabilities are by quadrature, with an error of up to %.2g nats that the interval does not hold", quadrature))
	}
	return nil
}
