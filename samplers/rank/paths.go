package rank

import (
	"context"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// ReplayPaths draws paths of a decoder without a plan to a text, and returns a logarithm in nats
// for each. The probability that the decoder gives to the text is the mean of e^x over paths, so
// −log of the mean of K of them bounds −log P in expectation. A path takes at most one row for each
// call. Choices that do not depend on drawn tokens are the decoder's own. If a call chooses by what
// it draws, one of the sets that it may reveal is drawn in proportion to its probability with the
// text's tokens, among at most [subset.MaxFree] positions.
func ReplayPaths(ctx context.Context, net samplers.Network, k samplers.Kernel, how draw.Settings, text Text, paths int, u *draw.Stream, batch int) ([]float64, error) {
	first, err := meet(net.Spec(), k, how, text)
	if err != nil {
		return nil, err
	}
	out := make([]float64, paths)
	going := make([]*met, paths)
	for i := range going {
		d, _ := first.fork()
		going[i] = &met{text: i, decoder: d}
	}
	for len(going) > 0 {
		going = slices.DeleteFunc(going, func(m *met) bool {
			if m.decoder.next() && !math.IsInf(m.logP, -1) {
				return false
			}
			if out[m.text] = m.logP; !m.decoder.gave(text.IDs) {
				out[m.text] = math.Inf(-1)
			}
			return true
		})
		for part := range slices.Chunk(going, max(batch, 1)) {
			rows, err := ask(ctx, net, part)
			if err == nil {
				err = ctx.Err()
			}
			for i := 0; err == nil && i < len(part); i++ {
				err = part[i].proceed(rows[i], text.IDs, u)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// proceed continues along one way.
func (m *met) proceed(rows samplers.Rows, text []int, u *draw.Stream) error {
	chosen, logP, err := m.decoder.pick(rows, text, u)
	if m.logP += logP; err != nil || math.IsInf(m.logP, -1) {
		return err
	}
	next, e := m.decoder.fork()
	next.reveal(chosen, m.decoder.considered, e)
	m.decoder = next
	return e.Err()
}

// pick draws one of the ways of a call. logP is the logarithm of the factor for the path's
// probability: the probability of the tokens if positions are chosen without them, otherwise the
// sum over all ways, of which one is drawn in proportion.
func (d *rankDecoder) pick(rows samplers.Rows, text []int, u *draw.Stream) (chosen []candidate, logP float64, err error) {
	if !d.kernel.byToken && (d.kernel.temper > 0 || d.kernel.score == ByRandom) {
		given, _, err := d.given(rows, text)
		for i := range given { // the greatest keys with Gumbel noise are a choice in proportion to e^key
			given[i].key -= math.Log(-math.Log(u.Float64()))
		}
		if err == nil {
			chosen = d.best(given)
		}
		return chosen, logTokens(chosen), err
	}
	logP = math.Inf(-1)
	var greatest float64
	err = d.ways(rows, text, func(way []candidate, p float64) error {
		logP = expsum.Add(logP, p)
		if x := p - math.Log(-math.Log(u.Float64())); chosen == nil || x > greatest {
			chosen, greatest = way, x
		}
		return nil
	})
	return chosen, logP, err
}
