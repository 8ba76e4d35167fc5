package hub

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"mdmgen/model/checkpoint"
)

// Part is the wanted part of a repository.
type Part int

const (
	// Model is everything that a model needs, including its tokenizer.
	Model Part = iota
	// Tokenizer is the tokenizer alone.
	Tokenizer
	// Graph is everything that a model needs, with its ONNX graph instead of other weights.
	Graph
)

// File is a file of a repository.
type File struct {
	Path string
	// Size is in bytes.
	Size int64
	// Digest is the SHA-256 of a large file, or git's SHA-1 of a small one, in hexadecimal: the
	// name of its blob.
	Digest string
}

var (
	// tokenizerFiles go with a vocabulary, which is one file, or several for a tokenizer in Python.
	tokenizerFiles = []string{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja"}
	vocabularies   = [][]string{{"tokenizer.json"}, {"vocab.json", "merges.txt"}, {"vocab.txt"}}
	modelFiles     = []string{"config.json", "generation_config.json"}
	// weights are the names of weights in one file, and of the indices of sharded ones, best first.
	weights = []struct{ file, index string }{
		{"model.safetensors", "model.safetensors.index.json"},
		{"pytorch_model.bin", "pytorch_model.bin.index.json"},
	}
	// graphNames are the names that exporters give to the graph of a causal language model.
	graphNames = []string{"model.onnx", "decoder_model.onnx", "decoder_model_merged.onnx"}
	shardForm  = regexp.MustCompile(`-\d{5}-of-\d{5}\.(safetensors|bin)$`)
)

// needed returns the files of a part of a repository, the weights last: once they are in a
// snapshot, so are all other files.
func needed(n Name, part Part, files []File) ([]File, error) {
	var out []File
	add := func(is func(p string) bool) (found bool) {
		for _, f := range files {
			if is(f.Path) {
				out = append(out, f)
				found = true
			}
		}
		return found
	}
	one := func(name string) bool { return add(func(p string) bool { return p == name }) }
	lacks := func(name string) bool {
		return !slices.ContainsFunc(files, func(f File) bool { return f.Path == name })
	}
	names := tokenizerFiles
	if i := slices.IndexFunc(vocabularies, func(v []string) bool { return !slices.ContainsFunc(v, lacks) }); i >= 0 {
		names = slices.Concat(vocabularies[i], names)
	} else if part == Tokenizer {
		return nil, missingf("%s: has no tokenizer.json", n)
	}
	for _, name := range names {
		one(name)
	}
	if part == Tokenizer {
		return out, nil
	}
	if !lacks(checkpoint.AdapterName) && !strings.HasSuffix(n.File, ".onnx") {
		return nil, checkpoint.Adapted(n.String())
	}
	for _, name := range modelFiles {
		one(name)
	}
	if n.File != "" {
		if strings.HasSuffix(n.File, ".onnx") {
			addBeside(add, n.File)
		}
		if !one(n.File) {
			return nil, missingf("%s: the repository has no such file; it has %s", n, listed(files))
		}
		return out, nil
	}
	for _, w := range weights {
		if part == Graph {
			break
		}
		if one(w.file) {
			return out, nil
		}
		if one(w.index) {
			stem := strings.TrimSuffix(w.file, path.Ext(w.file))
			add(func(p string) bool { return strings.HasPrefix(p, stem+"-") && shardForm.MatchString(p) })
			return out, nil
		}
	}
	graphs := graphsOf(files)
	for _, name := range graphNames {
		if i := slices.IndexFunc(graphs, func(p string) bool { return path.Base(p) == name }); part == Graph && i >= 0 {
			graphs = graphs[i : i+1]
		}
	}
	switch {
	case len(graphs) == 0:
		return nil, missingf("%s: has no supported weights: it has %s", n, listed(files))
	case len(graphs) > 1 && !slices.Contains(graphs, "model.onnx"):
		return nil, missingf("%s: holds %d ONNX files: name one of them, as %s", n, len(graphs), n.Of(graphs[0]))
	case len(graphs) > 1:
		graphs[0] = "model.onnx"
	}
	addBeside(add, graphs[0])
	one(graphs[0])
	return out, nil
}

// Of returns the name of a file of the repository, "" for its model.
func (n Name) Of(file string) Name { n.File = file; return n }

// addBeside adds the files that belong to an ONNX file: its external data, by the names that
// exporters use, and the files that this program writes next to one.
func addBeside(add func(func(string) bool) bool, graph string) {
	stem := strings.TrimSuffix(graph, ".onnx")
	add(func(p string) bool {
		return strings.HasPrefix(p, graph+"_data") || p == graph+".data" || p == stem+".data" ||
			p == stem+".mdmgen.json" || p == stem+"_kept.onnx" || p == path.Join(path.Dir(graph), "mdmgen.manifest.json")
	})
}

// graphsOf returns the ONNX files of a repository, or those in its folder onnx if there are none at
// the top.
func graphsOf(files []File) []string {
	for _, dir := range []string{".", "onnx"} {
		var found []string
		for _, f := range files {
			if path.Dir(f.Path) == dir && strings.HasSuffix(f.Path, ".onnx") {
				found = append(found, f.Path)
			}
		}
		if found != nil {
			slices.Sort(found)
			return found
		}
	}
	return nil
}

// listed names some files of a repository.
func listed(files []File) string {
	const most = 12
	var names []string
	for _, f := range files[:min(most, len(files))] {
		names = append(names, f.Path)
	}
	if len(files) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(files)-most)
	}
	return cmp.Or(strings.Join(names, ", "), "no files")
}
