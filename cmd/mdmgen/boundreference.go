package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reference"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/model/causal"
)

// referenceKinds are what --reference takes before the colon.
var referenceKinds = []string{"ngram", "causal", "masked"}

// defaultOrder is that of an n-gram.
const defaultOrder = 4

func referenceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "reference", Category: catEstimate, Usage: "bound KL(q0‖P_FHS) and ε″ of a text from below by another law, `KIND:WHAT`: ngram:FILE, counted on another text; causal:MODEL, an ONNX model of the same tokens; masked:MODEL, another network's first-hitting law"},
		&cli.IntFlag{Name: "ngram-order", Category: catEstimate, DefaultText: fmt.Sprint(defaultOrder), Usage: "`N` tokens of a run that --reference ngram:FILE counts"},
	}
}

// checkReference refuses what can be refused before anything is opened.
func checkReference(c *cli.Context) error {
	kind, what, _ := strings.Cut(c.String("reference"), ":")
	if c.IsSet("reference") && (what == "" || !slices.Contains(referenceKinds, kind)) {
		return usagef("--reference %s: must be KIND:WHAT with a KIND of %s", c.String("reference"), strings.Join(referenceKinds, ", "))
	}
	if n := c.Int("ngram-order"); c.IsSet("ngram-order") && (n < 1 || n > 64) {
		return usagef("--ngram-order %d: must be in 1..64", n)
	}
	if c.IsSet("ngram-order") && kind != "ngram" {
		return leaveOut(c, usagef("--ngram-order: belongs to --reference ngram:FILE"), "ngram-order")
	}
	return nil
}

// reference opens what --reference names, nil where it names nothing, and says what closes it.
func (r *bounding) reference(in *scoring, ts []likelihood.Target) (ref *bound.Reference, done func(), err error) {
	c, done := r.c, func() {}
	kind, what, _ := strings.Cut(c.String("reference"), ":")
	if what == "" {
		return nil, done, nil
	}
	ref = &bound.Reference{Name: c.String("reference")}
	for _, w := range in.windows {
		ref.Documents = append(ref.Documents, w.document)
	}
	set := &r.settings
	set.Reference = ref.Name
	switch kind {
	case "ngram":
		set.NGramOrder = cmp.Or(c.Int("ngram-order"), defaultOrder)
		ref.Name = fmt.Sprintf("the %d-gram of %s", set.NGramOrder, what)
		g, err := in.ngram(what, set.NGramOrder, ts, ref.Documents)
		if err != nil {
			return nil, done, err
		}
		ref.Law, ref.Note, set.ReferenceDigest = g, g.Note, g.Digest
	case "causal":
		runtime, err := runtimeConfig(c, r.streams)
		if err != nil {
			return nil, done, err
		}
		eos := -1
		if in.tokenizer != nil {
			if _, eos, err = in.tokenizer.Frame(); err != nil {
				return nil, done, err
			}
		}
		m, err := causal.Open(c.Context, what, runtime)
		if err != nil {
			return nil, done, err
		}
		set.ReferenceDigest, ref.Law, done = m.Origin().Digest, reference.Causal{Model: m, Begin: eos}, func() { m.Close() }
	case "masked":
		opts, err := modelOptions(c, r.streams, what)
		if err != nil {
			return nil, done, err
		}
		m, err := r.streams.open(c.Context, what, opts)
		if err != nil {
			return nil, done, err
		}
		done = func() { m.Close() }
		e, err := likelihood.New(m, likelihood.Options{Batch: c.Int("batch")})
		if err != nil {
			return nil, done, err
		}
		if f := m.Facts(); f.Columns != in.facts.Columns {
			return nil, done, fmt.Errorf("--reference %s: has %d tokens, the model %d: they must be the same", ref.Name, f.Columns, in.facts.Columns)
		}
		set.ReferenceDigest, ref.Law = m.(model.Describer).Origin().Digest, reference.FirstHitting{Evaluator: e}
	}
	return ref, done, nil
}

// ngram counts the text at path, from which the windows must be apart.
func (r *scoring) ngram(path string, order int, ts []likelihood.Target, documents []int) (g reference.Counted, err error) {
	if r.tokenizer == nil {
		return g, missingf("--reference ngram:%s: a text needs a tokenizer: give one with --tokenizer", path)
	}
	if a, err := os.Stat(path); err == nil {
		if b, err := os.Stat(r.path()); err == nil && os.SameFile(a, b) {
			return g, usagef("--reference ngram:%s: is the text itself: give one that was kept apart from it", path)
		}
	}
	f, err := plainfile.OpenNamed(r.c.Context, path)
	if err == nil {
		defer f.Close()
		g, err = reference.Count(textPieces(r.tokenizer, f, path), order, r.facts, ts, documents)
	}
	if err != nil {
		err = fmt.Errorf("--reference ngram:%s: %s", path, strings.TrimPrefix(bare(err), "reference: "))
	}
	return g, err
}
