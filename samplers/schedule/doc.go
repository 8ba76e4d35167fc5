// Package schedule decides when masked positions are revealed and how many at a time, as far as
// that does not depend on the network: noise ([Noise]), grids of times ([Grid]), the probabilities
// of their steps ([Steps]), sizes of groups ([Sizes]), orders ([Order]) and quotas of decoders
// ([Quotas]).
//
// Time is θ = −log α in nats throughout, in [0, ∞], and decreases as a sampler runs; the masked
// fraction is λ = 1 − α = 1 − e^(−θ), in [0, 1]. The paper is "Sharp Convergence Rates for Masked
// Diffusion Models". Values may be shared by goroutines as long as none of them changes. Of the module, the package imports only the error type.
package schedule
