package match

import (
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// tiny is the size of a sum below which underflow loses digits.
const tiny = 1e-280

// mass returns the logarithm of the row's sum over classes, or its greatest logit: by exponentials
// minus a scale, or by logarithms if these are too small.
func (y *layer) mass(classes []int32) float64 {
	var sum float64
	greatest := math.Inf(-1)
	if y.weights != nil {
		for _, c := range classes {
			sum += y.weights[c]
		}
		if sum > tiny {
			return math.Log(sum) + y.scale
		}
	}
	for _, c := range classes {
		greatest = max(greatest, y.logs[c])
	}
	if y.weights == nil || math.IsInf(greatest, -1) {
		return greatest
	}
	sum = 0
	for _, c := range classes {
		sum += math.Exp(y.logs[c] - greatest)
	}
	return greatest + math.Log(sum)
}

// weigh sums the row of a position over the tokens of each class that is possible there.
func (j *joint) weigh(y *layer) error {
	possible := make([]bool, len(j.members))
	for i := range y.nodes {
		for _, a := range y.nodes[i].arcs {
			for _, c := range a.classes {
				possible[c] = true
			}
		}
	}
	if j.law.Settings().Truncates() && !j.cold {
		if err := j.truncate(y, possible); err != nil {
			return err
		}
	}
	y.logs = make([]float64, len(j.members))
	for c, members := range j.members {
		top, sum := math.Inf(-1), 0.0
		if y.logs[c] = top; !possible[c] {
			continue
		}
		for _, t := range members {
			x := y.row.At(int(t))
			if math.IsNaN(x) || math.IsInf(x, 1) {
				_, err := j.plain.Token(y.row, 0.5)
				return err
			}
			top = max(top, x)
		}
		if y.logs[c] = j.tempered(top); j.cold || math.IsInf(top, -1) {
			continue
		}
		for _, t := range members {
			sum += math.Exp(j.tempered(y.row.At(int(t)) - top))
		}
		y.logs[c] += math.Log(sum)
	}
	if y.weights = nil; j.cold {
		return nil
	}
	y.scale, y.weights = slices.Max(y.logs), make([]float64, len(y.logs))
	for c, x := range y.logs {
		y.weights[c] = math.Exp(x - y.scale)
	}
	return nil
}

// tempered divides a logit by the temperature.
func (j *joint) tempered(x float64) float64 {
	if j.cold {
		return x
	}
	return x / j.law.Settings().AtTemperature()
}

// truncate restricts a row to its possible tokens, and these to the ones that the settings keep.
func (j *joint) truncate(y *layer, possible []bool) error {
	kept := make([]float64, y.row.Len())
	for t := range kept {
		if kept[t] = math.Inf(-1); t < len(j.class) && possible[j.class[t]] {
			kept[t] = y.row.At(t)
		}
	}
	p := make([]float64, len(kept))
	if err := j.law.Probabilities(p, draw.Double(kept)); err != nil {
		return err
	}
	for t, x := range p {
		if x == 0 {
			kept[t] = math.Inf(-1)
		}
	}
	y.row = draw.Double(kept)
	return nil
}
