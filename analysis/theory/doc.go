// Package theory computes the results of "Sharp Convergence Rates for Masked Diffusion Models" that
// need no world: closed forms for constructions of any length, the terms of its bounds, and the
// collision bound of a plan.
//
// The notation is that of package laws: forward times t = −log α from T down to δ, masked fraction
// λ = 1−α, natural logarithms. All functions are pure.
package theory
