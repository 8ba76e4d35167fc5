package likelihood

import "gonum.org/v1/gonum/integrate/quad"

// quadrature is Gauss–Legendre on [0,1] with the matrix that integrates the
// polynomial through values at its nodes from 0 to each node.
type quadrature struct {
	// nodes and weights integrate polynomials up to degree 2Q−1 exactly.
	nodes, weights []float64
	// upTo[q·Q+j] is ∫_0^{node q} of the polynomial that is 1 at node j and 0 at the
	// others; coarse is the same for the least-squares polynomial of half the degree,
	// from which the error is told.
	upTo, coarse []float64
}

// newQuadrature makes the rule with q nodes.
//
// With P_n the Legendre polynomials on [−1,1] and w the weights there, the
// polynomial through f has the coefficients (2n+1)/2·Σ_j w_j P_n(x_j) f_j, and
// ∫_{−1}^x P_n = (P_{n+1}(x) − P_{n−1}(x))/(2n+1).
func newQuadrature(q int) quadrature {
	r := quadrature{
		nodes: make([]float64, q), weights: make([]float64, q),
		upTo: make([]float64, q*q), coarse: make([]float64, q*q),
	}
	quad.Legendre{}.FixedLocations(r.nodes, r.weights, 0, 1)
	p := make([][]float64, q) // p[j][n] is P_n at node j.
	for j, x := range r.nodes {
		p[j] = legendre(2*x-1, q+1)
	}
	for at := range q {
		for j := range q {
			sum := r.weights[j] * r.nodes[at] // n = 0
			if q/2 > 0 {
				r.coarse[at*q+j] = sum
			}
			for n := 1; n < q; n++ {
				sum += r.weights[j] * p[j][n] * (p[at][n+1] - p[at][n-1]) / 2
				if n < q/2 {
					r.coarse[at*q+j] = sum
				}
			}
			r.upTo[at*q+j] = sum
		}
	}
	return r
}

// legendre returns P_0(x) … P_n(x).
func legendre(x float64, n int) []float64 {
	p := make([]float64, n+1)
	p[0], p[1] = 1, x
	for k := 1; k < n; k++ {
		p[k+1] = (float64(2*k+1)*x*p[k] - float64(k)*p[k-1]) / float64(k+1)
	}
	return p
}
