// Package draw provides the random numbers of sequences and plans, and draws tokens from the rows
// of a network.
//
// [Numbers] are the random numbers of a sequence, each a function of the seed, the sequence, the
// purpose and the position. A [Stream] returns one number after another, for estimates. Both are
// uniforms in (0,1) of 53 bits.
//
// A [Categorical] turns a [Row] of logits, one for each column of a [Vocabulary], and one uniform
// into a token, in float64. It excludes MASK and padding, applies temperature, top-k and top-p
// ([Settings]), and finds the token by inversion or by gumbel ([By]). Probabilities sum to 1; their
// logarithms and entropies are in nats. [Mix] combines two rows.
//
// Each of these belongs to one goroutine. Sources are cited where they are used. Of the module, the
// package imports only the sums of exponentials, the parallel loops and the error type.
package draw
