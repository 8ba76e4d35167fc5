package rank

import (
	"errors"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// RankBy is a measure of how sure the network is of a position.
type RankBy string

// The scores.
const (
	// ByConfidence is the network's own probability of the drawn token, whatever it was
	// drawn from, as LLaDA has it.
	ByConfidence RankBy = "confidence"
	// ByMaskGIT is the probability that it was drawn with, after temperature and
	// truncation, as Dream has it: that of temperature 1 at temperature 0.
	ByMaskGIT RankBy = "maskgit-plus"
	// ByMargin is the difference between the two greatest of these probabilities, and
	// ByEntropy the negative entropy of them.
	ByMargin  RankBy = "margin"
	ByEntropy RankBy = "entropy"
	// ByRandom chooses positions uniformly.
	ByRandom RankBy = "random"
	// ByLeftmost takes the first masks, as SDAR's sequential rule does.
	ByLeftmost RankBy = "leftmost"
)

// tie is how close two scores must be to count as equal: a power of two.
const tie = 0x1p-40

// reader makes candidates of positions: of what the network or the engine draws where that
// is enough, else of whole rows.
type reader struct {
	decoder *rankDecoder
	// top is how many of the most probable tokens are wanted, calls counts the calls.
	top, calls int
	uniforms   []float64
	// rows is whether whole rows are read: drawn draws from them, network has the
	// probabilities of [ByConfidence].
	rows    bool
	drawn   draw.Categorical
	network *draw.Categorical
	cold    bool // the temperature is 0
	// canvas is which of the call's canvases is read.
	canvas int
}

// begin prepares a decoder that has all else.
func (r *reader) begin(d *rankDecoder) error {
	law, spec, how := d.law, d.canvas.Spec(), d.canvas.Categorical().Settings()
	r.decoder, r.cold = d, how.AtTemperature() == 0
	switch law.score {
	case ByConfidence, ByMaskGIT:
		if r.cold {
			r.top = 1
		}
	case ByMargin:
		r.top = 2
	case ByEntropy:
		r.top = 1
	}
	if _, ok := law.choosing.(boundedChoice); ok {
		r.top = max(r.top, 1)
	}
	if r.rows = law.needsRows(how); !r.rows {
		return nil
	}
	v := spec.Vocabulary
	if law.raw {
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
	v.Excluded = slices.Concat(v.Excluded, law.begin)
	r.network, err = draw.NewCategorical(v, draw.Settings{})
	return err
}

// ask asks about positions.
func (r *reader) ask(a *samplers.Ask, positions []int, theta float64) {
	row := samplers.AskRow{Positions: positions, Theta: theta}
	if !r.decoder.law.raw {
		r.uniforms = r.uniforms[:0]
		for _, l := range positions {
			r.uniforms = append(r.uniforms, r.decoder.draws.Call(l, r.calls))
		}
		row.Uniforms, a.Head, a.Top, a.RowsToo = r.uniforms, samplers.HeadBest, r.top, r.rows
	}
	a.Rows = append(a.Rows, row)
	r.calls++
}

// read makes a candidate of the i-th position of the call.
func (r *reader) read(rows samplers.Rows, i, position int) (c candidate, err error) {
	d := r.decoder
	var b draw.Best
	if d.law.raw {
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
	if c = r.candidate(b, own, position); d.law.temper > 0 {
		// The greatest of the keys with Gumbel noise are a choice in proportion to e^key.
		c.key -= math.Log(-math.Log(d.draws.Order(position, r.calls)))
	}
	return c, nil
}

// own is the network's probability of each token of a row, where that is the score and not what
// tokens are drawn with; nil otherwise.
func (r *reader) own(row draw.Row) (func(token int) float64, error) {
	if row.Len() == 0 || r.decoder.law.score != ByConfidence {
		return nil, nil
	}
	norm, err := r.network.LogSum(row)
	if errors.Is(err, draw.ErrNoMass) {
		err = nil // of those that may be drawn all have confidence 0
	}
	return func(token int) float64 {
		if slices.Contains(r.decoder.law.begin, token) {
			return 0
		}
		return math.Exp(row.At(token) - norm)
	}, err
}

// rounded is a score as it is compared: rows that are the same but for the order of their tokens
// differ by rounding.
func rounded(score float64) float64 { return math.Round(score*(1/tie)) * tie }

// candidate is a position with what was drawn there.
func (r *reader) candidate(b draw.Best, own func(token int) float64, position int) candidate {
	c := candidate{position: position, token: b.Token, logP: b.LogP, entropy: b.Entropy, score: r.score(b, own), stable: r.decoder.seen[position].stable}
	c.key = rounded(c.score)
	if t := r.decoder.law.temper; t > 0 {
		c.key = c.score / t
	}
	return c
}

// score is how sure the network is.
func (r *reader) score(b draw.Best, own func(token int) float64) float64 {
	switch score := r.decoder.law.score; {
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
