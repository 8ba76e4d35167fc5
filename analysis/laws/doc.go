// Package laws computes, by enumeration, everything that "Sharp Convergence
// Rates for Masked Diffusion Models" states about a small world: a distribution q0 over V^d
// sequences and a denoiser μ given as a table. It computes the law of the
// first-hitting sampler and of every grid sampler, the losses and identities of the
// paper's section 3, and both sides of its Theorems 1, 2, 4 and 5.
//
// It also computes the laws of samplers from related papers: DMPM ([World.FrozenLaw]),
// uniformization and MATU. [World.SamplerLaw] returns the law of a sampler of package samplers.
//
// Nothing is estimated: a value is exact up to rounding, or an integral with a relative
// quadrature error below 1e-10 (1e-9 for Theorem 1 with Euler's own rates; 1e-16 nats
// for values near 0), in worlds without time and in those whose μ changes like λ^p with
// p ≤ 1000. The cost of a grid step grows like (2V+1)^d, so worlds have a few thousand
// states at most.
//
// Notation is the paper's. Times are forward times t = −log α, λ = 1−α is the
// masked fraction, r(t) = 1/(e^t−1) the rate at which a masked position is revealed.
// Natural logarithms; values are in nats. A clean sequence is indexed in base V and a
// state in base V+1, MASK = V, position 0 the most significant digit.
//
// Values of this package may be shared between goroutines once they are constructed.
package laws
