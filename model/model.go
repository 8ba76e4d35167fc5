// Package model opens masked diffusion language models: a built-in name, a
// published checkpoint folder, an ONNX file or folder, or a world file. Whatever
// it was opened from, a model answers one question: the rows of logits at wanted
// positions of some canvases. Some answer another: the log-probabilities of given
// tokens there, without the rows; see [LogProber].
//
// The sub-packages are what it is made of: checkpoint (bytes to named tensors),
// graph (tensors to an ONNX graph), ort (ONNX Runtime), world (tables in
// memory), facts (what a program must know of a model), causal (language models
// that judge texts).
package model

import (
	"context"
	"io/fs"

	"mdmgen/model/facts"
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
	// Logits returns the rows at the wanted positions of a batch of canvases of
	// one length L: ids has shape [rows, L], positions [rows, K], K ≥ 1, both
	// row-major; sigma holds −log α of each row and is nil unless the network is
	// time-conditioned. The result has shape [rows, K, Columns] and is valid
	// until the next call. A cancelled context ends a call within the time of
	// one operator of the graph and is returned as its error.
	Logits(ctx context.Context, rows int, ids, positions []int64, sigma []float64) ([]float32, error)
	// Close releases the network. It may be called twice.
	Close() error
}

// LogProber is a model that works out the log-probability of a given token where its
// rows are, so that no row leaves it. [Open] gives one where [Options.Outlet] asks for
// it and the model has it.
type LogProber interface {
	// LogProbs asks as Logits does, with targets [rows, K], the token that is asked
	// about at each position, a column that is neither MASK nor padding. logMu and
	// logMass, of rows·K numbers, receive log μ of the token, μ the softmax over all
	// tokens' columns, and log Σ_a μ(a) for logits, 0 but for rounding, or log Σ_a
	// e^row(a) for log-scores. Both are NaN where a row has no softmax. Sums are
	// float64; log μ differs from that of the row by some 3e-8.
	LogProbs(ctx context.Context, rows int, ids, positions, targets []int64, sigma, logMu, logMass []float64) error
}

// Outlet is what a model is opened for. Two outlets are two sessions, each with the
// weights in memory.
type Outlet string

// The outlets.
const (
	Rows           Outlet = "rows"
	LogProbability Outlet = "log-probability"
)

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
	// Provider is cpu or cuda:N.
	Provider string `json:"provider"`
	// Threads is the number of threads of one call.
	Threads int `json:"threads"`
	// Outlet is what the network gives: rows, also where log-probability was asked for
	// and the model does not have it; "" for tables.
	Outlet Outlet `json:"outlet,omitempty"`
	// Facts are those in force, after a sidecar and what was changed by the user; nil for
	// models that have none, such as the causal ones.
	Facts *Facts `json:"facts,omitempty"`
	// FactsDigest is [facts.Facts.Digested] of them, "" where there are none.
	FactsDigest string `json:"facts_digest,omitempty"`
}

// Describer is a model that can tell its origin.
type Describer interface{ Origin() Origin }

// Builtin is a checkpoint that the program carries: a folder as a hub has it.
type Builtin struct {
	Name string
	FS   fs.FS
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
	// Outlet is what is asked of the model most; "" is Rows. A model that was opened for
	// LogProbability and has it is a [LogProber]; the first call of its Logits opens a
	// second session. One that does not have it, such as another tool's, has rows.
	Outlet Outlet
}

// MissingError says that a model, or a file of it, is not there.
type MissingError struct{ Msg string }

func (e *MissingError) Error() string { return e.Msg }
