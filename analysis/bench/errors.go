package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// KindError is the kind of an [ErrorSample] among the records of a run.
const KindError = "error"

// ErrorSample is a text of first-hitting with its exact log-probabilities under the
// samplers of a group.
type ErrorSample struct {
	Kind string `json:"kind"`
	// Group and Target are the indices of the group of samplers and of the window.
	Group  int            `json:"group"`
	Target int            `json:"target"`
	Sample quality.Sample `json:"sample"`
}

// ErrorConfig says how sampling errors are measured.
type ErrorConfig struct {
	// Evaluator opens the network for a way to draw tokens.
	Evaluator func(draw.Settings) (*likelihood.Evaluator, error)
	// Targets are windows with equal numbers of free positions; samples are spread
	// evenly over them.
	Targets []likelihood.Target
	// Samples is the number of texts of first-hitting.
	Samples    int
	Seed       uint64
	Confidence float64
	// Done are samples of an earlier run, OnSample is handed each new one.
	Done     []ErrorSample
	OnSample func(ErrorSample) error
}

// Errors are the sampling errors of cells.
type Errors struct {
	// Notes say which cells were left out, and why.
	Notes  []string
	groups []*errorGroup
	d      int
}

// errorGroup is a list of samplers that one study serves.
type errorGroup struct {
	draw  draw.Settings
	cells []*Cell
	// at is the index in cells of a law.
	at    map[string]int
	study *quality.Study
}

// GroupErrors sorts cells into groups that can be studied together: those that draw
// tokens alike, orders that are given apart, since each of them takes rows of its own. A
// cell whose sampler does not fit d positions is left out, with a note.
func GroupErrors(cells []Cell, d int) *Errors {
	out := &Errors{d: d}
	for i := range cells {
		c := &cells[i]
		if err := measurable(c.Sampler, d); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("The sampling error of %s over %d positions is not worked out: %s.", c.ID, d, fault.Plain(err)))
			continue
		}
		set := c.Sampler.Settings()
		law, _ := c.Sampler.Law()
		var g *errorGroup
		for _, x := range out.groups {
			first, _ := x.cells[0].Sampler.Law()
			if x.draw.Same(set.Draw) && law.Fixed == first.Fixed {
				g = x
			}
		}
		if g == nil {
			g = &errorGroup{draw: set.Draw, at: make(map[string]int)}
			out.groups = append(out.groups, g)
		}
		key := c.lawKey(false)
		if _, ok := g.at[key]; !ok {
			g.at[key] = len(g.cells)
			g.cells = append(g.cells, c)
		}
	}
	return out
}

// measurable says why no exact probabilities over d positions are worked out.
func measurable(s *catalog.Sampler, d int) error {
	switch law, planned := s.Law(); {
	case !planned && law.Replay == samplers.NoReplay:
		return errors.New(law.Why)
	case !planned:
		return likelihood.FitsReplay(d, s)
	}
	_, err := NewLaw(s, d)
	return err
}

// Work is the number of samples that are to be measured in all.
func (e *Errors) Work(cfg ErrorConfig) int { return len(e.groups) * cfg.Samples }

// errorSeed keeps the streams of texts apart from those of repetitions.
const errorSeed = 0x6572726f72 // "error"

// Measure works out the samples that are missing, group by group. It returns false where
// the context ended first: what was finished is kept, and numbers are of fewer
// samples.
func (e *Errors) Measure(ctx context.Context, cfg ErrorConfig) (complete bool, err error) {
	complete = true
	for i, g := range e.groups {
		evaluator, err := cfg.Evaluator(g.draw)
		if err != nil {
			return false, err
		}
		var ss []*catalog.Sampler
		for _, c := range g.cells {
			ss = append(ss, c.Sampler)
		}
		for t, target := range cfg.Targets {
			// Sample j of the study is of window j mod len(Targets).
			n := (cfg.Samples - t + len(cfg.Targets) - 1) / len(cfg.Targets)
			if n < 1 {
				continue
			}
			one := quality.Config{Samples: n, Seed: (cfg.Seed ^ errorSeed) + uint64(t)*0x9e3779b97f4a7c15, Confidence: cfg.Confidence}
			for _, d := range cfg.Done {
				if d.Group == i && d.Target == t {
					one.Done = append(one.Done, d.Sample)
				}
			}
			fresh := one.Done
			one.OnSample = func(s quality.Sample) error {
				fresh = append(fresh, s)
				if cfg.OnSample == nil {
					return nil
				}
				return cfg.OnSample(ErrorSample{KindError, i, t, s})
			}
			st, err := quality.Measure(ctx, evaluator, target, ss, one)
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				complete = false
				if st, err = g.partial(evaluator, target, ss, one, fresh); st == nil && err == nil {
					continue
				}
			}
			if err != nil {
				return false, fault.Errorf("bench", "sampling error: %w", err)
			}
			g.add(st)
		}
	}
	return complete, nil
}

// partial is the study of the samples that were finished in time, nil where there are none.
func (g *errorGroup) partial(e *likelihood.Evaluator, t likelihood.Target, ss []*catalog.Sampler, cfg quality.Config, done []quality.Sample) (*quality.Study, error) {
	// They are the first ones: samples are made, and handed out, in their order.
	n := 0
	for _, s := range done {
		n = max(n, int(s.Index)+1)
	}
	if n == 0 || n != len(done) {
		return nil, nil
	}
	cfg.Samples, cfg.Done, cfg.OnSample = n, done, nil
	return quality.Measure(context.Background(), e, t, ss, cfg)
}

// add joins the study of another window.
func (g *errorGroup) add(st *quality.Study) {
	if g.study == nil {
		g.study = st
		return
	}
	joined := *g.study
	joined.Samples = append(joined.Samples[:len(joined.Samples):len(joined.Samples)], st.Samples...)
	g.study = &joined
}

// of finds a cell's study and index there.
func (e *Errors) of(c *Cell) (*quality.Study, int, bool) {
	for _, g := range e.groups {
		if i, ok := g.at[c.lawKey(false)]; ok && g.study != nil {
			return g.study, i, true
		}
	}
	return nil, 0, false
}

// Quality is what the studies tell of a cell, false where none has it.
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
			// + 0: −0 is 0.
			add(Metric{Name: string(what) + "_collision_bound", Unit: unit, Value: exact(b + 0), Bound: "upper", Detail: what == quality.KL})
		}
	}
	bounds(quality.TV, "probability")
	add(Metric{Name: "kl", Unit: "nats", Value: st.Distance(quality.KL, i)})
	bounds(quality.KL, "nats")
	if law, err := NewLaw(c.Sampler, e.d); err == nil {
		add(Metric{Name: "error_calls", Unit: "calls", Value: exact(law.All()), Detail: true})
	}
	if apart, err := quality.Collision(c.Sampler, max(c.Free, 1)); err == nil && !c.Model.Facts().TimeConditioned {
		add(Metric{Name: "tv_collision_bound_full", Unit: "probability", Value: exact(-math.Expm1(apart) + 0), Bound: "upper", Detail: true})
	}
	return q, true
}
