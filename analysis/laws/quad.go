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

// root finds a sign change of f in [a,b] by bisection with secant steps (Illinois);
// fa and fb, the values at the ends, have opposite signs.
func root(f func(float64) float64, a, b, fa, fb float64) float64 {
	for range 200 {
		c := (a*fb - b*fa) / (fb - fa)
		if !(c > min(a, b) && c < max(a, b)) {
			c = a + (b-a)/2
		}
		if math.Abs(b-a) <= 4e-16*max(math.Abs(a), math.Abs(b)) || c == a || c == b {
			return c
		}
		fc := f(c)
		if fc == 0 {
			return c
		}
		if (fc > 0) == (fb > 0) {
			b, fb = c, fc
			fa /= 2
		} else {
			a, fa = b, fb
			b, fb = c, fc
		}
	}
	return b
}

// AbsoluteIntegral integrates |f| over [a,b] for an f smooth enough for one panel. It locates the
// sign changes first: those between nodes of different sign, and pairs hidden between two nodes,
// found where a parabola through three nodes dips towards 0.
func AbsoluteIntegral(f func(float64) float64, a, b float64) float64 {
	x, weight := gaussRule()
	// The nodes, the ends, and up to one probe per dip.
	var t, v [2*gaussNodes + 4]float64
	n := 1
	t[0], v[0] = a, f(a)
	sum := 0.0
	for i := range x {
		t[n] = a + (b-a)*x[i]
		v[n] = f(t[n])
		sum += weight[i] * math.Abs(v[n])
		n++
	}
	t[n], v[n] = b, f(b)
	n++
	for i := 1; i+1 < n; i++ {
		if !(math.Abs(v[i]) <= math.Abs(v[i-1]) && math.Abs(v[i]) <= math.Abs(v[i+1])) || v[i-1]*v[i] <= 0 || v[i]*v[i+1] <= 0 {
			continue
		}
		p, fp, ok := dip(f, [3]float64{t[i-1], t[i], t[i+1]}, [3]float64{v[i-1], v[i], v[i+1]})
		if !ok {
			continue
		}
		at := i
		if p > t[i] {
			at = i + 1
		}
		copy(t[at+1:n+1], t[at:n])
		copy(v[at+1:n+1], v[at:n])
		t[at], v[at] = p, fp
		n++
		i++
	}
	from, out, changes, last := a, 0.0, false, 0
	for i := 1; i < n; i++ {
		if v[i] == 0 {
			continue
		}
		if v[last] != 0 && (v[last] > 0) != (v[i] > 0) {
			c := root(f, t[last], t[i], v[last], v[i])
			out += math.Abs(integrate(f, from, c))
			from, changes = c, true
		}
		last = i
	}
	if !changes {
		return sum * (b - a)
	}
	return out + math.Abs(integrate(f, from, b))
}

// dip searches for a point where f has the opposite sign, by successive parabolas, given three
// points at which |f| has a minimum.
func dip(f func(float64) float64, t, v [3]float64) (at, value float64, ok bool) {
	sign := math.Copysign(1, v[1])
	for range 6 {
		d0, d2 := t[0]-t[1], t[2]-t[1]
		e0, e2 := (v[0]-v[1])/d0, (v[2]-v[1])/d2
		curve := (e2 - e0) / (d2 - d0)
		slope := e0 - curve*d0
		if !(curve*sign > 0) {
			return 0, 0, false
		}
		move := -slope / (2 * curve)
		at = t[1] + move
		if !(at > t[0] && at < t[2]) || (v[1]-slope*slope/(4*curve))*sign > 0.5*math.Abs(v[1]) {
			return 0, 0, false
		}
		value = f(at)
		if value*sign < 0 {
			return at, value, true
		}
		if math.Abs(value) >= math.Abs(v[1]) || at == t[1] {
			return 0, 0, false
		}
		if at < t[1] {
			t[2], v[2] = t[1], v[1]
		} else {
			t[0], v[0] = t[1], v[1]
		}
		t[1], v[1] = at, value
	}
	return 0, 0, false
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
