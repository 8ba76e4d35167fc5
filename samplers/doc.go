// Package samplers fills canvases of tokens from a masked diffusion language model. It defines the
// contract between networks, methods and decoders, and the engine that runs them.
//
// A masked position jumps to token a at rate α/(1−α)·μ(a), where μ is the network's distribution of
// the clean token. Since μ sums to 1, the time at which a position is revealed does not depend on the
// network. A sampler that simulates time therefore has a plan, an ordered partition of the free
// positions, and fills each block with one network call and independent draws in float64 (package
// plan). Other samplers choose the positions by the rows (rank), or mask revealed positions again
// (remask). Package layer wraps any of them in blocks, corrections, growth, guidance and constraints.
// Package exact computes the laws of samplers without a plan by enumerating their outcomes. Package
// catalog makes samplers by name. All of these use draw, which provides random numbers and draws
// tokens from rows, and schedule, which decides when positions are revealed and how many at a time.
//
// A [Method] starts a [Decoder] for each canvas, which alternately asks for rows of the [Network]
// and edits the canvas. [Fill] fills one canvas, [Sample] a list, and an [Engine] serves the jobs
// of many concurrent callers. A sequence takes one call for each non-empty block, plus one if
// positions that no step revealed are filled at the end. A [Kernel] is a method that can be used
// inside a layer, and its [Law] declares its properties.
//
// The random numbers of a sequence are its [draw.Numbers], functions of the seed, the sequence's
// index and the position. A sample therefore does not depend on the batch, the order or the other
// sequences, and two samplers with one seed use common random numbers.
//
// Time is θ = −log α in nats, and the masked fraction is λ = 1 − α = 1 − e^(−θ). Methods and
// engines may be shared by goroutines; a decoder and its [draw.Numbers] belong to one goroutine.
package samplers
