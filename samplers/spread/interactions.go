package spread

import (
	"math"
	"slices"

	"mdmgen/internal/fault"
)

// Interactions is the interaction profile I_λ(δ) of a network: the information, in nats, that
// revealing a position gives about one that is still masked at distance δ on the canvas,
//
//	I(i, j | x) = E_{a ~ μ^i(·|x)} KL(μ^j(·| x, x_i = a) ‖ μ^j(·| x)),
//
// averaged over canvases x with masked fraction λ. For rows of one distribution it is the
// conditional mutual information.
type Interactions struct {
	// Lambda holds masked fractions in increasing order, and Distance increasing distances of at least 1.
	Lambda   []float64 `json:"lambda"`
	Distance []float64 `json:"distance"`
	// Nats [λ][δ] is I, at least 0, SE its standard error, and Count the number of pairs in the mean.
	Nats  [][]float64 `json:"nats"`
	SE    [][]float64 `json:"se,omitempty"`
	Count [][]int     `json:"count,omitempty"`
}

// Assumed is the default profile without measurements: I decreases with the square of the distance
// and increases with the square of the masked fraction, about as on text.
var Assumed = func() *Interactions {
	in := &Interactions{Lambda: []float64{0.1, 0.3, 0.5, 0.7, 0.9}}
	for delta := 1.0; delta <= 1<<20; delta *= 2 {
		in.Distance = append(in.Distance, delta)
	}
	for _, lambda := range in.Lambda {
		var row []float64
		for _, delta := range in.Distance {
			row = append(row, 2*lambda*lambda/(delta*delta))
		}
		in.Nats = append(in.Nats, row)
	}
	return in
}()

// Check returns an error for an invalid interaction profile.
func (in *Interactions) Check() error {
	rising := func(x []float64, least float64) bool {
		return len(x) > 0 && x[0] >= least && slices.IsSorted(x) && !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	}
	if !rising(in.Lambda, 0) || !rising(in.Distance, 1) || len(in.Nats) != len(in.Lambda) {
		return fault.Errorf("spread", "interactions with %d masked fractions, %d distances and %d rows: fractions and distances must increase, and each fraction needs a row", len(in.Lambda), len(in.Distance), len(in.Nats))
	}
	for i, row := range in.Nats {
		if len(row) != len(in.Distance) || slices.ContainsFunc(row, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 1) }) {
			return fault.Errorf("spread", "interactions at masked fraction %v: must be %d finite numbers of at least 0", in.Lambda[i], len(in.Distance))
		}
	}
	return nil
}

// At returns I_λ(δ) in nats, interpolated linearly in λ and in the logarithms of δ and I. Beyond
// the last distance it decreases as between the last two, and beyond the other ends it is constant.
func (in *Interactions) At(lambda, delta float64) float64 {
	i, w := between(in.Lambda, lambda)
	low, high := along(in.Distance, in.Nats[i], delta), 0.0
	if w > 0 {
		high = along(in.Distance, in.Nats[i+1], delta)
	}
	return low*(1-w) + high*w
}

// between locates x between neighbours of an increasing list.
func between(list []float64, x float64) (i int, w float64) {
	if x <= list[0] {
		return 0, 0
	}
	if last := len(list) - 1; x >= list[last] {
		return last, 0
	}
	i, _ = slices.BinarySearch(list, x)
	i--
	return i, (x - list[i]) / (list[i+1] - list[i])
}

// least keeps logarithms finite.
const least = 1e-12

func along(distance, nats []float64, delta float64) float64 {
	n := len(distance)
	if n == 1 || delta <= distance[0] {
		return nats[0]
	}
	i, _ := slices.BinarySearch(distance, delta)
	i = min(i, n-1) - 1
	a, b := math.Log(max(nats[i], least)), math.Log(max(nats[i+1], least))
	slope := (b - a) / math.Log(distance[i+1]/distance[i])
	if delta > distance[n-1] {
		slope = min(slope, 0)
		return math.Exp(b + slope*math.Log(delta/distance[n-1]))
	}
	return math.Exp(a + slope*math.Log(delta/distance[i]))
}
