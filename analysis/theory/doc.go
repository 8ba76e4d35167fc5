// Package theory holds what "Sharp Convergence Rates for Masked Diffusion Models"
// lets one compute without a world: closed forms for constructions of any length,
// the terms of its bounds, and the collision bound of a plan.
//
// Notation as in package laws: forward times t = −log α falling from T to δ, masked
// fraction λ = 1−α, natural logarithms. All functions are pure.
package theory
