// Package graph writes the ONNX graph of a checkpoint's network. It needs no
// other tool: the file format is a protocol buffer, and what a network
// of package [mdmgen/model/checkpoint] needs of it is small.
//
// # Contract
//
// Inputs: input_ids int64 [B, L], the canvases, L up to the model's length;
// positions int64 [B, K], in 0..L−1, the wanted positions of each, K ≥ 1 and up
// to the model's length, in any order, with repetitions; and sigma float32 [B],
// σ = −log α in nats, where the network is really time-conditioned, and only
// there. Output: logits float32 [B, K, V], row k of canvas b being the network's
// output at positions[b, k], all V columns, as it leaves the last linear layer.
// The facts of the model are in the metadata under the key "mdmgen", as JSON.
//
// With the outlet [LogProbability] there is one input more, targets int64 [B, K], the
// token that is asked about at each wanted position, and in place of logits there are
// log_mu float64 [B, K], log μ of the token, μ the softmax over all columns that are
// tokens, and log_mass float64 [B, K]: log Σ_a μ(a) for logits, which rounding alone
// moves from 0, and log Σ_a e^(logit of a) for log-scores, which the reader brings to
// scale as it would a row. Both are NaN where the row has no softmax. The facts say
// which columns are tokens.
//
// # What is computed
//
// Only wanted rows leave the network, so the last block computes keys and
// values of all positions, but queries, attention, MLP and the head at the
// wanted positions alone: one position of MDLM-small at L = 1024 costs two
// thirds of a full canvas. The first block's projections depend on ids alone and
// are computed once for equal ones. Conditioning at σ = 0 is a constant: it is evaluated
// here, in float64, and folded into norms and weights.
//
// # Where the weights are
//
// In the model's own bytes (small networks); in the checkpoint's own safetensors
// file, to which the graph refers by offset, so that nothing is copied and the
// runtime maps the file (F32 checkpoints on disk); or in a file beside the
// model ([Write]).
//
// Graphs use operators of ONNX opset 17 and of the com.microsoft domain, and
// open in ONNX Runtime 1.24 and later.
package graph
