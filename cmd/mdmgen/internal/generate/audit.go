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
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

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

// tellAuto says what --cache auto is.
func (g *generation) tellAuto() {
	if g.network.Spec().BlockSize > 0 {
		return // It is exact.
	}
	found := fmt.Sprintf("%s, found for this model by `mdmgen schedule --cache`", g.base.Cache)
	if g.base.Cache == "auto" {
		found = fmt.Sprintf("%s, whatever the model: `mdmgen schedule --cache --target-kl-per-token X` finds one for it", cache.Auto)
	}
	g.streams.Notice("--cache auto is " + found)
}

// cacheTotals is what a cache took and changed, of all samples.
type cacheTotals struct {
	// PositionsPerToken is how many positions were computed for each token that was drawn.
	PositionsPerToken float64 `json:"positions_per_token"`
	// MostBytes is the greatest memory of the keys and values that were kept.
	MostBytes int64 `json:"most_bytes"`
	// Audit is left out where --audit is not given.
	Audit *cacheAudit `json:"audit,omitempty"`
}

// cacheAudit is how far rows with kept keys and values are from full ones, as tokens are drawn from
// them: KL(kept ‖ full) in nats and TV, means over all tokens drawn, those of full calls included.
type cacheAudit struct {
	interaction.Audited
	// Bounds is whether KL and TV of the law of texts, to full rows in the same order of reveals,
	// are at most the sums of these over a text: not where positions are chosen by rows.
	Bounds bool `json:"bounds"`
	// Untruncated is whether KL is of rows without truncation, at temperature 1 in place of 0.
	Untruncated bool `json:"untruncated,omitempty"`
}

// cacheTotals is nil where nothing was kept.
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

// tell adds what a cache took and changed to the parts of a summary.
func (t *cacheTotals) tell(parts []string) []string {
	if t == nil {
		return parts
	}
	parts = append(parts, fmt.Sprintf("%.4g positions a token, %s kept", t.PositionsPerToken, humanize.IBytes(uint64(t.MostBytes))))
	if t.Audit == nil {
		return parts
	}
	what := "a cache loses"
	if !t.Audit.Bounds {
		what = "rows are apart by"
	}
	return tellAudit(parts, what, &t.Audit.Audited)
}
