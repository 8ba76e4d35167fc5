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
// sign changes first: those between nodes of different sign, and pairs hidden between two nodes,
// found where a parabola through three nodes dips towards 0.
func AbsoluteIntegral(f func(float64) float64, a, b float64) float64 {
	x, weight := gaussRule()
	t, v := [gaussNodes + 2]float64{0: a, gaussNodes + 1: b}, [gaussNodes + 2]float64{0: f(a), gaussNodes + 1: f(b)}
	sum := 0.0
	for i := range x {
		t[i+1] = a + (b-a)*x[i]
		v[i+1] = f(t[i+1])
		sum += weight[i] * math.Abs(v[i+1])
	}
	from, out := a, 0.0
	cut := func(low, high float64) {
		c := root(f, low, high)
		from, out = c, out+math.Abs(integrate(f, from, c))
	}
	last := 0
	for i := 1; i < len(t); i++ {
		if v[i] == 0 {
			continue
		}
		if v[last]*v[i] < 0 {
			cut(t[last], t[i])
		} else if i+1 < len(t) && v[i-1]*v[i] > 0 && v[i]*v[i+1] > 0 {
			if at, ok := dip(f, [3]float64(t[i-1:]), [3]float64(v[i-1:])); ok {
				cut(t[i-1], at)
				cut(at, t[i+1])
			}
		}
		last = i
	}
	if from == a {
		return sum * (b - a)
	}
	return out + math.Abs(integrate(f, from, b))
}

// dip searches for a point where f has the opposite sign, by successive parabolas, given three
// points at which |f| has a minimum.
func dip(f func(float64) float64, t, v [3]float64) (at float64, ok bool) {
	for range 6 {
		d0, d2 := t[0]-t[1], t[2]-t[1]
		curve := ((v[2]-v[1])/d2 - (v[0]-v[1])/d0) / (d2 - d0)
		slope := (v[0]-v[1])/d0 - curve*d0
		at = t[1] - slope/(2*curve)
		if !(curve*v[1] > 0 && at > t[0] && at < t[2] && at != t[1] && slope*slope/(4*curve)/v[1] >= 0.5) {
			break
		}
		value := f(at)
		if value*v[1] < 0 {
			return at, true
		}
		if at < t[1] {
			t[2], v[2] = t[1], v[1]
		} else {
			t[0], v[0] = t[1], v[1]
		}
		t[1], v[1] = at, value
	}
	return 0, false
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
