// Package model opens masked diffusion language models: a built-in name, a
// published checkpoint folder, an ONNX file or folder, or a world file. Whatever
// it was opened from, a model answers one question: the rows of logits at wanted
// positions of some canvases. Those whose graph this program writes have heads that
// answer others without the rows; see [LogProber].
//
// The sub-packages are what it is made of: checkpoint (bytes to named tensors),
// graph (tensors to an ONNX graph), ort (ONNX Runtime), world (tables in
// memory), facts (what a program must know of a model), causal (language models
// that judge texts), hub (published models by name, in the cache that other programs share).
package model

import (
	"context"
	"io/fs"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// Facts describes a model; see [facts.Facts].
type Facts = facts.Facts

// Model is an open network with its facts. It belongs to one goroutine.
type Model interface {
	// Facts describes the network, Spec what samplers must know of it.
	Facts() Facts
	Spec() samplers.Spec
	// Logits returns the rows at the wanted positions of a call, [len(Positions)·Columns],
	// valid until the next call; canvases of a network of fixed length have that length. A
	// cancelled context ends a call within the time of one operator of the graph and is
	// returned as its error.
	Logits(ctx context.Context, c samplers.Call) ([]float32, error)
	// Close releases the network. It may be called twice.
	Close() error
}

// LogProber is a model that works out the log-probability of a given token where its
// rows are, so that no row leaves it. A network has this head where this program writes its
// graph and the facts in force take for tokens, and for scores, what the graph does.
type LogProber interface {
	// LogProbs asks as Logits does, with targets, the token that is asked about at each
	// position, a column that is neither MASK nor padding. logMu and logMass, as many
	// numbers, receive log μ of the token, μ the softmax over all tokens' columns, and
	// log Σ_a μ(a) for logits, 0 but for rounding, or log Σ_a e^row(a) for log-scores. Both
	// are NaN where a row has no softmax. Sums are float64; log μ differs from that of the
	// row by some 3e-8.
	LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error
}

// Origin is what a record says about where a model and its rows came from.
type Origin struct {
	// Reference is what the user named.
	Reference string `json:"reference"`
	Family    string `json:"family"`
	// Digest is "sha256:…" of the content.
	Digest     string `json:"digest"`
	Parameters int64  `json:"parameters,omitempty"`
	Dtype      string `json:"dtype,omitempty"`
	// Runtime is "onnxruntime 1.30.0", or "tables" for a model that needs none.
	Runtime string `json:"runtime"`
	// Provider is cpu, or cuda:N with what differs from float32 on the device: cuda:0, TF32.
	Provider string `json:"provider"`
	// GPUs are the devices of cuda providers, as their driver reports them.
	GPUs []ort.GPU `json:"gpus,omitempty"`
	// Threads is the number of threads of one call.
	Threads int `json:"threads"`
	// Facts are those in force, after a sidecar and what was changed by the user; nil for
	// models that have none, such as the causal ones.
	Facts *Facts `json:"facts,omitempty"`
	// FactsDigest is [facts.Facts.Digested] of them, "" where there are none.
	FactsDigest string `json:"facts_digest,omitempty"`
	// UnusedTensors are those of a checkpoint's files that the network does not have; all others
	// fill one parameter or table each.
	UnusedTensors []string `json:"unused_tensors,omitempty"`
}

// Describer is a model that knows its origin.
type Describer interface{ Origin() Origin }

// Builtin is a checkpoint that the program carries: a folder as a hub has it.
type Builtin struct {
	Name string
	FS   fs.FS
	// Digest is the checkpoint's; "" has it worked out whenever it is opened.
	Digest string
}

// Options says how a model is opened. The zero value opens on the CPU with all
// threads, and fetches ONNX Runtime where it is missing.
type Options struct {
	// Runtime says which library runs the network, on which device, with how
	// many threads.
	Runtime ort.Config
	// Builtins are the names that come before files.
	Builtins []Builtin
	// Override changes facts after they were read: keys are those of the JSON
	// form, values JSON or plain text. Sidecar is a file of the same form that
	// is read before; "" means the one beside an ONNX file, if there is one.
	Override map[string]string
	Sidecar  string
	// Known are facts, in the form of Override, that are known of a published model from
	// elsewhere; they fill what its files leave open, and change nothing.
	Known map[string]string
	// Weights says which of the two sets of weights of a trainer's file is opened: the averages
	// where it is "", which it must be for all other models.
	Weights checkpoint.Weights
	// Dtype is the type of the weights as they are run; "" is an ONNX file's own, and
	// float32 for a checkpoint. An ONNX file has one and no other.
	Dtype graph.Dtype
	// Keeps opens at once the graph that keeps keys and values; without it the first call that keeps
	// any does, and calls before it cost some 2% less.
	Keeps bool
	// Path is the folder or file that the reference leads to, where that is a name of a hub's;
	// "" for the reference itself.
	Path string
	// Watch, where it is not nil, is called when a large checkpoint begins to be read for its
	// digest, or to be converted into the cache, and returns a function that is called with byte counts, of the total.
	Watch func(work string, total int64) func(bytes int64)
}

// MissingError reports that a model, or a file of it, is not there.
type MissingError struct{ Msg string }

func (e *MissingError) Error() string { return e.Msg }

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}
