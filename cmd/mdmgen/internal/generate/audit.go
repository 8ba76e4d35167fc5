package generate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dustin/go-humanize"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// checkAudit returns an error if --audit is given and the sampler has neither groups nor a cache.
func (g *generation) checkAudit(m *catalog.Sampler) error {
	if m.Settings().Cache != "" {
		return nil
	}
	if err := interaction.Audits(m); g.audit > 0 && err != nil {
		return exit.Usagef("--audit: %s", fault.Plain(err))
	}
	return nil
}

// audited audits the groups of finished samples by revealing their tokens again one by one. It does
// not change the samples.
func (g *generation) audited(samples []requests.Sample) ([]interaction.Terms, error) {
	if g.audit == 0 {
		return nil, nil
	}
	var out []interaction.Terms
	for _, s := range samples {
		j := g.at(s.Index)
		if j.Sampler.Settings().Cache != "" {
			continue // The sampler has audited it.
		}
		seed, stream := g.settings.Seed, uint64(s.Index)
		if j.Seed != nil {
			seed, stream = *j.Seed, uint64(s.Index-j.first)
		}
		text := make([]int, len(s.IDs))
		for l, id := range s.IDs {
			if text[l] = g.facts.MaskID; id != nil {
				text[l] = *id
			}
		}
		random := rand.New(rand.NewPCG(seed, stream))
		t, err := interaction.AuditText(g.ctx, g.network, j.Sampler, j.Tokens, text, draw.NewNumbers(seed, stream), func() bool { return random.Float64() < g.audit })
		if err != nil {
			return out, fmt.Errorf("--audit: sample %d: %w", s.Index, fault.WithoutName(err))
		}
		out = append(out, t)
	}
	return out, nil
}

// audit sums up what groups cost. It returns nil if none was audited.
func (f *results) audit() *interaction.Audited {
	if len(f.audits) == 0 {
		return nil
	}
	out := interaction.Summary(f.audits, f.Settings.Audit == 1, estimate.DefaultConfidence)
	return &out
}

// appendAudit appends the findings of an audit to the parts of a summary.
func appendAudit(parts []string, what string, a *interaction.Audited) []string {
	switch {
	case a == nil:
		return parts
	case a.Rows == 0:
		return append(parts, "nothing to audit")
	}
	parts = append(parts, fmt.Sprintf("%s KL %s and TV %s per token", what, a.KL, a.TV))
	if why := a.KL.NoInterval(); why != "" {
		parts = append(parts, why)
	}
	if limit := math.Ceil(100*a.Limit) / 100; a.Path != nil && limit < 1 {
		parts = append(parts, fmt.Sprintf("TV of texts at most %g (confidence %g)", limit, a.Path.Confidence))
	}
	return parts
}

// cacheTotals holds the costs and effects of a cache over all samples.
type cacheTotals struct {
	// PositionsPerToken is the number of positions computed per drawn token.
	PositionsPerToken float64 `json:"positions_per_token"`
	// MostBytes is the peak memory of the cached keys and values.
	MostBytes int64 `json:"most_bytes"`
	// Audit is omitted without --audit.
	Audit *cacheAudit `json:"audit,omitempty"`
}

// cacheAudit is the distance of rows with cached keys and values from full rows, as tokens are
// drawn from them: KL(cached ‖ full) in nats, and TV. Both are means over all drawn tokens,
// including those of full calls.
type cacheAudit struct {
	interaction.Audited
	// Bounds reports whether the sums of KL and TV over a text bound the KL and TV of the
	// distributions of texts, relative to full rows in the same order of reveals. They do not if
	// positions are chosen by rows.
	Bounds bool `json:"bounds"`
	// Untruncated reports whether KL is between rows without truncation, and at temperature 1
	// instead of 0.
	Untruncated bool `json:"untruncated,omitempty"`
}

// cacheTotals returns nil if nothing was cached.
func (f *results) cacheTotals() *cacheTotals {
	if f.Settings.Cache == "" && f.sums.MostKept == 0 {
		return nil
	}
	out := &cacheTotals{PositionsPerToken: float64(f.sums.Positions) / float64(max(f.sums.Tokens, 1)), MostBytes: f.sums.MostKept}
	if len(f.cached) == 0 {
		return out
	}
	out.Audit = &cacheAudit{Bounds: true}
	var terms []interaction.Terms
	for _, a := range f.cached {
		terms = append(terms, interaction.OfRows(a))
		out.Audit.Bounds, out.Audit.Untruncated = out.Audit.Bounds && a.Planned, out.Audit.Untruncated || a.Untruncated
	}
	out.Audit.Audited = interaction.Summary(terms, f.Settings.Audit == 1 && out.Audit.Bounds, estimate.DefaultConfidence)
	return out
}

// tell appends the costs and effects of a cache to the parts of a summary.
func (t *cacheTotals) tell(parts []string) []string {
	if t == nil {
		return parts
	}
	parts = append(parts, fmt.Sprintf("%.4g positions per token, %s kept", t.PositionsPerToken, humanize.IBytes(uint64(t.MostBytes))))
	if t.Audit == nil {
		return parts
	}
	what := "the cache costs"
	if !t.Audit.Bounds {
		what = "rows differ by"
	}
	return appendAudit(parts, what, &t.Audit.Audited)
}
