// Package likelihood computes how probable a text is under a masked diffusion model
// and one of its samplers. Values are in nats, sums over the free positions of a
// window; natural logarithms and float64 throughout.
//
// Three kinds of number come out of it, and their names keep them apart:
//
//   - exact: −log P of a sampler, the NELBO and the integrated score entropy of a
//     window with few free positions, from the network's rows on all 2^d subsets
//     of them ([Table], [Evaluator.Laws]);
//   - estimates of the NELBO by Monte Carlo, in several forms and by the protocols
//     of public implementations ([Evaluator.Estimate]);
//   - bounds −log (1/K) Σ P(path) over K plans of a sampler, whose expectation
//     falls with K from the NELBO to −log P.
//
// What makes the exact values possible: which positions are revealed when does
// not depend on the network, so that the probability of a text is a sum over
// ordered partitions of its positions, and a recursion over subsets adds them up, or
// over pairs of them where a fill mixes the rows of two calls. Decoders whose reveals do depend on
// it are replayed on the text ([Evaluator.Replay]).
//
// Formulas are those of "Sharp Convergence Rates for Masked Diffusion Models"
// (Algorithm 1, Proposition 2, Theorem 4) and of the papers that are named where
// they are used.
//
// An [Evaluator] belongs to one goroutine, as the model does that it asks.
package likelihood
