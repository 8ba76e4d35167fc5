package bench

import (
	"context"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// AuditConfig configures audits.
type AuditConfig struct {
	Texts      int
	Seed       uint64
	Confidence float64
	// KeepBytes bounds the memory of keys and values ([samplers.Config]).
	KeepBytes int64
}

// auditSeed separates the streams of audits from those of repetitions.
const auditSeed = 0x6175646974 // "audit"

// AuditMetrics compares the rows that a cell's own texts were drawn from with exact ones, at every
// call. With kept keys and values, it compares them with full rows in the same groups; without,
// with rows of one position a call in the same order. There are none for a sampler with neither.
func AuditMetrics(ctx context.Context, c *Cell, cfg AuditConfig) ([]Metric, error) {
	what, cached := "groups", c.Sampler.Settings().Cache != ""
	var got interaction.Audited
	var err error
	switch {
	case cached:
		what = "cache"
		got, err = auditCache(ctx, c, cfg)
	case interaction.Audits(c.Sampler) != nil:
		return nil, nil
	default:
		got, err = interaction.Audit(ctx, c.Model, c.Canvas, c.Sampler, interaction.Config{Sequences: cfg.Texts, Seed: cfg.Seed ^ auditSeed})
	}
	metric := func(name, unit string, x estimate.Estimate) Metric {
		return Metric{Name: what + "_" + name, Unit: unit, Value: x}
	}
	return []Metric{metric("kl", "nats/token", got.KL), metric("tv", "probability/token", got.TV), metric("worst", "nats", estimate.Exact(float64(got.Worst)))}, err
}

// auditCache samples texts and compares each call's rows with full rows.
func auditCache(ctx context.Context, c *Cell, cfg AuditConfig) (interaction.Audited, error) {
	o := c.Setting.Options
	o.Audit = 1
	s, err := catalog.New(o, c.Model.Spec())
	if err != nil {
		return interaction.Audited{}, err
	}
	terms := make([]interaction.Terms, cfg.Texts)
	_, err = samplers.Sample(ctx, c.Model, samplers.Copies(c.Canvas, 0, len(terms)), samplers.Config{
		Method: s, Seed: cfg.Seed ^ auditSeed, Batch: c.Batch, Keep: cfg.KeepBytes,
	}, func(r samplers.Result) error {
		terms[r.Index] = interaction.OfRows(*r.Audit)
		return nil
	})
	return interaction.Summary(terms, false, cfg.Confidence), err
}
