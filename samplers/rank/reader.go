package rank

import (
	"errors"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// RankBy is a measure of the network's certainty at a position.
type RankBy string

// The scores.
const (
	// ByConfidence is the network's own probability of the drawn token, whatever distribution it
	// was drawn from, as in LLaDA.
	ByConfidence RankBy = "confidence"
	// ByMaskGIT is the probability with which the token was drawn, after temperature and
	// truncation, as in Dream; at temperature 0 it is that of temperature 1.
	ByMaskGIT RankBy = "maskgit-plus"
	// ByMargin is the difference of the two greatest of these probabilities.
	ByMargin RankBy = "margin"
	// ByEntropy is their negative entropy.
	ByEntropy RankBy = "entropy"
	// ByRandom chooses positions uniformly.
	ByRandom RankBy = "random"
	// ByLeftmost selects the first masks, like SDAR's sequential rule.
	ByLeftmost RankBy = "leftmost"
)

// tie is the distance below which two scores count as equal: a power of two.
const tie = 0x1p-40

// reader makes candidates from the tokens that the network or the engine draws, if these suffice,
// and otherwise from whole rows.
type reader struct {
	decoder *rankDecoder
	// top is the number of most probable tokens needed. calls counts the calls.
	top, calls int
	uniforms   []float64
	// rows reports whether whole rows are read. drawn draws from them, and network computes the
	// probabilities of [ByConfidence].
	rows    bool
	drawn   draw.Categorical
	network *draw.Categorical
	cold    bool // the temperature is 0
	// canvas is the index of the canvas to read in the call.
	canvas int
}

// begin prepares the reader of a decoder whose other fields are set.
func (r *reader) begin(d *rankDecoder) error {
	k, spec, how := d.kernel, d.canvas.Spec(), d.canvas.Categorical().Settings()
	r.decoder, r.cold = d, how.AtTemperature() == 0
	switch k.score {
	case ByConfidence, ByMaskGIT:
		if r.cold {
			r.top = 1
		}
	case ByMargin:
		r.top = 2
	case ByEntropy:
		r.top = 1
	}
	if _, ok := k.choosing.(boundedChoice); ok {
		r.top = max(r.top, 1)
	}
	if r.rows = k.needsRows(how); !r.rows {
		return nil
	}
	v := spec.Vocabulary
	if k.raw {
		v.Mask, v.Excluded = v.Columns, nil
	}
	v.Excluded = slices.Concat(v.Excluded, d.canvas.Categorical().Suppressed())
	all, err := draw.NewCategorical(v, draw.Settings{})
	if err != nil {
		return err
	}
	how.SuppressTokens = "" // they are excluded
	if r.drawn, err = all.With(how, d.canvas.Categorical().By()); err != nil {
		return err
	}
	v.Excluded = slices.Concat(v.Excluded, k.begin)
	r.network, err = draw.NewCategorical(v, draw.Settings{})
	return err
}

// ask asks about positions.
func (r *reader) ask(a *samplers.Ask, positions []int, theta float64) {
	row := samplers.AskRow{Positions: positions, Theta: theta}
	if !r.decoder.kernel.raw {
		r.uniforms = r.uniforms[:0]
		for _, l := range positions {
			r.uniforms = append(r.uniforms, r.decoder.draws.Call(l, r.calls))
		}
		row.Uniforms, a.Head, a.Top, a.WithRows = r.uniforms, samplers.HeadBest, r.top, r.rows
	}
	a.Rows = append(a.Rows, row)
	r.calls++
}

// read makes a candidate from the i-th position of the call.
func (r *reader) read(rows samplers.Rows, i, position int) (c candidate, err error) {
	d := r.decoder
	var b draw.Best
	if d.kernel.raw {
		b, err = r.drawn.Best(rows.Row(r.canvas, i), d.draws.Call(position, r.calls-1), r.top)
	} else {
		b, err = rows.Best(r.canvas, i)
	}
	if err != nil {
		return c, err
	}
	var row draw.Row
	if r.rows {
		row = rows.Row(r.canvas, i)
	}
	own, err := r.own(row)
	if err != nil {
		return c, err
	}
	if c = r.candidate(b, own, position); d.kernel.temper > 0 {
		// The greatest keys with Gumbel noise are a choice in proportion to e^key.
		c.key -= math.Log(-math.Log(d.draws.Order(position, r.calls)))
	}
	return c, nil
}

// own returns the network's probability of each token of a row, if that is the score and may differ
// from the probability that tokens are drawn with; nil otherwise.
func (r *reader) own(row draw.Row) (func(token int) float64, error) {
	if row.Len() == 0 || r.decoder.kernel.score != ByConfidence {
		return nil, nil
	}
	norm, err := r.network.LogSum(row)
	if errors.Is(err, draw.ErrNoMass) {
		err = nil // all tokens that may be drawn have confidence 0
	}
	return func(token int) float64 {
		if slices.Contains(r.decoder.kernel.begin, token) {
			return 0
		}
		return math.Exp(row.At(token) - norm)
	}, err
}

// rounded returns a score as used in comparisons: rows that differ only in the order of their
// tokens may differ by rounding.
func rounded(score float64) float64 { return math.Round(score*(1/tie)) * tie }

// candidate returns the candidate for what was drawn at a position.
func (r *reader) candidate(b draw.Best, own func(token int) float64, position int) candidate {
	c := candidate{position: position, token: b.Token, logP: b.LogP, entropy: b.Entropy, score: r.score(b, own), stable: r.decoder.seen[position].stable}
	c.key = rounded(c.score)
	if t := r.decoder.kernel.temper; t > 0 {
		c.key = c.score / t
	}
	return c
}

// score returns how sure the network is.
func (r *reader) score(b draw.Best, own func(token int) float64) float64 {
	switch score := r.decoder.kernel.score; {
	case score == ByRandom, score == ByLeftmost:
		return 0
	case own != nil:
		return own(b.Token)
	case score == ByMargin:
		margin := math.Exp(b.Top[0].LogP)
		if len(b.Top) > 1 {
			margin -= math.Exp(b.Top[1].LogP)
		}
		return margin
	case score == ByEntropy:
		return -b.Entropy
	case r.cold:
		return math.Exp(b.Top[0].LogP)
	}
	return math.Exp(b.LogP)
}
