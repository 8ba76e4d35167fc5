// Package model opens masked diffusion language models: a built-in name, a published checkpoint
// folder, an ONNX file or folder, or a world file. Every model returns the rows of logits at wanted
// positions of some canvases, whatever it was opened from. Models whose graph this program writes
// also have heads that compute other results without returning the rows; see [LogProber].
//
// The sub-packages are its parts: checkpoint (bytes to named tensors), graph (tensors to an ONNX
// graph), ort (ONNX Runtime), world (tables in memory), facts (the properties of a model that a
// program needs), causal (language models that score texts), hub (published models by name, in the
// cache that other programs share).
package model

import (
	"context"
	"io/fs"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
	"mdmgen/samplers"
)

// Names of types that settings and results of this package have.
type (
	Facts   = facts.Facts        // describes a model
	GPU     = library.GPU        // a graphics card
	Runtime = ort.Config         // configures ONNX Runtime
	Weights = checkpoint.Weights // a set of weights in a file with two
	Dtype   = graph.Dtype        // the type in which matrices are multiplied
)

// Model is an open network with its facts. It belongs to one goroutine.
type Model interface {
	// Facts describes the network.
	Facts() Facts
	// Spec describes the properties that samplers need.
	Spec() samplers.Spec
	// Logits returns the rows at the wanted positions of a call, [len(Positions)·Columns], valid
	// until the next call. Canvases of a network of fixed length must have that length. If ctx is
	// cancelled, Logits returns its error within the time of one operator of the graph.
	Logits(ctx context.Context, c samplers.Call) ([]float32, error)
	// Close releases the network. It may be called twice.
	Close() error
}

// LogProber is a model that computes the log-probability of a given token next to its rows, so that
// no row is copied out. A network has this head if this program writes its graph, and the facts in
// force have the same tokens and kind of output as the graph.
type LogProber interface {
	// LogProbs makes the same call as Logits. targets has a token for each position: a column that
	// is neither MASK nor padding. logMu and logMass, of the same length, receive log μ of the
	// token, where μ is the softmax over all tokens' columns, and log Σ_a μ(a) for logits, 0 but
	// for rounding, or log Σ_a e^row(a) for log-scores. Both are NaN if a row has no softmax. Sums
	// are float64; log μ differs from the one computed from the row by about 3e-8.
	LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error
}

// Origin records where a model and its rows came from.
type Origin struct {
	// Reference is the name that the user gave.
	Reference string `json:"reference"`
	Family    string `json:"family"`
	// Digest is "sha256:…" of the content.
	Digest     string `json:"digest"`
	Parameters int64  `json:"parameters,omitempty"`
	Dtype      string `json:"dtype,omitempty"`
	// Runtime is "onnxruntime 1.32.0", or "tables" for a model that needs none.
	Runtime string `json:"runtime"`
	// Provider is cpu, or cuda:N followed by how its numbers differ from float32: cuda:0, TF32.
	Provider string `json:"provider"`
	// GPUs are the devices of cuda providers, as their driver reports them.
	GPUs []GPU `json:"gpus,omitempty"`
	// Threads is the number of threads of one call.
	Threads int `json:"threads"`
	// Facts are the facts in force, with those of the sidecar and the user's changes; nil for
	// models that have none, such as causal ones.
	Facts *Facts `json:"facts,omitempty"`
	// FactsDigest is their [facts.Facts.Digested], "" if Facts is nil.
	FactsDigest string `json:"facts_digest,omitempty"`
	// UnusedTensors names the tensors in a checkpoint's files that the network does not have; each
	// of the others fills one parameter or table.
	UnusedTensors []string `json:"unused_tensors,omitempty"`
}

// Describer is a model that reports its origin.
type Describer interface{ Origin() Origin }

// Builtin is a checkpoint embedded in the program, a folder like those on a hub.
type Builtin struct {
	Name string
	FS   fs.FS
	// Digest is the checkpoint's digest; if it is "", each opening computes it.
	Digest string
}

// Options sets how a model is opened. The zero value opens on the CPU with all threads, and fetches
// ONNX Runtime if it is missing.
type Options struct {
	// Runtime sets the library that runs the network, the device and the number of threads.
	Runtime Runtime
	// Builtins are the names that take precedence over files.
	Builtins []Builtin
	// Override changes facts after they were read: keys are those of the JSON form, values JSON or
	// plain text. Sidecar is a file of the same form that is read first; "" means the one next to
	// an ONNX file, if it exists.
	Override map[string]string
	Sidecar  string
	// Known are facts, in the form of Override, about a published model that come from elsewhere.
	// They fill only what its files leave open.
	Known map[string]string
	// Weights selects one of the two sets of weights of a trainer's file: the averages if it is "".
	// For all other models it must be "".
	Weights Weights
	// Dtype is the type of the weights as they are run; "" is float32 for a checkpoint. It must be
	// "" for other models, whose weights have a type of their own.
	Dtype Dtype
	// Keeps opens the graph that keeps keys and values immediately. Without it the first call that
	// keeps any opens that graph, and calls before it cost about 2% less.
	Keeps bool
	// Path is the folder or file that a hub's name refers to; "" if the name is itself the path.
	Path string
	// Watch, if not nil, is called when reading a large checkpoint for its digest, or converting it
	// into the cache, begins. The function that it returns is called with the byte count of each
	// step, total in all.
	Watch func(work string, total int64) func(bytes int64)
}

// MissingError reports that a model, or one of its files, does not exist.
type MissingError struct{ Msg string }

// Error implements error.
func (e *MissingError) Error() string { return e.Msg }

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}
