package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
)

// sequences returns the ids of all repetitions of a cell, in the order of their streams.
func sequences(reps []Repetition, cell string) [][]int {
	var of []Repetition
	for _, r := range reps {
		if r.Cell == cell {
			of = append(of, r)
		}
	}
	sortRounds(of)
	var out [][]int
	for _, r := range of {
		out = append(out, r.IDs...)
	}
	return out
}

// TextMetrics describes the samples of a cell without a model; there are none if none were kept.
func TextMetrics(c *Cell, reps []Repetition, confidence float64) (out []Metric) {
	x := quality.DescribeAll(sequences(reps, c.ID), c.Model.Facts().MaskID, confidence)
	add := func(name, unit string, e estimate.Estimate, detail bool) {
		if !math.IsNaN(e.Mean) {
			out = append(out, Metric{Name: name, Unit: unit, Value: e, Detail: detail})
		}
	}
	add("entropy", "nats", x.Entropy, false)
	for n, e := range x.Distinct {
		add(fmt.Sprintf("distinct_%d", n+1), "share", e, n != 1)
	}
	add("repeated_4", "share", x.Repeated, false)
	return out
}

// NELBOMetrics estimates the NELBO of a cell's samples under an evaluator's model, in nats per
// token; there are none if no sample has one. draws is the number of draws per sample, 0 for the estimator's
// default.
func NELBOMetrics(ctx context.Context, e *likelihood.Evaluator, c *Cell, reps []Repetition, draws int, seed uint64, confidence float64) ([]Metric, error) {
	spec := c.Model.Spec()
	free := spec.Masked(c.Canvas)
	var targets []likelihood.Target
	for _, ids := range sequences(reps, c.ID) {
		targets = append(targets, likelihood.Target{IDs: ids, Free: free})
	}
	scored, err := quality.Self(ctx, e, targets, likelihood.Config{Draws: draws, Seed: seed, Confidence: confidence})
	if err != nil || len(scored) == 0 {
		return nil, err
	}
	sum := likelihood.Summarize(scored, false, confidence)
	return []Metric{
		{Name: "self_nelbo", Unit: "nats/token", Value: sum.NatsPerToken, Bound: "upper"},
		{Name: "self_perplexity", Unit: "perplexity", Value: sum.PerplexityBound, Bound: "upper", Detail: true},
	}, nil
}

// JudgeMetrics returns the generative perplexity of a cell's samples under another model; there is none if
// no sample has a text. text converts ids to text; sequences with masks left are skipped.
func JudgeMetrics(ctx context.Context, j *quality.Judge, c *Cell, reps []Repetition, text func(ids []int) (string, error)) ([]Metric, error) {
	var texts []quality.Generated
	for _, ids := range sequences(reps, c.ID) {
		if slices.Contains(ids, c.Model.Facts().MaskID) {
			continue
		}
		s, err := text(ids)
		if err != nil {
			return nil, err
		}
		texts = append(texts, quality.Generated{Text: s, IDs: ids})
	}
	judged, err := j.Score(ctx, texts)
	sum := j.Summarize(judged)
	if err != nil || sum.Texts == 0 {
		return nil, err
	}
	mean := j.Protocol().Name == quality.SEDD // the number that SEDD reports
	return []Metric{
		{Name: "generative_perplexity", Unit: "perplexity", Value: sum.Perplexity, Detail: mean},
		{Name: "generative_entropy", Unit: "nats", Value: sum.Entropy},
		{Name: "generative_mean_perplexity", Unit: "perplexity", Value: sum.MeanPerplexity, Detail: !mean},
		{Name: "generative_nats_per_token", Unit: "nats/token", Value: sum.NatsPerToken, Detail: true},
	}, nil
}
