package bound

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reference"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/windows"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/model/causal"
	"mdmgen/model/hub"
)

// referenceKinds are what --reference takes before the colon.
var referenceKinds = []string{"ngram", "causal", "masked"}

// defaultOrder is the order of an n-gram.
const defaultOrder = 4

// referenceFlags choose the law that bounds from below.
func (o *options) referenceFlags() flags.Set {
	return flags.Set{
		flags.Text(&o.reference, flags.Flag{Name: "reference", Category: flags.CatEstimate, Usage: "bound KL(q0‖P_FHS) and ε″ of a text from below by another distribution, `KIND:WHAT`: ngram:FILE, counted on another text; causal:MODEL, an ONNX model of the same tokens; masked:MODEL, another network's first-hitting law"}),
		flags.Int(&o.ngramOrder, 1, 64, flags.Flag{Name: "ngram-order", Category: flags.CatEstimate, Default: fmt.Sprint(defaultOrder), Usage: "`N` tokens of the runs that --reference ngram:FILE counts"}),
	}
}

// checkReference refuses what can be refused before anything is opened.
func (o *options) checkReference() error {
	kind, what, _ := strings.Cut(o.reference, ":")
	if o.all.IsSet("reference") && (what == "" || !slices.Contains(referenceKinds, kind)) {
		return exit.Usagef("--reference %s: must be KIND:WHAT with a KIND of %s", o.reference, strings.Join(referenceKinds, ", "))
	}
	if o.all.IsSet("ngram-order") && kind != "ngram" {
		return o.all.LeaveOut(exit.Usagef("--ngram-order: belongs to --reference ngram:FILE"), "ngram-order")
	}
	return nil
}

// openReference opens what --reference names, nil where it names nothing, and returns what closes it.
func (r *bounding) openReference(in *windows.Reader, read []windows.Window, ts []likelihood.Target) (ref *bound.Reference, done func(), err error) {
	done = func() {}
	kind, what, _ := strings.Cut(r.reference, ":")
	if what == "" {
		return nil, done, nil
	}
	ref = &bound.Reference{Name: r.reference}
	var documents []int
	for _, w := range read {
		documents = append(documents, w.Document)
	}
	set := &r.settings
	set.Reference = ref.Name
	switch kind {
	case "ngram":
		set.NGramOrder = cmp.Or(r.ngramOrder, defaultOrder)
		ref.Name = fmt.Sprintf("the %d-gram of %s", set.NGramOrder, what)
		g, err := ngram(in, what, set.NGramOrder, ts, documents)
		if err != nil {
			return nil, done, err
		}
		ref.Law, ref.Note, set.ReferenceDigest = g, g.Note, g.Digest
	case "causal":
		runtime, err := r.model.Config(r.streams, r.all)
		if err != nil {
			return nil, done, err
		}
		eos := -1
		if in.Tokenizer != nil {
			if _, end, err := in.Tokenizer.Frame(); err == nil {
				eos = end
			}
		}
		if what, err = setup.LocalFolder(r.ctx, r.streams, r.model.Offline(), what, hub.Graph); err != nil {
			return nil, done, fmt.Errorf("--reference %s: %w", r.reference, err)
		}
		m, err := causal.Open(r.ctx, what, runtime)
		if err != nil {
			return nil, done, fmt.Errorf("--reference %s: %w", r.reference, err)
		}
		set.ReferenceDigest, ref.Law, done = m.Origin().Digest, reference.Causal{Model: m, Begin: eos}, func() { m.Close() }
	case "masked":
		other := r.model
		other.Ref = what
		m, err := other.Open(r.ctx, r.streams, r.all)
		if err != nil {
			return nil, done, err
		}
		done = func() { m.Close() }
		e, err := likelihood.New(m, likelihood.Options{Batch: r.sampler.Batch})
		if err != nil {
			return nil, done, err
		}
		if f := m.Facts(); f.Columns != in.Facts.Columns {
			return nil, done, fmt.Errorf("--reference %s: has %d tokens, the model %d: they must be the same", ref.Name, f.Columns, in.Facts.Columns)
		}
		set.ReferenceDigest, ref.Law = m.(model.Describer).Origin().Digest, reference.FirstHitting{Evaluator: e}
	}
	return ref, done, nil
}

// ngram counts the text at path, from which the windows must be apart.
func ngram(r *windows.Reader, path string, order int, ts []likelihood.Target, documents []int) (g reference.Counted, err error) {
	if r.Tokenizer == nil {
		return g, exit.Missingf("--reference ngram:%s: a text needs a tokenizer: give one with --tokenizer", path)
	}
	if a, err := os.Stat(path); err == nil {
		if b, err := os.Stat(r.Path); err == nil && os.SameFile(a, b) {
			return g, exit.Usagef("--reference ngram:%s: is the text itself: give one that was kept apart from it", path)
		}
	}
	f, err := plainfile.OpenNamed(r.Ctx, path)
	if err == nil {
		defer f.Close()
		g, err = reference.Count(windows.TextPieces(r.Tokenizer, f, path), order, r.Facts, ts, documents)
	}
	if err != nil {
		err = fmt.Errorf("--reference ngram:%s: %w", path, fault.WithoutName(err))
	}
	return g, err
}
