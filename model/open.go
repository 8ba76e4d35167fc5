package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/world"
)

// Open opens the model that ref names: a built-in name, a folder with a checkpoint or an ONNX
// model, an .onnx file, or a world's .json file. The error is a [*MissingError] if there is no such
// model.
func Open(ctx context.Context, ref string, opts Options) (Model, error) {
	kind, path, err := Resolve(cmp.Or(opts.Path, ref), opts.Builtins)
	if err != nil {
		return nil, err
	}
	if (kind == KindONNX || kind == KindWorld) && opts.Dtype != "" {
		return nil, fault.Unused("model "+ref+": its weights have a fixed type in the file", fault.Term{Name: "dtype", Value: string(opts.Dtype)})
	}
	if kind != KindCheckpoint && opts.Weights != "" {
		return nil, fault.Unused("model "+ref+": has one set of weights", fault.Term{Name: "weights", Value: string(opts.Weights)})
	}
	switch kind {
	case KindONNX:
		return openONNX(ctx, ref, path, opts)
	case KindWorld:
		return openWorld(ctx, ref, path, opts)
	}
	return openCheckpoint(ctx, ref, path, opts)
}

// Kind is the kind of model that a name leads to.
type Kind int

// The kinds of model.
const (
	KindBuiltin    Kind = iota // a built-in model
	KindCheckpoint             // a checkpoint folder
	KindONNX                   // a folder or file of a graph
	KindWorld                  // a world
)

// builtin is the checkpoint of a built-in name, nil where there is none.
func builtin(ref string, builtins []Builtin) *Builtin {
	if i := slices.IndexFunc(builtins, func(b Builtin) bool { return b.Name == ref }); i >= 0 {
		return &builtins[i]
	}
	return nil
}

// Resolve returns the kind of the model that ref names, without opening it, and the path of its
// folder or file.
func Resolve(ref string, builtins []Builtin) (Kind, string, error) {
	if builtin(ref, builtins) != nil {
		return KindBuiltin, "", nil
	}
	info, err := os.Stat(ref)
	switch {
	case strings.HasSuffix(strings.ToLower(ref), ".gguf"):
		return 0, "", fault.Advise("model %s: GGUF, the format of llama.cpp, is not read: name the repository or folder of the weights that it was made from; %v makes their matrices as small", ref, fault.Term{Name: "dtype", Value: "int4"})
	case errors.Is(err, fs.ErrNotExist):
		var names []string
		for _, b := range builtins {
			names = append(names, b.Name)
		}
		known := cmp.Or(strings.Join(names, ", "), "Options.Builtins has none: builtin.Open opens fairytale")
		return 0, "", &MissingError{fmt.Sprintf("model %s: no such folder or file, and not a built-in name (%s); name a model on the hub as OWNER/NAME", cmp.Or(ref, `""`), known)}
	case err != nil:
		return 0, "", fmt.Errorf("model %s: %w", ref, errors.Unwrap(err))
	case info.IsDir():
		return resolveFolder(ref)
	}
	switch base := filepath.Base(ref); {
	case strings.HasSuffix(base, ".onnx"):
		return KindONNX, ref, nil
	case strings.HasSuffix(base, ".json") && base != "config.json":
		return KindWorld, ref, nil
	case base == "config.json":
		return KindCheckpoint, filepath.Dir(ref), nil
	case checkpoint.IsWeights(base):
		return KindCheckpoint, ref, nil
	}
	return 0, "", fmt.Errorf("model %s: not a model file: expected a folder, a file of weights, an .onnx file or a world's .json file", ref)
}

// resolveFolder finds the only model in a folder.
func resolveFolder(dir string) (Kind, string, error) {
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	names, graphs, err := filesIn(dir)
	if err == nil && graphs == nil {
		_, graphs, err = filesIn(filepath.Join(dir, "onnx"))
	}
	if err != nil {
		return 0, "", fmt.Errorf("model %s: %w", dir, err)
	}
	weights := checkpoint.InFolder(names)
	switch {
	case exists(checkpoint.AdapterName):
		return KindCheckpoint, dir, nil // which says so
	case len(weights) > 0 && !exists("config.json") && !checkpoint.Trained(weights[0]):
		return 0, "", &MissingError{fmt.Sprintf("model %s: has %s but no config.json", dir, weights[0])}
	case len(weights) > 0:
		return KindCheckpoint, dir, nil
	case len(graphs) > 0:
		return pickGraph(dir, graphs)
	case exists("config.json"):
		return 0, "", &MissingError{fmt.Sprintf("model %s: has config.json but neither model.safetensors, pytorch_model.bin, a trainer's file nor an .onnx file", dir)}
	}
	return 0, "", &MissingError{fmt.Sprintf("model %s: no config.json with model.safetensors and no .onnx file in this folder", dir)}
}

// filesIn lists the names of a folder's files, none if the folder does not exist, and the paths of the ONNX
// files among them.
func filesIn(dir string) (names, graphs []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if names = append(names, e.Name()); strings.HasSuffix(e.Name(), ".onnx") {
			graphs = append(graphs, filepath.Join(dir, e.Name()))
		}
	}
	return names, graphs, err
}

// pickGraph chooses among the ONNX files found in a folder.
func pickGraph(dir string, graphs []string) (Kind, string, error) {
	i := slices.IndexFunc(graphs, func(g string) bool { return len(graphs) == 1 || filepath.Base(g) == graph.ModelFile })
	if i < 0 {
		return 0, "", fmt.Errorf("model %s: holds %d ONNX files (%s); name one of them", dir, len(graphs), strings.Join(graphs, ", "))
	}
	rel, err := filepath.Rel(dir, graphs[i])
	if err == nil {
		_, err = plainfile.Inside(dir, rel)
	}
	if err != nil {
		return 0, "", fmt.Errorf("model %s: %s: %w", dir, rel, err)
	}
	return KindONNX, graphs[i], nil
}

// openWorld opens a world file: tables, which need no runtime.
func openWorld(ctx context.Context, ref, path string, opts Options) (Model, error) {
	w, err := world.Open(path)
	if err != nil {
		return nil, err
	}
	read := w.Facts()
	f, err := facts.Apply(ctx, read, opts.Sidecar, opts.Override)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", ref, err)
	}
	if f.MaskID != read.MaskID || f.Columns != read.Columns || f.Length != read.Length || f.TimeConditioned != read.TimeConditioned || len(f.Padding) > 0 || f.Shift || f.Output != read.Output || !f.FixedLength || f.BlockSize != read.BlockSize || f.Causal != read.Causal || f.Input != "" {
		return nil, fmt.Errorf("model %s: a world's own facts are fixed by its tables; name and noise can be changed", ref)
	}
	if d := opts.Runtime.Device; d != "" && d != "cpu" && d != "auto" {
		return nil, fault.Unused("model "+ref+": a world is a table and runs on no device", fault.Term{Name: "device", Value: d})
	}
	w.SetFacts(f)
	return &table{w, ref}, nil
}

// table is a world with its origin.
type table struct {
	*world.World
	ref string
}

func (t *table) Origin() Origin {
	f := t.Facts()
	return Origin{
		Reference: t.ref, Family: f.Family, Digest: f.Digest, Dtype: "F64", Runtime: "tables", Provider: "cpu", Threads: 1,
		Facts: &f, FactsDigest: f.Digested(),
	}
}
