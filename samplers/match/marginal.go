package match

import (
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers/draw"
)

// filterOwn filters the network's own rows, at temperature 1, and returns the joint of these.
func (j *joint) filterOwn(layers []layer) (*joint, error) {
	own := *j
	own.cold, own.law = false, j.plain
	for k := range layers[:len(layers)-1] {
		layers[k].row = layers[k].wanted.row // not truncated
	}
	return &own, own.filter(layers)
}

// shape computes the shaped rows.
func (j *joint) shape(layers []layer) error {
	own, err := j.filterOwn(layers)
	if err != nil {
		return err
	}
	before := []float64{0}
	var gain []float64
	for k := range layers[:len(layers)-1] {
		y := &layers[k]
		gain, before = y.through(before, layers[k+1].nodes)
		shaped := make([]float64, y.row.Len())
		y.with(shaped, j.class, gain, own.tempered)
		y.shaped = draw.Double(shaped)
	}
	return nil
}

// marginals computes the marginal probabilities of each position. At temperature 0 they are those of
// temperature 1.
func (j *joint) marginals(layers []layer) (err error) {
	warm := j
	if j.cold {
		if warm, err = j.filterOwn(layers); err != nil {
			return err
		}
	}
	before := []float64{0} // the logarithm of the rows' weight before each node
	var gain []float64
	for k := range layers[:len(layers)-1] {
		y := &layers[k]
		gain, before = y.through(before, layers[k+1].nodes)
		row := warm.row(y.row.Len())
		y.with(row, j.class, gain, warm.tempered)
		norm, err := j.plain.LogSum(draw.Double(row))
		if err != nil {
			return err
		}
		token := y.to.Token
		logP := warm.tempered(y.row.At(token)) + gain[j.class[token]] - norm
		if j.top > 0 {
			best, err := j.plain.Best(draw.Double(row), 0.5, j.top)
			if err != nil {
				return err
			}
			best.Token, best.LogP = token, y.to.LogP
			y.to.Best = best
		}
		switch {
		case j.cold:
			// The drawn token comes first, although it need not have the greatest marginal probability.
			y.to.Top = slices.DeleteFunc(y.to.Top, func(s draw.Scored) bool { return s.Token == token })
			y.to.Top = slices.Insert(y.to.Top, 0, draw.Scored{Token: token, LogP: logP})
			y.to.LogP = 0
		case j.marginal:
			y.to.LogP = logP
		}
		y.to.Top = y.to.Top[:min(j.top, len(y.to.Top))]
	}
	return nil
}

// with sets to to the scaled logits of the row plus the gain of their class.
func (y *layer) with(to []float64, class []int32, gain []float64, scaled func(float64) float64) {
	for t := range to {
		to[t] = math.Inf(-1)
		if t < len(class) && !math.IsInf(gain[class[t]], -1) {
			to[t] = gain[class[t]] + scaled(y.row.At(t))
		}
	}
}

// row returns memory for a row.
func (j *joint) row(columns int) []float64 {
	j.p = slices.Grow(j.p[:0], columns)[:columns]
	return j.p
}

// through returns, up to a constant, the logarithm of the other rows' weight for a token of each
// class, and of the weight before each of the next nodes.
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
			reached[a.to] = expsum.Add(reached[a.to], before[n]+y.mass(a.classes))
		}
	}
	for c, x := range gain {
		gain[c] = math.Log(x)
	}
	// Terms that underflow are summed in logarithms.
	for n := range y.nodes {
		for _, a := range y.nodes[n].arcs {
			other := before[n] + next[a.to].after - most
			for _, c := range a.classes {
				if other < -700 && gain[c] < -600 {
					gain[c] = expsum.Add(gain[c], other)
				}
			}
		}
	}
	return gain, reached
}
