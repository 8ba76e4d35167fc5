package match

import (
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// marginals finds what is likely at each position by itself, and shapes the rows that are read. At
// temperature 0 likelihoods are those of temperature 1.
func (j *joint) marginals(layers []layer) error {
	if j.cold {
		warm := *j
		warm.cold, warm.law = false, j.plain
		if err := warm.filter(layers); err != nil {
			return err
		}
		return warm.marginals(layers)
	}
	before := []float64{0} // the logarithm of what the rows give before each node
	for k := range layers[:len(layers)-1] {
		y, next := &layers[k], layers[k+1].nodes
		y.gain, before = y.through(before, next)
		row, own := j.row(y.row.Len()), draw.Row{}
		if y.read {
			own = draw.Double(make([]float64, len(row)))
		}
		for t := range row {
			gain, x := math.Inf(-1), y.row.At(t)
			if t < len(j.class) {
				gain = y.gain[j.class[t]]
			}
			if row[t] = gain; !math.IsInf(gain, -1) {
				row[t] += j.tempered(x)
			}
			if own.Len() > 0 {
				own.Set(t, gain)
				if !math.IsInf(gain, -1) {
					own.Set(t, x+gain)
				}
			}
		}
		var err error
		if j.top > 0 {
			if y.to.Best, err = j.plain.Best(draw.Double(row), 0.5, j.top); err != nil {
				return err
			}
		}
		if y.norm, err = j.plain.LogSum(draw.Double(row)); err != nil {
			return err
		}
		y.shaped, y.tempered = own, j.tempered
	}
	return nil
}

// row is memory for a row.
func (j *joint) row(columns int) []float64 {
	j.p = slices.Grow(j.p[:0], columns)[:columns]
	return j.p
}

// through is the logarithm of what the other rows give a token of each class, of some size, and of what is
// before each of the next nodes.
func (y *layer) through(before []float64, next []node) (gain, reached []float64) {
	most := math.Inf(-1)
	for n := range y.nodes {
		for _, a := range y.nodes[n].arcs {
			most = max(most, before[n]+next[a.to].after)
		}
	}
	gain, reached = make([]float64, len(y.logs)), slices.Repeat([]float64{math.Inf(-1)}, len(next))
	for n := range y.nodes {
		for _, a := range y.nodes[n].arcs {
			other := math.Exp(before[n] + next[a.to].after - most)
			for _, c := range a.classes {
				gain[c] += other
			}
			reached[a.to] = add(reached[a.to], before[n]+y.mass(a.classes))
		}
	}
	for c, x := range gain {
		gain[c] = math.Log(x)
	}
	// What is less than the least number of float64 is summed by logarithms.
	for n := range y.nodes {
		for _, a := range y.nodes[n].arcs {
			other := before[n] + next[a.to].after - most
			for _, c := range a.classes {
				if other < -700 && gain[c] < -600 {
					gain[c] = add(gain[c], other)
				}
			}
		}
	}
	return gain, reached
}

// found hands out what was drawn at a position.
func (j *joint) found(y *layer, token int, logP float64) {
	out := y.to
	out.Token = token
	if y.gain == nil {
		out.LogP = logP
		return
	}
	own := y.tempered(y.row.At(token)) + y.gain[j.class[token]] - y.norm
	switch {
	case j.cold:
		// What was drawn is the first, though it need not be the likeliest by itself.
		out.Top = slices.DeleteFunc(out.Top, func(s draw.Scored) bool { return s.Token == token })
		out.Top = slices.Insert(out.Top, 0, draw.Scored{Token: token, LogP: own})
		out.LogP = 0
	case j.marginal:
		out.LogP = own
	default:
		out.LogP = logP
	}
	out.Top = out.Top[:min(j.top, len(out.Top))]
}
