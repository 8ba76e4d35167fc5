package bench

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/model"
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
type Errors struct {
	studies[quality.Study]
	d     int
	model model.Model // of the first cell
}

// GroupErrors groups cells that can be studied together: those that draw tokens alike, with given
// orders in groups of their own, since each needs its own rows. A cell whose sampler does not fit d
// positions is omitted, with a note.
func GroupErrors(cells []Cell, d int) *Errors {
	refuse := func(c *Cell) string {
		for _, s := range []samplers.Law{samplers.BySizes{AtHit: true}, c.Sampler.Law()} { // first-hitting and its own
			if err := s.Fits(d, c.Model.Facts().TimeConditioned); err != nil {
				return fault.Plain(err)
			}
		}
		return ""
	}
	note := func(names []string, why string) string {
		return fmt.Sprintf("The sampling error of %s over %d positions is not computed: %s.", Named(names, "; "), d, why)
	}
	key := func(c *Cell) string { return c.lawKey(false) }
	return &Errors{d: d, model: cells[0].Model, studies: newStudies[quality.Study](cells, key, refuse, note, func(a, b *Cell) bool {
		_, one := a.Sampler.Law().(samplers.ByList)
		_, other := b.Sampler.Law().(samplers.ByList)
		return sameDraw(a, b) && one == other
	})}
}

// errorSeed separates the streams of texts from those of repetitions.
const errorSeed = 0x6572726f72 // "error"

// Measure draws texts of first-hitting for each group and calls on with each.
func (e *Errors) Measure(ctx context.Context, target likelihood.Target, cfg quality.Config, on func(ErrorSample) error) error {
	cfg.Seed ^= errorSeed
	err := e.each(ctx, func(ctx context.Context, i int, g *group[quality.Study]) (*quality.Study, error) {
		evaluator, err := likelihood.New(e.model, likelihood.Options{Draw: g.cells[0].Sampler.Settings().Draw})
		if err != nil {
			return nil, err
		}
		cfg := cfg
		cfg.OnSample = func(s quality.Sample) error { return on(ErrorSample{KindError, i, s}) }
		return quality.Measure(ctx, evaluator, target, g.samplers(), cfg)
	})
	if err != nil {
		return fault.Errorf("bench", "sampling error: %w", err)
	}
	return nil
}

// Quality returns a cell's part of the studies, false if it has none.
func (e *Errors) Quality(c *Cell) (Quality, bool) {
	st, i, ok := e.of(c)
	if !ok {
		return Quality{}, false
	}
	q := Quality{Kind: KindQuality, Cell: c.ID, Part: PartError}
	add := func(m Metric) { q.Metrics = append(q.Metrics, m) }
	add(Metric{Name: "tv", Unit: "probability", Value: st.Distance(quality.TV, i)})
	bounds := func(what quality.Distance, unit string) {
		if b, ok := st.Bound(what, i); ok {
			// Adding 0 turns −0 into 0.
			add(Metric{Name: string(what) + "_collision_bound", Unit: unit, Value: exact(b + 0), Bound: "upper", Detail: what == quality.KL})
		}
	}
	bounds(quality.TV, "probability")
	add(Metric{Name: "kl", Unit: "nats", Value: st.Distance(quality.KL, i)})
	bounds(quality.KL, "nats")
	if expected, err := Expect(c.Sampler, e.d); err == nil && !math.IsNaN(expected.All()) {
		add(Metric{Name: "error_calls", Unit: "calls", Value: exact(expected.All()), Detail: true})
	}
	if m, ok := collisionMetric(c); ok {
		m.Detail = true
		add(m)
	}
	return q, true
}
