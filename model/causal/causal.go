// Package causal opens causal language models that other tools exported to ONNX: networks that
// return, at each position of a text, the distribution of the next token. They score texts; nothing
// is generated with them.
//
// The supported inputs are input_ids and, if the graph has them, attention_mask, position_ids,
// cache_position, past_key_values.N.key and .value (or past_N), which get a past without elements,
// and use_cache_branch, which is false; integers have 32 or 64 bits. The output is logits [batch,
// length, columns], by that name or the first of that shape, in float32, float16 or bfloat16; other
// outputs, such as present.*, are not computed. Anything else is rejected before the weights are
// loaded, with the tensor's name. The maximum length of a text is read from config.json, next to
// the file or above its folder onnx. A network whose rows depend on later tokens is rejected when
// it is opened.
package causal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// Model is an open causal language model. It belongs to one goroutine.
type Model struct {
	session *ort.Session
	graph   graph
	ref     string
	digest  string
	// context is the maximum length of a text in config.json, in tokens, 0 if unknown.
	context int
	out     []float32
}

// files are the names under which exporters write a causal language model, in the order of the
// search in a folder and in its sub-folder onnx.
var files = []string{"model.onnx", "decoder_model.onnx", "decoder_model_merged.onnx"}

// Open opens an .onnx file, or the one in a folder: model.onnx, decoder_model.onnx or
// decoder_model_merged.onnx in it or in its sub-folder onnx. The error is a [*model.MissingError]
// if there is none.
func Open(ctx context.Context, ref string, runtime ort.Config) (*Model, error) {
	path, err := find(ref)
	if err != nil {
		return nil, err
	}
	d, err := ort.Describe(ort.Source{Path: path})
	if err != nil {
		return nil, err
	}
	m := &Model{ref: ref}
	if m.graph, err = readGraph(d); err == nil {
		m.context, err = contextOf(path)
	}
	if err != nil {
		return nil, fmt.Errorf("causal %s: %w", ref, err)
	}
	if m.digest, err = model.FileDigest(ctx, path, runtime.VerifyDigest); err != nil {
		return nil, err
	}
	m.session, err = ort.Open(ctx, ort.Source{Path: path, Outputs: []string{m.graph.output}}, runtime)
	if err != nil {
		return nil, err
	}
	if err := m.probe(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// find returns the file of a model.
func find(ref string) (string, error) {
	info, err := os.Stat(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &model.MissingError{Msg: fmt.Sprintf("causal %s: no such file or folder: give an ONNX causal language model; name one on the hub as OWNER/NAME", ref)}
	}
	if err != nil {
		return "", fmt.Errorf("causal %s: %w", ref, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return ref, nil
	}
	for _, sub := range []string{"", "onnx"} {
		for _, name := range files {
			path := filepath.Join(ref, sub, name)
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if _, err := plainfile.Inside(ref, filepath.Join(sub, name)); err != nil {
				return "", fmt.Errorf("causal %s: %s: %w", ref, filepath.Join(sub, name), err)
			}
			return path, nil
		}
	}
	return "", &model.MissingError{Msg: fmt.Sprintf("causal %s: this folder has none of %s, here or in its folder onnx: name the file", ref, strings.Join(files, ", "))}
}

// Columns returns the number of ids that the network knows.
func (m *Model) Columns() int { return m.graph.columns }

// Length returns the maximum number of tokens of a text: the length fixed by the graph, else the
// one in config.json; 0 if unknown.
func (m *Model) Length() int { return cmp.Or(m.graph.length, m.context) }

// Origin returns the model's origin, for a record.
func (m *Model) Origin() model.Origin {
	return model.Origin{
		Reference: m.ref, Family: "causal", Digest: m.digest, Dtype: m.graph.dtype,
		Runtime: "onnxruntime " + m.session.Library().Version, Provider: m.session.Provider(), GPUs: m.session.GPUs(), Threads: m.session.Threads(),
	}
}

// Close releases the network. It may be called twice.
func (m *Model) Close() error { return m.session.Close() }
