package bench

import (
	"context"
	"fmt"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// KindError is the kind of an [ErrorSample] among the records of a run.
const KindError = "error"

// ErrorSample is a text of first-hitting with its exact log-probabilities under the
// samplers of a group.
type ErrorSample struct {
	Kind string `json:"kind"`
	// Group is the index of the group of samplers.
	Group  int            `json:"group"`
	Sample quality.Sample `json:"sample"`
}

// Errors holds the sampling errors of cells.
type Errors struct{ studies[quality.Study] }

// GroupErrors groups cells that can be studied together: those that draw tokens alike on one canvas,
// with given orders in groups of their own, since each needs its own rows. A cell whose sampler does
// not fit its canvas is omitted, with a note.
func GroupErrors(cells []Cell) *Errors {
	refuse := func(c *Cell) string {
		for _, s := range []samplers.Law{samplers.BySizes{AtHit: true}, c.Sampler.Law()} { // First-Hitting and its own
			if err := s.Fits(c.Free, c.Model.Facts().TimeConditioned); err != nil {
				return fault.Plain(err)
			}
		}
		return ""
	}
	note := func(names []string, why string) string {
		return fmt.Sprintf("The sampling error of %s is not computed: %s.", Named(names, "; "), why)
	}
	return &Errors{newStudies[quality.Study](cells, refuse, note, func(a, b *Cell) bool {
		listed := samplers.Is[samplers.ByList]
		return sameDraw(a, b) && listed(a.Sampler.Law()) == listed(b.Sampler.Law()) && slices.Equal(a.Canvas, b.Canvas)
	})}
}

// errorSeed separates the streams of texts from those of repetitions.
const errorSeed = 0x6572726f72 // "error"

// Measure draws texts of first-hitting for each group and calls on with each that is not done.
func (e *Errors) Measure(ctx context.Context, cfg quality.Config, done []ErrorSample, on func(ErrorSample) error) error {
	cfg.Seed ^= errorSeed
	err := e.each(ctx, func(ctx context.Context, i int, g *group[quality.Study]) (*quality.Study, error) {
		first := g.cells[0]
		evaluator, err := likelihood.New(first.Model, likelihood.Options{Draw: first.Sampler.Settings().Draw})
		if err != nil {
			return nil, err
		}
		spec, cfg := first.Model.Spec(), cfg
		target := likelihood.Target{IDs: first.Canvas, Free: spec.Masked(first.Canvas)}
		for _, d := range done {
			if d.Group == i {
				cfg.Done = append(cfg.Done, d.Sample)
			}
		}
		cfg.OnSample = func(s quality.Sample) error { return on(ErrorSample{KindError, i, s}) }
		return quality.Measure(ctx, evaluator, target, g.samplers(), cfg)
	})
	if err != nil {
		return fault.Errorf("bench", "sampling error: %w", err)
	}
	return nil
}

// Metrics returns a cell's part of the studies, nil if it has none.
func (e *Errors) Metrics(c *Cell) (out []Metric) {
	st, i, ok := e.of(c)
	if !ok {
		return nil
	}
	for _, what := range quality.Distances {
		out = append(out, Metric{Name: what.Name, Unit: what.Unit, Value: st.Distance(what, i)})
		if b, ok := st.Bound(what, i); ok { // Adding 0 turns −0 into 0.
			out = append(out, Metric{Name: what.Name + "_collision_bound", Unit: what.Unit, Value: estimate.Exact(b + 0), Bound: "upper", Detail: what.Name != quality.TV.Name})
		}
	}
	return out
}
