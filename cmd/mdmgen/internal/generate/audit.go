package generate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// auditFlag is --audit.
func (o *options) auditFlag() *flags.Flag {
	return flags.Number(&o.audit, "above 0 and at most 1", func(x float64) bool { return x > 0 && x <= 1 }, flags.Flag{Name: "audit", Category: flags.CatSample, Default: "none",
		Usage: "measure what a fraction `F` of groups or cached calls lose"})
}

// checkAudit refuses a sampler that has no groups and no cache.
func (g *generation) checkAudit(m *catalog.Sampler) error {
	if m.Settings().Cache != "" {
		return nil
	}
	if err := interaction.Audits(m); g.audit > 0 && err != nil {
		return exit.Usagef("--audit: %s", fault.Plain(err))
	}
	return nil
}

// audited reveals the tokens of samples one by one beside, which changes none of them.
func (g *generation) audited(samples []sample) ([]interaction.Terms, error) {
	if g.audit == 0 {
		return nil, nil
	}
	var out []interaction.Terms
	for _, s := range samples {
		j := g.at(s.Index)
		if j.method.Settings().Cache != "" {
			continue // the sampler has done it
		}
		seed, stream := g.settings.Seed, uint64(s.Index)
		if j.Own.Seed != nil {
			seed, stream = *j.Own.Seed, uint64(s.Index-j.first)
		}
		text := make([]int, len(s.IDs))
		for l, id := range s.IDs {
			if text[l] = g.facts.MaskID; id != nil {
				text[l] = *id
			}
		}
		random := rand.New(rand.NewPCG(seed, stream))
		t, err := interaction.AuditText(g.ctx, g.network, j.method, j.Canvas, text, draw.NewNumbers(seed, stream), func() bool { return random.Float64() < g.audit })
		if err != nil {
			return out, fmt.Errorf("--audit: sample %d: %w", s.Index, fault.WithoutName(err))
		}
		out = append(out, t)
	}
	return out, nil
}

// audit sums up what groups lose, nil where none was audited.
func (f *results) audit() *interaction.Audited {
	if len(f.audits) == 0 {
		return nil
	}
	out := interaction.Summary(f.audits, f.Settings.Audit == 1, estimate.DefaultConfidence)
	return &out
}

// tellAudit adds what an audit found to the parts of a summary.
func tellAudit(parts []string, what string, a *interaction.Audited) []string {
	switch {
	case a == nil:
		return parts
	case a.Rows == 0:
		return append(parts, "nothing to audit")
	}
	parts = append(parts, fmt.Sprintf("%s KL %s and TV %s a token", what, a.KL, a.TV))
	if limit := math.Ceil(100*a.Limit) / 100; a.Path != nil && limit < 1 {
		parts = append(parts, fmt.Sprintf("TV of texts at most %g (confidence %g)", limit, a.Path.Confidence))
	}
	return parts
}
