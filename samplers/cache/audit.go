package cache

import (
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// audit compares the rows that a sequence draws from with full rows. It does not change what is
// kept, nor any token, unless a uniform is within rounding of a boundary between two.
type audit struct {
	samplers.Audit
	// asked holds the sequence's own rows of the call. compared reports whether full rows follow them.
	asked      []samplers.AskRow
	compared   bool
	before     []int64
	kept, full []float64 // memory
}

// ask adds the full rows if the call is to be compared and does not compute all rows.
func (t *audit) ask(a *samplers.Ask, wanted bool) {
	t.asked = append(t.asked[:0], a.Rows...)
	t.Calls++
	if t.compared = wanted && a.Rows[0].Compute != nil; !t.compared {
		return
	}
	a.WithRows = true
	for _, r := range t.asked {
		r.Keep, r.Guess, r.Compute, r.Beside = 0, false, nil, true
		a.Rows = append(a.Rows, r)
		t.Rows += len(r.Positions)
	}
}

// take passes the decoder its rows, and compares those of the tokens that it drew.
func (t *audit) take(d *decoder, r samplers.Rows, e *samplers.Edit) error {
	t.before = append(t.before[:0], d.canvas.IDs()...)
	if err := d.Decoder.Take(r, e); err != nil {
		return err
	}
	for l, id := range t.before {
		if token := d.canvas.ID(l); int64(token) != id && d.canvas.HoldsToken(l) {
			if err := t.compare(r, l, token); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare adds the distances for a drawn token, from the last requested row of its position, which
// is the one that look-ahead uses.
func (t *audit) compare(r samplers.Rows, position, token int) error {
	for i := len(t.asked) - 1; i >= 0; i-- {
		j := slices.Index(t.asked[i].Positions, position)
		if j < 0 {
			continue
		}
		t.Tokens++
		if !t.compared {
			return nil
		}
		row, full, from := r.Row(i, j), r.Row(len(t.asked)+i, j), r.Categorical()
		tv, kl, ratio, err := t.distances(from, row, full, token)
		if how := from.Settings(); err == nil && (how.Truncates() || how.AtTemperature() == 0) {
			t.Untruncated = true
			_, kl, _, err = t.distances(untruncated(from), row, full, token)
		}
		if err != nil {
			return err
		}
		t.TV, t.KL, t.MostKL, t.LogRatio = t.TV+tv, t.KL+kl, max(t.MostKL, kl), max(t.LogRatio+ratio, -1e4)
		return nil
	}
	return nil // a token without a row
}

// untruncated returns from without the settings that exclude tokens by the row, which make KL
// infinite.
func untruncated(from *draw.Categorical) *draw.Categorical {
	s := from.Settings()
	s.TopK, s.TopP = 0, 0
	if s.AtTemperature() == 0 {
		s.Temperature = nil
	}
	out, _ := from.With(s, from.By()) // as valid as its own
	return &out
}

// distances returns TV and KL(p̃‖p), in nats, of the distributions drawn from two rows, and log
// p/p̃ of a token, where p̃ is of row and p of full.
func (t *audit) distances(from *draw.Categorical, row, full draw.Row, token int) (tv, kl, ratio float64, err error) {
	t.kept, t.full = slices.Grow(t.kept[:0], row.Len())[:row.Len()], slices.Grow(t.full[:0], row.Len())[:row.Len()]
	if err = from.Probabilities(t.kept, row); err == nil {
		err = from.Probabilities(t.full, full)
	}
	for a, q := range t.kept {
		if tv += math.Abs(q-t.full[a]) / 2; q > 0 {
			kl += q * math.Log(q/max(t.full[a], math.SmallestNonzeroFloat64))
		}
	}
	return tv, max(kl, 0), math.Log(t.full[token] / t.kept[token]), err
}
