package oracle

import (
	"encoding/json"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"

	"mdmgen/analysis/verify"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// file is a reference file.
type file struct {
	path string
	// doc is the file's JSON object; nil for a file of tensors.
	doc map[string]any
	// in has the worlds and models that the file names.
	in *Folder
	// net is the model whose values the file holds, for kinds with a model.
	net model.Model
}

// data returns the file as JSON.
func (f *file) data(t testing.TB) []byte {
	t.Helper()
	return reftest.Must(json.Marshal(f.doc))(t)
}

// inputs decodes the inputs from which the values of a file are computed.
func inputs[T any](t testing.TB, f *file) (in T) {
	t.Helper()
	reftest.OK(t, json.Unmarshal(f.data(t), &in), f.path)
	return in
}

// kind is a kind of reference file.
type kind struct {
	// name is the file's schema; "losses" and "golden" for files without one.
	name string
	// worlds reports whether the file names worlds with their own files, model whether its numbers
	// are a model's. Other files are recomputed on their own.
	worlds, model bool
	// limit is the maximum difference for items without their own limit.
	limit float64
	// check recomputes a file.
	check func(m *matcher, f *file)
}

const (
	worldSchema = "mdm-laws-world/1"
	moreSchema  = "mdm-laws-more/1"
)

// kinds lists the kinds of JSON files with a schema.
var kinds = []kind{
	{name: worldSchema, limit: lawsLimit, check: worldFile},
	{name: moreSchema, limit: lawsLimit, check: moreFile, worlds: true},
	{name: "mdm-laws-maskmass/1", limit: lawsLimit, check: maskmassFile},
	{name: "mdm-laws-theorem3/1", limit: lawsLimit, check: theorem3File},
	{name: "mdm-laws-scaling/1", limit: lawsLimit, check: scalingFile, worlds: true},
	{name: "mdm-laws-gumbel/1", limit: lawsLimit, check: gumbelFile},
	{name: "mdm-windows/1", limit: windowsLimit, check: windows, model: true},
	// Runs of decoders are repeated instead of compared as items.
	{name: "mdm-decoders/1", check: decoderRunsFile},
	{name: "mdm-caches/1", check: decoderRunsFile},
	{name: "mdm-decoder-finals/1", check: decoderFinalsFile, model: true},
	{name: "mdm-decoder-laws/1", check: decoderLawsFile, worlds: true},
	{name: "mdm-decoder-quotas/1", check: quotasFile},
}

// Files of losses have no schema, and are recognised by their canvas. Golden files hold tensors of
// a model.
var (
	lossesKind = kind{name: "losses", limit: lossesLimit, check: losses, model: true}
	goldenKind = kind{name: "golden", limit: goldenLimit, check: golden, model: true}
)

// golden compares a network with tensors.
func golden(m *matcher, f *file) {
	if f.net.Facts().Family == "llada" {
		m.limit = lladaLimit
	}
	r := reftest.Must(verify.Golden(m.t.Context(), f.net, f.path, m.limit))(m.t)
	m.items = r.Items
}

// kindOf recognises a JSON file by its content; schema is the file's, and known reports whether it
// is a kind of reference file.
func kindOf(doc map[string]any) (k kind, schema string, known bool) {
	schema, _ = doc["schema"].(string)
	if schema == "" {
		return lossesKind, "", doc["x0"] != nil && doc["mask"] != nil
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == schema })
	if i < 0 {
		return k, schema, false
	}
	return kinds[i], schema, true
}

// open reads a reference file. It does not read tensors.
func (d *Folder) open(t testing.TB, path string) *file {
	t.Helper()
	f := &file{path: path, in: d}
	if !isGolden(path) {
		read(t, path, &f.doc)
	}
	return f
}

// read reads a JSON file.
func read(t testing.TB, path string, to any) {
	t.Helper()
	data := reftest.Must(os.ReadFile(path))(t)
	reftest.OK(t, json.Unmarshal(data, to), path)
}

// inOrder yields the entries of a map by key, so that the same fault is reported first every time.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
