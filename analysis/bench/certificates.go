package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
)

// KindCertificate is the kind of a [CertifiedRun] among the records of a run.
const KindCertificate = "certificate"

// CertifiedRun is a run of first-hitting with its certificates for the samplers of a group.
type CertifiedRun struct {
	Kind string `json:"kind"`
	// Group is the index of the group of cells.
	Group int             `json:"group"`
	Run   certificate.Run `json:"run"`
}

// Certificates holds the certificates of cells.
type Certificates struct{ studies[certificate.Study] }

// GroupCertificates groups cells that the same runs of first-hitting can serve: those that draw
// tokens alike on canvases of the same length. A cell whose sampler has no certificate is omitted,
// with a note.
func GroupCertificates(cells []Cell) *Certificates {
	refuse := func(c *Cell) string {
		switch err := certificate.Check(c.Sampler, c.Free); {
		case errors.Is(err, certificate.ErrNoPlan): // the same for all such samplers
			return "there is " + certificate.ErrNoPlan.Error()
		case err != nil:
			return fault.Plain(err)
		}
		return ""
	}
	note := func(names []string, why string) string {
		return fmt.Sprintf("%s %s no certificate: %s.", Named(names, "; "), english.PluralWord(len(names), "has", "have"), why)
	}
	return &Certificates{newStudies[certificate.Study](cells, refuse, note, func(a, b *Cell) bool {
		return sameDraw(a, b) && len(a.Canvas) == len(b.Canvas)
	})}
}

// certificateSeed separates the draws of certificates from those of repetitions.
const certificateSeed = 0x63657274 // "cert"

// Measure performs the runs and calls on with each that is not done. It uses the network and batch
// of the first cell of a group.
func (c *Certificates) Measure(ctx context.Context, cfg certificate.Config, done []CertifiedRun, on func(CertifiedRun) error) error {
	cfg.Seed ^= certificateSeed
	err := c.each(ctx, func(ctx context.Context, i int, g *group[certificate.Study]) (*certificate.Study, error) {
		first, cfg := g.cells[0], cfg
		cfg.Batch = first.Batch
		for _, d := range done {
			if d.Group == i {
				cfg.Done = append(cfg.Done, d.Run)
			}
		}
		cfg.OnRun = func(r certificate.Run) error { return on(CertifiedRun{KindCertificate, i, r}) }
		return certificate.Measure(ctx, first.Model, first.Canvas, g.samplers(), cfg)
	})
	if err != nil {
		return fault.Errorf("bench", "certificate: %w", err)
	}
	return nil
}

// Metrics returns a cell's part of the study, nil if it has none.
func (c *Certificates) Metrics(cell *Cell) []Metric {
	st, i, ok := c.of(cell)
	if !ok {
		return nil
	}
	b := st.Bound(i)
	limit := func(x float64) estimate.Estimate {
		return estimate.AtMost(x, b.TV.Confidence, b.TV.N, b.TV.Units)
	}
	tv := limit(b.TVLimit)
	if n := enough(st, i, b.TVLimit); n > 0 {
		tv.Warnings = []string{fmt.Sprintf("too few runs: %d would suffice", n)}
	}
	out := []Metric{
		{Name: "tv_certificate", Unit: "probability", Value: b.TV, Bound: "upper"},
		{Name: "tv_certificate_limit", Unit: "probability", Value: tv, Bound: "upper"},
		{Name: "kl_certificate", Unit: "nats", Value: b.KL, Bound: "upper"},
	}
	if !math.IsInf(b.KLLimit, 1) {
		out = append(out, Metric{Name: "kl_certificate_limit", Unit: "nats", Value: limit(b.KLLimit), Bound: "upper", Detail: true})
	}
	if m, ok := collisionMetric(cell); ok {
		out = append(out, m)
	}
	return out
}

// collisionMetric returns the collision bound over all free positions, false if there is none.
func collisionMetric(c *Cell) (Metric, bool) {
	apart, err := c.Sampler.Collision(max(c.Free, 1))
	return Metric{Name: "tv_collision_bound", Unit: "probability", Value: estimate.Exact(-math.Expm1(apart) + 0), Bound: "upper"}, err == nil && !c.Model.Facts().TimeConditioned
}

// vacuous is the limit of a probability from which on it counts as no limit.
const vacuous = 0.999

// enough estimates, from the runs made, a number of runs that would bring a limit of TV below
// vacuous. It returns 0 if the limit is below already, or if 4,096 runs would not suffice.
func enough(st *certificate.Study, i int, limit float64) int {
	tv, _ := st.Terms(i)
	for limit > vacuous {
		if tv = append(tv, tv...); len(tv) > 4096 {
			return 0
		}
		if estimate.UpperLimit(tv, st.Confidence) <= vacuous {
			return len(tv)
		}
	}
	return 0
}
