package bench

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// KindCertificate is the kind of a [CertifiedRun] among the records of a run.
const KindCertificate = "certificate"

// CertifiedRun is a run of first-hitting with what it says of the samplers of a group.
type CertifiedRun struct {
	Kind string `json:"kind"`
	// Group is the index of the group of cells.
	Group int             `json:"group"`
	Run   certificate.Run `json:"run"`
}

// CertificateConfig says how certificates are measured.
type CertificateConfig struct {
	// Runs is the number of runs of first-hitting.
	Runs       int
	Seed       uint64
	Confidence float64
	// Done are runs that an earlier run made, OnRun is handed each new one.
	Done  []CertifiedRun
	OnRun func(CertifiedRun) error
}

// Certificates are the certificates of cells.
type Certificates struct {
	// Notes say which cells were left out, and why.
	Notes  []string
	groups []*certificateGroup
}

// certificateGroup is a list of cells that the same runs serve.
type certificateGroup struct {
	cells []*Cell
	// at is the index in cells of a law.
	at    map[string]int
	study *certificate.Study
}

// GroupCertificates sorts cells into groups that runs of first-hitting can serve together:
// those that draw tokens alike on canvases of one length. A cell whose sampler has no
// certificate is left out, with a note.
func GroupCertificates(cells []Cell) *Certificates {
	out := new(Certificates)
	for i := range cells {
		c := &cells[i]
		if err := certificate.Check(c.Sampler, c.Free); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("%s has no certificate: %s.", c.ID, fault.Plain(err)))
			continue
		}
		var g *certificateGroup
		for _, x := range out.groups {
			if first := x.cells[0]; first.Sampler.Settings().Draw.Same(c.Sampler.Settings().Draw) && len(first.Canvas) == len(c.Canvas) {
				g = x
			}
		}
		if g == nil {
			g = &certificateGroup{at: make(map[string]int)}
			out.groups = append(out.groups, g)
		}
		if key := c.lawKey(true); !g.has(key) {
			g.at[key] = len(g.cells)
			g.cells = append(g.cells, c)
		}
	}
	return out
}

func (g *certificateGroup) has(key string) bool { _, ok := g.at[key]; return ok }

// Work is the number of runs that are to be made in all, 0 for a nil c.
func (c *Certificates) Work(cfg CertificateConfig) int {
	if c == nil {
		return 0
	}
	return len(c.groups) * cfg.Runs
}

// certificateSeed keeps the draws of certificates apart from those of repetitions.
const certificateSeed = 0x63657274 // "cert"

// Measure makes the runs that are missing, group by group, on the network and with the batch
// of the first cell of each. It returns false where the context ended first: what was
// finished is kept, and bounds are of fewer runs.
func (c *Certificates) Measure(ctx context.Context, cfg CertificateConfig) (complete bool, err error) {
	for i, g := range c.groups {
		first := g.cells[0]
		one := certificate.Config{Runs: cfg.Runs, Seed: cfg.Seed ^ certificateSeed, Batch: first.Batch, Confidence: cfg.Confidence}
		for _, d := range cfg.Done {
			if d.Group == i {
				one.Done = append(one.Done, d.Run)
			}
		}
		if cfg.OnRun != nil {
			one.OnRun = func(r certificate.Run) error { return cfg.OnRun(CertifiedRun{KindCertificate, i, r}) }
		}
		var ss []*catalog.Sampler
		for _, x := range g.cells {
			ss = append(ss, x.Sampler)
		}
		g.study, err = certificate.Measure(ctx, first.Model, first.Canvas, ss, one)
		if ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			return false, fault.Errorf("bench", "certificate: %w", err)
		}
	}
	return true, nil
}

// Quality is what the runs tell of a cell, false where none does.
func (c *Certificates) Quality(cell *Cell) (Quality, bool) {
	key := cell.lawKey(true)
	for _, g := range c.groups {
		if g.study == nil || !g.has(key) {
			continue
		}
		b := g.study.Bound(g.at[key])
		limit := func(x float64) estimate.Estimate { return limitOf(b.TV, x) }
		q := Quality{Kind: KindQuality, Cell: cell.ID, Part: PartCertificate, Metrics: []Metric{
			{Name: "tv_certificate", Unit: "probability", Value: b.TV, Bound: "upper"},
			{Name: "tv_certificate_limit", Unit: "probability", Value: limit(b.TVLimit), Bound: "upper"},
			{Name: "kl_certificate", Unit: "nats", Value: b.KL, Bound: "upper"},
			{Name: "kl_certificate_limit", Unit: "nats", Value: limit(b.KLLimit), Bound: "upper", Detail: true},
		}}
		if apart, err := quality.Collision(cell.Sampler, cell.Free); err == nil && !cell.Model.Facts().TimeConditioned {
			q.Metrics = append(q.Metrics, Metric{Name: "tv_collision_bound_full", Unit: "probability", Value: exact(-math.Expm1(apart) + 0), Bound: "upper"})
		}
		return q, true
	}
	return Quality{}, false
}

// limitOf is a limit beside the estimate that it belongs to.
func limitOf(e estimate.Estimate, x float64) estimate.Estimate {
	return estimate.Estimate{Mean: x, Lo: x, Hi: x, Confidence: e.Confidence, N: e.N, Units: e.Units}
}

// couplingSeed keeps the draws of pairs apart from those of repetitions and certificates.
const couplingSeed = 0x636f75706c65 // "couple"

// CouplingQuality bounds TV to first-hitting by pairs of texts.
func CouplingQuality(ctx context.Context, c *Cell, pairs int, seed uint64, confidence float64) (Quality, error) {
	x, err := certificate.Couple(ctx, c.Model, c.Canvas, c.Sampler, certificate.Config{Runs: pairs, Seed: seed ^ couplingSeed, Batch: c.Batch, Confidence: confidence})
	if err != nil {
		return Quality{}, fault.Errorf("bench", "coupling: %w", err)
	}
	return Quality{Kind: KindQuality, Cell: c.ID, Part: PartCoupling, Metrics: []Metric{
		{Name: "tv_coupling", Unit: "probability", Value: x.Share, Bound: "upper"},
		{Name: "tv_coupling_limit", Unit: "probability", Value: limitOf(x.Share, x.Limit), Bound: "upper"},
	}}, nil
}
