package samplers

import (
	"errors"
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// Score says how sure the network is of a position.
type Score string

// The scores.
const (
	// ScoreConfidence is the network's own probability of the drawn token, whatever it was
	// drawn from, as LLaDA has it.
	ScoreConfidence Score = "confidence"
	// ScoreMaskGIT is the probability that it was drawn with, after temperature and
	// truncation, as Dream has it: that of temperature 1 at temperature 0.
	ScoreMaskGIT Score = "maskgit-plus"
	// ScoreMargin is the difference between the two greatest of these probabilities, and
	// ScoreEntropy the negative entropy of them.
	ScoreMargin  Score = "margin"
	ScoreEntropy Score = "entropy"
	// ScoreRandom chooses positions uniformly.
	ScoreRandom Score = "random"
)

// tie is how close two scores must be to count as equal: a power of two.
const tie = 0x1p-40

// reader makes candidates of positions: of what the network or the engine draws where that
// is enough, else of whole rows.
type reader struct {
	decoder *ranked
	// top is how many of the most probable tokens are wanted, calls counts the calls.
	top, calls int
	uniforms   []float64
	// rows says that whole rows are read: drawn draws from them, network has the
	// probabilities of [ScoreConfidence].
	rows    bool
	drawn   draw.Categorical
	network *draw.Categorical
	cold    bool // the temperature is 0
}

// needsRows says that tokens that are drawn elsewhere, with what [HeadBest] tells of their
// rows, are not enough.
func (law *ranking) needsRows(d draw.Draw) bool {
	t := d.AtTemperature()
	return law.raw || law.begin != nil || law.score == ScoreConfidence && (d.Truncates() || t != 0 && t != 1)
}

func (law *ranking) head(d draw.Draw) Head {
	if law.needsRows(d) {
		return HeadRows
	}
	return HeadBest
}

// begin prepares a decoder that has all else.
func (r *reader) begin(d *ranked) error {
	law, spec, how := d.law, d.canvas.spec, d.canvas.law.Draw()
	r.decoder, r.cold = d, how.AtTemperature() == 0
	switch law.score {
	case ScoreConfidence, ScoreMaskGIT:
		if r.cold {
			r.top = 1
		}
	case ScoreMargin:
		r.top = 2
	case ScoreEntropy:
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
	v.Excluded = slices.Concat(v.Excluded, d.canvas.law.Suppressed())
	all, err := draw.NewCategorical(v, draw.Draw{})
	if err != nil {
		return err
	}
	how.SuppressTokens = "" // they are excluded
	if r.drawn, err = all.With(how, d.canvas.law.By()); err != nil {
		return err
	}
	v.Excluded = slices.Concat(v.Excluded, law.begin)
	r.network, err = draw.NewCategorical(v, draw.Draw{})
	return err
}

// ask asks about positions.
func (r *reader) ask(a *Ask, positions []int, theta float64) {
	row := AskRow{Positions: positions, Theta: theta}
	if !r.rows {
		r.uniforms = r.uniforms[:0]
		for _, l := range positions {
			r.uniforms = append(r.uniforms, r.decoder.draws.Call(l, r.calls))
		}
		row.Uniforms, a.Head, a.Top = r.uniforms, HeadBest, r.top
	}
	a.Rows = append(a.Rows, row)
	r.calls++
}

// read makes a candidate of the i-th position of the call.
func (r *reader) read(rows Rows, i, position int) (c candidate, err error) {
	d := r.decoder
	var row []float32
	var b draw.Best
	if r.rows {
		row = rows.Logits(0, i)
		b, err = r.drawn.Best(row, d.draws.Call(position, r.calls-1), r.top)
	} else {
		b, err = rows.Best(0, i)
	}
	if err != nil {
		return c, err
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
func (r *reader) own(row []float32) (func(token int) float64, error) {
	if row == nil || r.decoder.law.score != ScoreConfidence {
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
		return math.Exp(float64(row[token]) - norm)
	}, err
}

// rounded is a score as it is compared: rows that are the same but for the order of their tokens
// differ by rounding.
func rounded(score float64) float64 { return math.Round(score*(1/tie)) * tie }

// candidate is a position with what was drawn there.
func (r *reader) candidate(b draw.Best, own func(token int) float64, position int) candidate {
	c := candidate{position: position, token: b.Token, logP: b.LogP, entropy: b.Entropy, score: r.score(b, own)}
	c.key = rounded(c.score)
	if t := r.decoder.law.temper; t > 0 {
		c.key = c.score / t
	}
	return c
}

// score is how sure the network is.
func (r *reader) score(b draw.Best, own func(token int) float64) float64 {
	switch score := r.decoder.law.score; {
	case score == ScoreRandom:
		return 0
	case own != nil:
		return own(b.Token)
	case score == ScoreMargin:
		margin := math.Exp(b.Top[0].LogP)
		if len(b.Top) > 1 {
			margin -= math.Exp(b.Top[1].LogP)
		}
		return margin
	case score == ScoreEntropy:
		return -b.Entropy
	case r.cold:
		return math.Exp(b.Top[0].LogP)
	}
	return math.Exp(b.LogP)
}
