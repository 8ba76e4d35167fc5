// Package draw draws tokens: numbers of sequences and plans, and tokens from rows of a network.
//
// [Numbers] are the random numbers of a sequence, each a function of the seed, the sequence, what
// it is for and the position; a [Stream] gives one number after the other, for estimates. Both
// are uniforms in (0,1) of 53 bits.
//
// A [Categorical] turns a [Row] of logits, one a column of a [Vocabulary], and one uniform
// into a token, in float64: MASK and padding are excluded, temperature, top-k and top-p ([Settings])
// applied, and the token found by inversion or by gumbel ([By]). Probabilities sum to 1, their
// logarithms and entropies are in nats. [Mix] is for draws from two rows.
//
// Each belongs to one goroutine. Sources are cited where they are used. Of the module the package
// imports sums of exponentials, goroutines for all processors and the errors' names alone.
package draw
