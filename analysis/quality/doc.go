// Package quality measures the quality of samples.
//
// The cost of a sampler's grid is measured exactly, sample by sample: [Measure] draws texts
// of the first-hitting sampler, whose law P_FHS is the network's own, and computes
// −log P_FHS and −log P_N of each for a list of samplers. A [Study] turns them into
// estimates of TV(P_FHS, P_N) and KL(P_FHS‖P_N), all over the same texts.
//
// Text is measured on ids: unigram entropy, distinct n-grams, repetition ([DescribeAll]), the NELBO
// under the model itself ([Self]), and the perplexity under a causal language model with its own
// tokenizer ([Judge]).
//
// Natural logarithms; values in nats. Nothing keeps state between calls, except the model of an
// evaluator, which belongs to one goroutine.
package quality
