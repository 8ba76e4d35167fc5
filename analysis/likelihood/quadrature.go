package likelihood

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// quadrature is a rule over λ in [0,1].
type quadrature struct {
	// nodes are values of λ, ascending; weights integrate over [0,1].
	nodes, weights []float64
	// upTo[q·Q+j] is the weight of node j in the integral from 0 to node q, nil for rules without
	// it.
	upTo []float64
}

// gauss returns the Gauss–Legendre rule with q nodes, exact for polynomials up to degree 2q−1.
func gauss(q int) quadrature {
	r := quadrature{nodes: make([]float64, q), weights: make([]float64, q)}
	quad.Legendre{}.FixedLocations(r.nodes, r.weights, 0, 1)
	return r
}

// endPower is the exponent p in fejer.
const endPower = 3

// fejer returns Fejér's second rule with n−1 nodes in u, λ = (1−(1−u)^p)^start. A network's rows
// are functions of sines and cosines of σ = −log(1−λ), so they oscillate without end as λ
// approaches 1; the substitution gives that end no weight. A start above 1 does the same at the
// other end. Every second node is a node of the rule with n/2, so that rule gives the error without
// more rows.
//
// With x = 2u−1 = −cos θ and nodes at θ_j = jπ/n, the polynomial through f is
// Σ_k b_k U_{k−1}(cos θ), b_k = (2/n)·Σ_j sin θ_j sin kθ_j f_j, and ∫ U_{k−1} dx = T_k/k.
func fejer(n, start int) quadrature {
	if r, ok := fejers.Load([2]int{n, start}); ok {
		return r.(quadrature)
	}
	r := newFejer(n, float64(start))
	fejers.Store([2]int{n, start}, r)
	return r
}

// fejers caches the rules: computing one takes O(n³) operations.
var fejers sync.Map

func newFejer(n int, start float64) quadrature {
	q := n - 1
	r := quadrature{nodes: make([]float64, q), weights: make([]float64, q), upTo: make([]float64, q*q)}
	// cos and sin of multiples of π/n.
	sines, cosines := make([]float64, 2*n), make([]float64, 2*n)
	for j := range sines {
		sines[j], cosines[j] = math.Sincos(float64(j) * math.Pi / float64(n))
	}
	density := make([]float64, q) // dλ/du
	for j := range q {
		rest := math.Pow(math.Cos(float64(j+1)*math.Pi/float64(n)/2), 2) // 1−u
		lambda := 1 - math.Pow(rest, endPower)
		r.nodes[j] = math.Pow(lambda, start)
		density[j] = endPower * math.Pow(rest, endPower-1) * start * math.Pow(lambda, start-1)
	}
	b := make([]float64, n)
	for j := range q {
		// b_k of the function that is 1 at node j, over 2 for dx = 2du, and over k.
		for k := 1; k < n; k++ {
			b[k] = sines[j+1] * sines[k*(j+1)%(2*n)] / float64(n) * density[j] / float64(k)
		}
		for k := 1; k < n; k += 2 {
			r.weights[j] += 2 * b[k]
		}
		// u increases with θ: T_k goes from 1 at u = 0, θ = 0 to cos kθ.
		for at := range q {
			var sum float64
			angle := 0
			for k := 1; k < n; k++ {
				if angle += at + 1; angle >= 2*n {
					angle -= 2 * n
				}
				sum += b[k] * (1 - cosines[angle])
			}
			r.upTo[at*q+j] = sum
		}
	}
	return r
}

// between maps the rule to λ in [low,high]; upTo then integrates from low.
func (r quadrature) between(low, high float64) quadrature {
	out := quadrature{nodes: slices.Clone(r.nodes), weights: slices.Clone(r.weights), upTo: slices.Clone(r.upTo)}
	for j := range out.nodes {
		out.nodes[j] = low + (high-low)*out.nodes[j]
		out.weights[j] *= high - low
	}
	for j := range out.upTo {
		out.upTo[j] *= high - low
	}
	return out
}
