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
// A sampler of one position a call may look ahead ([Options]): a sample is a function of the
// rows once its plan and uniforms are drawn, so the next tokens can be guessed, asked about
// in one call, and kept where they agree. That takes fewer calls, of more canvases, and
// changes no token. It draws by gumbel unless told otherwise ([draw.By]).
//
// A fill may look back: the token is then drawn from a mixture of the rows of two calls
// (trapezoidal, paired-fhs; see [draw.Mix]), and the call before is asked for
// the positions ahead.
//
// Decoders without a plan let the rows decide what is revealed, or mask again what was
// revealed: those of LLaDA, Dream, Fast-dLLM and their kin, which are one decoder of many
// settings ([Deciding]), and ReMDM's ([Remasking]). Their exact laws are sums over their
// outcomes, on networks small enough ([Sampler.Outcomes]); how probable they make a given text is
// worked out on any network, by making their choices again on it ([Sampler.Replay]). Blocks that are filled one after
// the other, and corrections of what is filled, make any sampler such a one.
//
// [New] makes a [Sampler] of [Options]; [Sample] runs it over a batch of sequences
// with independent clocks. [Describe] tells what each sampler's law, cost, source
// and options are. The time is measured as θ = −log α throughout, in nats, and
// the masked fraction is λ = 1 − α = 1 − e^(−θ).
//
// How a canvas is filled is a [Method], which starts a [Decoder] for each; a [Sampler] is
// one, and so is whatever asks for rows of some canvases and edits its own: it may choose
// positions by the rows, mask some again, or ask about several canvases at once. [Sample] runs a list of sequences,
// an [Engine] the jobs of many callers that come and go; docs/extending.md shows two methods
// from outside.
//
// The random numbers of a sequence are its [draw.Draws], functions of the seed, the sequence's
// index and the position. A sample therefore does not depend on batch, order or company, and two
// samplers with one seed use common random numbers; but for float32-gumbel, whose races have
// numbers of their own.
//
// Below it, package draw has these numbers and draws tokens from rows, and package schedule says
// when positions are revealed and how many at a time. Besides them the package declares the
// interface [Network] that it needs. A [Sampler] and an [Engine] may be shared by goroutines; a
// [Plan] and [draw.Draws] belong to one.
package samplers
