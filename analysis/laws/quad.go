package laws

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// gaussNodes is the order of the Gauss–Legendre rule on a panel.
const gaussNodes = 16

// gaussRule returns the nodes, ascending, and weights on (0,1).
var gaussRule = sync.OnceValues(func() (x, w []float64) {
	x, w = make([]float64, gaussNodes), make([]float64, gaussNodes)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	slices.Reverse(x) // gonum's are descending; the weights are symmetric
	return x, w
})

// root finds a sign change of f between low and high by bisection, to an error whose square is negligible.
func root(f func(float64) float64, low, high float64) float64 {
	for before := f(low); math.Abs(high-low) > 1e-10*math.Abs(low); {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if f(middle)*before > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// AbsoluteIntegral integrates |f| over [a,b] for an f smooth enough for one panel. It locates the
// sign changes first, on a grid eight times finer where |f| is below a quarter of its maximum: those
// between points of different sign, and pairs hidden between two points of one sign, from both of which f
// moves towards 0.
func AbsoluteIntegral(f func(float64) float64, a, b float64) float64 {
	x, weight := gaussRule()
	// f may be 0 at an end whatever its sign beside it; a change of sign nearer to it has an area of the
	// order of h².
	h := 1e-6 * (b - a)
	t, v := [gaussNodes + 2]float64{0: a + h, gaussNodes + 1: b - h}, [gaussNodes + 2]float64{0: f(a + h), gaussNodes + 1: f(b - h)}
	sum, most := 0.0, 0.0
	for i := range x {
		t[i+1] = a + (b-a)*x[i]
		v[i+1] = f(t[i+1])
		sum, most = sum+weight[i]*math.Abs(v[i+1]), max(most, math.Abs(v[i+1]))
	}
	from, out := a, 0.0
	cut := func(low, high float64) {
		c := root(f, low, high)
		from, out = c, out+math.Abs(integrate(f, from, c))
	}
	slope := func(x float64) float64 { return f(x+h) - f(x-h) }
	var search func(low, high, vlow, vhigh float64, depth int)
	search = func(low, high, vlow, vhigh float64, depth int) {
		changes := vlow*vhigh < 0
		switch {
		case !changes && min(math.Abs(vlow), math.Abs(vhigh)) > most/4:
		case depth > 0:
			middle := low + (high-low)/2
			v := f(middle)
			if v == 0 {
				v = vhigh
			}
			search(low, middle, vlow, v, depth-1)
			search(middle, high, v, vhigh, depth-1)
		case changes:
			cut(low, high)
		case slope(low)*vlow < 0 && slope(high)*vhigh > 0:
			if at := root(slope, low, high); f(at)*vlow < 0 {
				cut(low, at)
				cut(at, high)
			}
		}
	}
	last := 0
	for i := 1; i < len(t); i++ {
		if v[i] != 0 {
			search(t[last], t[i], v[last], v[i], 3)
			last = i
		}
	}
	if from == a {
		return sum * (b - a)
	}
	return out + math.Abs(integrate(f, from, b))
}

// integrate integrates f over one Gauss–Legendre panel.
func integrate(f func(float64) float64, a, b float64) float64 {
	x, weight := gaussRule()
	sum := 0.0
	for i := range x {
		sum += weight[i] * f(a+(b-a)*x[i])
	}
	return sum * (b - a)
}
