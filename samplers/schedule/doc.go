// Package schedule decides when masked positions are revealed and how many at a time, as far as
// that does not depend on the network: noise ([Noise]), grids of times ([Grid]), the probabilities
// of their steps ([Steps]), sizes of groups ([Sizes]), orders ([Order]), quotas of decoders ([Quotas]), and the best choices for a loss profile
// ([BestSizes], [BestGrid]).
//
// Time is θ = −log α in nats throughout, in [0, ∞], and decreases as a sampler runs; the masked
// fraction is λ = 1 − α = 1 − e^(−θ), in [0, 1]. Losses are in nats per position, costs in nats per
// sequence. The paper is "Sharp Convergence Rates for Masked Diffusion Models". Values may be shared by
// goroutines as long as none of them changes. Of the module, the package imports only the error type.
package schedule
