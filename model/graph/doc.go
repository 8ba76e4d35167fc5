// Package graph writes the ONNX graph of a checkpoint's network. It needs no other tool: the file
// format is a protocol buffer, of which a network of package [mdmgen/model/checkpoint] needs
// little.
//
// # Contract
//
// Inputs: input_ids int64 [B, L], the canvases, L up to the model's length; positions int64 [B, K],
// the wanted positions of each, in 0..L−1, K from 1 to the model's length, in any order, with
// repetitions; sigma float32 [B], σ = −log α in nats, only if the network is really
// time-conditioned; and for each head a list of the rows that it takes: indices b·K + k of
// positions[b, k], in any order. A head with an empty list costs nothing. A canvas that wants fewer
// than K positions repeats one in positions and omits the repetitions from the lists, which saves
// everything after attention in the last block. The facts of the model are in the metadata under
// the key "mdmgen", as JSON; they include which columns are tokens.
//
// The heads:
//
//   - take_rows int64 [R] returns logits float32 [R, V], the network's output, all V columns
//     of the last linear layer.
//   - take_given int64 [G], with targets int64 [G], a token for each, returns log_mu float64
//     [G], log μ of the token, μ the softmax over all columns that are tokens, and log_mass
//     float64 [G]: log Σ_a μ(a) for logits, 0 but for rounding, and log Σ_a e^(logit of a) for
//     log-scores, which the reader must scale as it would a row. Both are NaN if the row has
//     no softmax.
//   - take_best int64 [M], with uniforms and temperatures float64 [M] and top int64 [1]
//     (empty temperatures mean 1 for all, and require top to be 0), returns token int64 [M],
//     drawn by inverting the cumulative distribution at the temperature in ascending order of
//     the columns (temperature 0 takes the greatest logit, the first among equals); log_p
//     float64 [M], the log-probability of that draw; top_tokens int64 and top_log_p float64
//     [M, max(top, 1)], the most probable tokens; and, if top is not 0, entropy float64 [M].
//     For the last three, temperature 0 counts as 1. The token is the one of float64
//     arithmetic; log-probabilities have errors of about 3e-8. log_p is NaN if the row has no
//     softmax.
//
// # Kept keys and values
//
// A graph of [Options.Keeps] has more inputs: position_ids int64 [B, L], 0..L−1 for each canvas,
// and those below. Its calls return the same bits as the other graph's, and cost about 2% more.
//
// keep is int64 [0] or [1]. If its length is 1, the graph returns keys.I and values.I of each block
// I, float32 [B, heads, L, size], keys after rotation; else they are [1, heads, 0, size]. A later
// call can pass those of a whole canvas of P positions as kept_keys.I and kept_values.I [B, heads,
// P, size]. Then input_ids and position_ids hold Q rows of the canvas, positions index these rows,
// stale float32 [B, 1, 1, P] is −∞ at position_ids and 0 elsewhere, and parts int64 [2] holds P and
// Q: queries attend to the kept keys and values of the other positions and to the fresh ones of the
// Q rows. P = 0 (with kept tensors [1, heads, 0, size] and stale [B, 1, 1, 0]) is a call of all
// rows. Kept tensors are read in place.
//
// The graph of a block-causal network (block_size in the facts) always has these inputs. A query
// attends to the keys of its own block and of the blocks before it, fresh or kept, by the positions
// of both. The first call with keep may compute all rows, and a later one those of a block; these
// are the same as in a call of all rows. noisy int64 [1] is 0 in such calls. If it is 1, the kept
// keys and values are those of a clean canvas, and input_ids is a noisy copy of all of it (P = Q,
// stale all 0): a query attends to fresh keys of its own block and to kept keys of the blocks
// before, as in training.
//
// The graph of a network with two laws (causal in the facts) has block_from and block_to int64 [B] in
// addition: queries before block_from attend to keys up to their own position, and all others to keys
// before block_to. Kept keys that are hidden from all queries may hold any finite numbers. In a noisy
// copy block_from..block_to is the first of blocks of that length, and queries in them attend to fresh
// keys of their own block, and to kept keys before it.
//
// # What is computed
//
// A network consists of a stream, which builds the parts that all networks share (canvases, wanted
// rows, bidirectional attention, rotary positions, heads), and layers: those of MDLM's transformer,
// of LLaMA's with RMSNorm and a gated MLP, of GPT-2's, of BERT's, or of ModernBERT's.
//
// Only wanted rows leave the network, so the last block computes keys and values of all positions,
// but queries and attention only at the wanted positions, and MLP and the head's product only at
// the rows that are taken: one position of MDLM-small at L = 1024 costs two thirds of a full
// canvas. The first block's projections depend on ids alone and are tables if the vocabulary is
// small. Conditioning at σ = 0 is a constant: it is evaluated here, in float64, and folded into
// norms and weights.
//
// # Where the weights are
//
// The weights are in the model's own bytes (small networks); in the checkpoint's own safetensors
// file, to which the graph refers by offset, so that nothing is copied and the runtime maps the
// file (F32 checkpoints on disk); or in a file next to the models ([Write]).
//
// Linear layers multiply in float32, or in fewer bits depending on the [Dtype]; a row never depends
// on the other rows of its call.
//
// Graphs use operators of ONNX opset 17 and of the com.microsoft domain, and
// open in ONNX Runtime 1.24 and later, or 1.29 if they are time-conditioned, or 1.32 if they have experts
// in [Int4].
package graph
