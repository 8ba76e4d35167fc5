// Package samplers draws token sequences from a masked diffusion language model
// by simulating its reverse process. A masked position jumps to token a at rate
// α/(1−α)·μ(a), μ the network's distribution of the clean token. Since μ sums
// to 1, when a position is revealed does not depend on the network, and every
// time-driven sampler splits in two:
//
//   - a [Plan]: an ordered partition of the free positions into blocks, each with
//     its time. It is drawn first and needs no network.
//   - filling in: one network call a block on the current canvas, and an
//     independent draw in float64 at each position of the block.
//
// So the number of network calls of a sequence is the number of non-empty blocks,
// plus one where positions that no step revealed are filled at the end. Samplers
// that simulate events (uniformization, matu) count those apart: an event that reveals
// nothing needs no network.
//
// A fill may look back: the token is then drawn from a mixture of the rows of two calls
// (trapezoidal, extrapolated-fhs, paired-fhs; see [Mix]), and the call before is asked for
// the positions ahead.
//
// [New] makes a [Sampler] of [Options]; [Sample] runs it over a batch of sequences
// with independent clocks. [Describe] tells what each sampler's law, cost, source
// and options are. The time is measured as θ = −log α throughout, in nats, and
// the masked fraction is λ = 1 − α = 1 − e^(−θ).
//
// Randomness is one [Stream] a sequence, derived from a seed and the sequence's
// index, and is spent in an order that no sampler changes: first one uniform a
// free position for order and times, then one a free position for its token. A
// sample therefore does not depend on batch size or order, and two samplers with
// one seed use common random numbers; but for float32-gumbel, whose races take more of
// them.
//
// The package imports nothing else of the module: it declares the one-method
// interface [Network] that it needs. A [Sampler] may be shared by goroutines; a
// [Plan] and a [Stream] belong to one.
//
// # Room for other samplers
//
// A sampler that reveals positions by itself joins as a type with the methods of
// planner: what it draws is a list of blocks. One that picks positions from the
// network's rows has no plan, and takes the place of "next block" in the engine's slot, as
// raw scores do, whose mass changes the rate at which positions are revealed, and races
// of tokens and MASK.
package samplers
