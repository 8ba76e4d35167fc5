package verify

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/model"
)

// maxFile bounds a JSON reference file, in bytes.
const maxFile = 256 << 20

// file is a JSON reference file.
type file struct {
	path string
	data []byte
	doc  *node
	// worlds is the folder of the worlds that the file names, "" for that in which such
	// files are laid.
	worlds string
}

// Kind is what a reference file is about.
type Kind struct {
	// Name is the file's schema, or "golden" for tensors.
	Name string
	// Model says whether the file's numbers are a model's; others are recomputed from the
	// file alone.
	Model bool
	// Worlds says that the file names worlds, which have files of their own.
	Worlds bool
	// Limit is the usual greatest difference, Measure what it is compared with.
	Limit   float64
	Measure Measure
	// Outlet is what the numbers ask of the model.
	Outlet model.Outlet
	run    func(ctx context.Context, f file, m *matcher) error
	// rows recomputes a file whose numbers are a model's.
	rows func(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]Item, error)
}

// lawsLimit is that of exact values: they hold to 1e-12, integrals to 1e-11.
const lawsLimit = 1e-10

// kinds of JSON files, by schema.
var kinds = []Kind{
	{Name: "mdm-laws-world/1", run: worldFile},
	{Name: "mdm-laws-more/1", Worlds: true, run: moreFile},
	{Name: "mdm-laws-maskmass/1", run: maskmassFile},
	{Name: "mdm-laws-theorem3/1", run: theorem3File},
	{Name: "mdm-laws-scaling/1", Worlds: true, run: scalingFile},
	{Name: "mdm-laws-gumbel/1", run: gumbelFile},
	{Name: windowsSchema, Model: true, Limit: 2e-5, Measure: Relative, Outlet: model.LogProbability, rows: windows},
}

// golden files hold tensors of a model; files of losses have no schema, but the canvas
// that they are of.
var (
	goldenKind = Kind{Name: "golden", Model: true, Limit: 1e-4, Measure: Absolute, Outlet: model.Rows, rows: goldenRows}
	lossesKind = Kind{Name: "losses", Model: true, Limit: 1e-4, Measure: Relative, Outlet: model.LogProbability, rows: losses}
)

func goldenRows(ctx context.Context, m model.Model, path string, _ []byte, limit float64) ([]Item, error) {
	return golden(ctx, m, path, limit)
}

// KindOf recognises a reference file by its content. Every error is one line.
func KindOf(path string) (Kind, error) {
	k, _, err := open(path)
	return k, err
}

// open reads a JSON file; of tensors only the beginning.
func open(path string) (Kind, file, error) {
	f := file{path: path}
	if strings.EqualFold(filepath.Ext(path), ".safetensors") {
		return goldenKind, f, nil
	}
	var err error
	if f.data, err = plainfile.Named(path, maxFile); err != nil {
		return Kind{}, f, fmt.Errorf("%s: %w", path, err)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(f.data, " \t\r\n"), []byte("{")) {
		if strings.EqualFold(filepath.Ext(path), ".json") {
			return Kind{}, f, fmt.Errorf("%s: is not a JSON object", path)
		}
		return goldenKind, f, nil
	}
	if f.doc, err = readDocument(f.data); err != nil {
		return Kind{}, f, fmt.Errorf("%s: %w", path, err)
	}
	var schema string
	if n := f.doc.fields["schema"]; n != nil {
		schema, _ = n.value.(string)
	}
	if schema == "" && f.doc.fields["x0"] != nil && f.doc.fields["mask"] != nil {
		return lossesKind, f, nil
	}
	var known []string
	for _, k := range kinds {
		if k.Name == schema {
			if !k.Model {
				k.Limit, k.Measure = lawsLimit, Relative
			}
			return k, f, nil
		}
		known = append(known, k.Name)
	}
	slices.Sort(known)
	return Kind{}, f, fmt.Errorf("%s: schema is %.60q: must be one of %s, or a .safetensors file of tensors", path, schema, strings.Join(known, ", "))
}

// File recomputes the reference file at path. m may be nil for kinds that need no
// model. limit is the greatest difference that is accepted; below 0 it is the
// kind's own. A difference above it is part of the report; an error means that the
// comparison could not be made. When ctx ends it returns as soon as the value that
// it is at is there, which may take a few seconds, and nothing of it goes on. Worlds that a file names are looked for beside it;
// [FileWithWorlds] takes their folder.
func File(ctx context.Context, m model.Model, path string, limit float64) (Report, error) {
	return FileWithWorlds(ctx, m, path, limit, "")
}

// FileWithWorlds is [File] with the folder of the worlds' files that the file names.
func FileWithWorlds(ctx context.Context, m model.Model, path string, limit float64, worlds string) (Report, error) {
	k, f, err := open(path)
	f.worlds = worlds
	if err != nil {
		return Report{}, err
	}
	if limit < 0 {
		limit = k.Limit
	}
	var items []Item
	if k.Model {
		if m == nil {
			return Report{}, fmt.Errorf("%s: holds values of a model: open one", path)
		}
		items, err = k.rows(ctx, m, path, f.data, limit)
	} else {
		match := &matcher{limit: limit, wider: map[string]float64{"euler_rate_integral": 10, "euler_rhs": 10}}
		err = k.run(ctx, f, match)
		if ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		items = match.items
	}
	if err != nil {
		return Report{}, err
	}
	if len(items) == 0 {
		return Report{}, fmt.Errorf("%s: holds no values to compare", path)
	}
	r := Report{Schema: Schema, OK: true, Items: items}
	for _, it := range r.Items {
		r.OK = r.OK && it.OK
	}
	return r, nil
}

// ok says whether all items so far are.
func (m *matcher) ok() bool {
	for _, it := range m.items {
		if !it.OK {
			return false
		}
	}
	return true
}
