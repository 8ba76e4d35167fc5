// Package likelihood computes how probable a text is under a masked diffusion model
// and one of its samplers. Values are in nats, sums over the free positions of a
// window; natural logarithms and float64 throughout.
//
// The package computes three kinds of numbers and names them apart:
//
//   - exact: −log P of a sampler, the NELBO and the integrated score entropy of a
//     window with few free positions, from the network's rows on all 2^d subsets
//     of them ([Table], [Evaluator.Laws]);
//   - estimates of the NELBO by Monte Carlo, in several forms and by the protocols
//     of public implementations ([Evaluator.Estimate]);
//   - bounds −log (1/K) Σ P(path) over K plans of a sampler, whose expectation
//     decreases in K from the NELBO to −log P.
//
// The exact values rely on one fact: which positions are revealed when does not
// depend on the network. So the probability of a text is a sum over ordered partitions
// of its positions, computed by a recursion over subsets (package subset). Decoders whose
// reveals depend on the network are replayed on the text ([Evaluator.Replay]).
//
// Formulas are from "Sharp Convergence Rates for Masked Diffusion Models"
// (Algorithm 1, Proposition 2, Theorem 4) and from the papers cited where they are used.
//
// An [Evaluator], like its model, belongs to one goroutine.
package likelihood
