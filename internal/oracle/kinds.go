package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	"mdmgen/analysis/verify"
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
	// in is where the worlds that the file names are.
	in *Folder
}

// Kind is what a reference file is about.
type Kind struct {
	// Name is the file's schema; "losses" and "golden" for those that have none.
	Name string
	// Worlds says that the file names worlds, which have files of their own.
	Worlds bool
	// Limit is the greatest difference that is accepted, for items that say no other.
	Limit float64
	// laws recomputes a file that needs no model, rows one whose numbers are a model's.
	laws func(ctx context.Context, f file, m *matcher) error
	rows func(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]verify.Item, error)
}

// decoders says that the file is about what decoders do.
func (k Kind) decoders() bool { return k.rows == nil && k.laws == nil }

// Model says whether the file's numbers are a model's; others are recomputed from the file
// alone.
func (k Kind) Model() bool { return k.rows != nil }

const (
	windowsSchema  = "mdm-windows/1"
	worldSchema    = "mdm-laws-world/1"
	moreSchema     = "mdm-laws-more/1"
	maskmassSchema = "mdm-laws-maskmass/1"
	theorem3Schema = "mdm-laws-theorem3/1"
	scalingSchema  = "mdm-laws-scaling/1"
	gumbelSchema   = "mdm-laws-gumbel/1"
	// What decoders do is compared by [Folder.Decoders] and the like, and not by reports.
	decodersSchema     = "mdm-decoders/1"
	decoderLawsSchema  = "mdm-decoder-laws/1"
	decoderQuotaSchema = "mdm-decoder-quotas/1"
)

// kinds are those of JSON files with a schema.
func kinds() []Kind {
	return []Kind{
		{Name: worldSchema, Limit: lawsLimit, laws: worldFile},
		{Name: moreSchema, Limit: lawsLimit, laws: moreFile, Worlds: true},
		{Name: maskmassSchema, Limit: lawsLimit, laws: maskmassFile},
		{Name: theorem3Schema, Limit: lawsLimit, laws: theorem3File},
		{Name: scalingSchema, Limit: lawsLimit, laws: scalingFile, Worlds: true},
		{Name: gumbelSchema, Limit: lawsLimit, laws: gumbelFile},
		{Name: windowsSchema, Limit: windowsLimit, rows: windows},
		{Name: decodersSchema}, {Name: decoderLawsSchema, Worlds: true}, {Name: decoderQuotaSchema},
	}
}

// Files of losses have no schema, but the canvas that they are of; golden files hold
// tensors of a model.
var (
	lossesKind = Kind{Name: "losses", Limit: lossesLimit, rows: losses}
	goldenKind = Kind{Name: "golden", Limit: goldenLimit, rows: golden}
)

// golden compares a network with tensors.
func golden(ctx context.Context, m model.Model, path string, _ []byte, limit float64) ([]verify.Item, error) {
	if m.Facts().Family == "llada" {
		limit = lladaLimit
	}
	r, err := verify.Golden(ctx, m, path, limit)
	return r.Items, err
}

// kindOf recognises a JSON file by its content; schema is what it says, and known whether
// that is a kind of reference files.
func kindOf(data []byte) (k Kind, schema string, known bool) {
	var h struct {
		Schema   any
		X0, Mask json.RawMessage
	}
	if json.Unmarshal(data, &h) != nil {
		return k, "", false
	}
	schema, _ = h.Schema.(string)
	if schema == "" {
		return lossesKind, "", h.X0 != nil && h.Mask != nil
	}
	for _, k := range kinds() {
		if k.Name == schema {
			return k, schema, true
		}
	}
	return k, schema, false
}

// Report is the outcome for a reference file.
type Report struct {
	verify.Report
	// NotOffered is the number of laws in the file that are of samplers that the program
	// does not offer, and which nothing was compared with.
	NotOffered int
}

// Report recomputes the reference file at path. m may be nil for kinds that need no model.
// A difference above the limit is part of the report; an error means that the comparison
// could not be made. When ctx ends it returns as soon as the value that it is at is
// there, which may take a few seconds, and nothing of it goes on.
func (d *Folder) Report(ctx context.Context, m model.Model, path string) (Report, error) {
	k, f, err := d.open(path)
	if err != nil {
		return Report{}, err
	}
	var items []verify.Item
	var notOffered int
	if k.decoders() {
		return Report{}, fmt.Errorf("%s: holds runs of decoders, which have no report", path)
	}
	if k.Model() {
		if m == nil {
			return Report{}, fmt.Errorf("%s: holds values of a model: open one", path)
		}
		items, err = k.rows(ctx, m, path, f.data, k.Limit)
	} else {
		match := &matcher{limit: k.Limit, wider: lawsWider()}
		err = k.laws(ctx, f, match)
		if ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		items, notOffered = match.items, match.notOffered
	}
	if err != nil {
		return Report{}, err
	}
	if len(items) == 0 {
		return Report{}, fmt.Errorf("%s: holds no values to compare", path)
	}
	r := Report{verify.Report{OK: true, Items: items}, notOffered}
	for _, it := range r.Items {
		r.OK = r.OK && it.OK
	}
	return r, nil
}

// open reads a file; of tensors nothing.
func (d *Folder) open(path string) (Kind, file, error) {
	f := file{path: path, in: d}
	if isGolden(path) {
		return goldenKind, f, nil
	}
	var err error
	if f.data, err = plainfile.Read(path, maxFile); err != nil {
		return Kind{}, f, fmt.Errorf("%s: %w", path, err)
	}
	if f.doc, err = readDocument(f.data); err != nil {
		return Kind{}, f, fmt.Errorf("%s: %w", path, err)
	}
	k, schema, known := kindOf(f.data)
	if !known {
		return k, f, fmt.Errorf("%s: file of an unknown schema %.60q", path, schema)
	}
	return k, f, nil
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
