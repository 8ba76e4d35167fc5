// Package graph writes the ONNX graph of a checkpoint's network. It needs no
// other tool: the file format is a protocol buffer, and what a network
// of package [mdmgen/model/checkpoint] needs of it is small.
//
// # Contract
//
// Inputs: input_ids int64 [B, L], the canvases, L up to the model's length;
// positions int64 [B, K], in 0..L−1, the wanted positions of each, K ≥ 1 and up
// to the model's length, in any order, with repetitions; sigma float32 [B],
// σ = −log α in nats, where the network is really time-conditioned, and only
// there; and for each head a list of the rows that it takes: indices b·K + k of
// positions[b, k], in any order. A list may be empty, and its head then costs nothing;
// a canvas that wants fewer than K positions repeats one in positions and leaves the
// repetitions out of the lists, which spares them all that follows attention in the last
// block. The facts of the model are in the metadata under the key "mdmgen", as JSON; they
// say which columns are tokens.
//
// The heads:
//
//   - take_rows int64 [R] gives logits float32 [R, V], the network's output, all V columns
//     as they leave the last linear layer.
//   - take_given int64 [G], with targets int64 [G], a token at each, gives log_mu float64
//     [G], log μ of the token, μ the softmax over all columns that are tokens, and log_mass
//     float64 [G]: log Σ_a μ(a) for logits, which rounding alone moves from 0, and
//     log Σ_a e^(logit of a) for log-scores, which the reader brings to scale as it would a
//     row. Both are NaN where the row has no softmax.
//   - take_best int64 [M], with uniforms and temperatures float64 [M] and top int64 [1]
//     (no temperatures are all 1, and then top must be 0),
//     gives token int64 [M], drawn by inverting the cumulative distribution at the
//     temperature in ascending order of the columns (temperature 0 takes the greatest logit,
//     the first among equals), log_p float64 [M], the log-probability that it was drawn
//     with, top_tokens int64 and top_log_p float64 [M, max(top, 1)], the most probable
//     tokens, and, where top is not 0, entropy float64 [M], the last three at temperature 1
//     in place of 0. The token is the one of float64 arithmetic; log-probabilities are off
//     by some 3e-8. log_p is NaN where the row has no softmax.
//
// # Kept keys and values
//
// A graph of [Options.Keeps] has more inputs: position_ids int64 [B, L], 0..L−1 of each canvas, and
// what follows. Its calls have the bits of the other graph's, and cost some 2% more.
//
// keep int64 [0] or [1] says by its length whether keys.I and values.I of each block, float32 [B,
// heads, L, size], keys after rotation, are given; else they are [1, heads, 0, size]. Together with
// kept_keys.I and kept_values.I [B, heads, P, size] of a whole canvas of P positions, input_ids and
// position_ids are Q of its rows, positions count in these, and stale float32 [B, 1, 1, P] is −∞ at
// position_ids and 0 elsewhere, and parts int64 [2] are P and Q: queries attend to the kept keys and
// values of the other positions and to the fresh ones of Q. P = 0 (and then kept tensors are [1, heads,
// 0, size] and stale [B, 1, 1, 0]) is a call of all rows. Kept tensors are read where they lie.
//
// The graph of a block-causal network (block_size in the facts) always has these inputs. A query attends
// to keys of its own block and of those before it, fresh and kept ones alike, by the positions of both.
// Its first call with keep may compute all rows, and a later one those of a block, whose rows are then those of a call of all. noisy
// int64 [1] is 0 then. With 1 the kept keys and values are of a clean canvas, and input_ids a noisy
// copy of all of it (P = Q, stale all 0): a query attends to fresh ones of its own block and to kept
// ones of the blocks before, as in training.
//
// # What is computed
//
// A network is a stream, which has what all of them share (canvases, wanted rows, attention
// that looks both ways, rotary positions, heads), and layers: those of MDLM's transformer, of
// LLaMA's with RMSNorm and a gated MLP, or of BERT's.
//
// Only wanted rows leave the network, so the last block computes keys and
// values of all positions, but queries and attention at the wanted positions alone, and
// MLP and the head's product at the rows that are taken: one position of MDLM-small at L = 1024 costs two
// thirds of a full canvas. The first block's projections depend on ids alone and
// are tables where the vocabulary is small. Conditioning at σ = 0 is a constant: it is evaluated
// here, in float64, and folded into norms and weights.
//
// # Where the weights are
//
// In the model's own bytes (small networks); in the
// checkpoint's own safetensors file, to which the graph refers by offset, so that
// nothing is copied and the runtime maps the file (F32 checkpoints on disk); or in a
// file beside the models ([Write]).
//
// Linear layers are multiplied in float32, or in fewer bits as a [Dtype] says, where a row
// never depends on the others of its call.
//
// Graphs use operators of ONNX opset 17 and of the com.microsoft domain, and
// open in ONNX Runtime 1.24 and later.
package graph
