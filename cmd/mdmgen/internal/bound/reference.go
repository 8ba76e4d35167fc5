package bound

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/analysis/baseline"
	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/model/causal"
	"mdmgen/model/hub"
)

// referenceKinds are the values of --reference before the colon.
var referenceKinds = []string{"causal", "masked"}

// checkReference returns the errors of --reference that can be found before anything is opened.
func (o *options) checkReference() error {
	kind, what, _ := strings.Cut(o.reference, ":")
	if o.all.Given("reference") && (what == "" || !slices.Contains(referenceKinds, kind)) {
		return exit.Usagef("--reference %s: must be KIND:WHAT with a KIND of %s", o.reference, strings.Join(referenceKinds, ", "))
	}
	return nil
}

// openReference opens the model of --reference, nil if it is not given. done closes it.
func (r *bounding) openReference(in *texts.Reader) (ref *bound.Baseline, done func(), err error) {
	done = func() {}
	kind, what, _ := strings.Cut(r.reference, ":")
	if what == "" {
		return nil, done, nil
	}
	ref = &bound.Baseline{Name: r.reference}
	set := &r.settings
	set.Reference = ref.Name
	switch kind {
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
		set.ReferenceDigest, ref.Distribution, done = m.Origin().Digest, baseline.Causal{Model: m, Begin: eos}, func() { m.Close() }
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
		set.ReferenceDigest, ref.Distribution = m.(model.Describer).Origin().Digest, baseline.FirstHitting{Evaluator: e}
	}
	return ref, done, nil
}
