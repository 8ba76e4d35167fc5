package main

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

// caches plots the loss of caches relative to full rows, and of groups relative to one position per
// call, by the number of positions computed per token.
func caches(ctx context.Context, net network) ([]report.Plot, []byte) {
	const d = 128
	in := fatal.Must(interaction.Measure(ctx, net.Model, net.blank(d), interaction.Config{Sequences: measuredSequences, Seed: seed}))
	curves := []struct {
		name     string
		settings []string
	}{
		{"window, of First-Hitting", []string{"fhs cache=window:4/32", "fhs cache=window:4/inf/8", "fhs cache=window:8/64"}},
		{"dual, of First-Hitting in blocks", []string{"fhs block-length=16 cache=dual", "fhs block-length=32 cache=dual"}},
		{"prefix, of First-Hitting in blocks", []string{"fhs block-length=8 cache=prefix"}},
		{"random groups, of one by one", []string{"parallel-fhs steps=64", "parallel-fhs steps=32", "parallel-fhs steps=16"}},
		{"tweedie, of one by one", []string{"tweedie steps=128", "tweedie steps=32"}},
		{"spread, of one by one", []string{"spread steps=64", "spread steps=32", "spread steps=16"}},
		{"spread with window:4/32, of one by one", []string{"spread steps=64 cache=window:4/32", "spread steps=32 cache=window:4/32", "spread steps=16 cache=window:4/32"}},
	}
	p := report.Plot{Name: "distance", Title: "Built-in network, 128 positions: distance from one position per call with full rows", X: "positions computed for a token", Y: "TV, probability a token", LogX: true, LogY: true, Bars: report.Intervals(0, "texts"),
		Caption: "References: of windows First-Hitting, of blocks First-Hitting in the same blocks, of groups their own order one by one; of spread with a window the sum of both."}
	t := report.Table{Head: []string{"sampler", "cache", "positions a token", "cache: KL", "greatest", "TV", "groups: KL", "TV"}, Numbers: 2}
	for _, curve := range curves {
		for _, setting := range curve.settings {
			o := fatal.Must(optionsOf(setting))
			if o.Steps > 0 {
				o.Interactions = &in.Interactions
			}
			cached, computed, groups := lost(ctx, net, o, d)
			s := fatal.Must(catalog.New(o, net.Spec()))
			row := []string{name(s.Settings()), s.Settings().Cache, number(computed), "–", "–", "–", "–", "–"}
			apart := groups.TV
			if cached.Texts > 0 {
				row[3], row[4], row[5] = short(cached.KL), fmt.Sprintf("%.2g", float64(cached.Worst)), short(cached.TV)
				apart = sum(cached.TV, apart)
			}
			if groups.KL.Mean > 0 {
				row[6], row[7] = short(groups.KL), short(groups.TV)
			}
			if o.Cache != "" || o.Sampler == "tweedie" { // the table of interactions has the other groups
				t.Rows = append(t.Rows, row)
			}
			p.Add(curve.name, "", report.At(computed, apart))
		}
	}
	return []report.Plot{p}, markdown(t)
}

// name returns the name of a sampler with its blocks or groups.
func name(s catalog.Settings) string {
	switch {
	case s.BlockLength > 0:
		return fmt.Sprintf("%s, blocks of %d", s.Sampler, s.BlockLength)
	case s.Steps > 0:
		return fmt.Sprintf("%s, %d steps", s.Sampler, s.Steps)
	}
	return s.Sampler
}

// sum returns the sum of two consecutive distances, estimated independently from the same number of
// texts.
func sum(a, b estimate.Estimate) estimate.Estimate {
	half := math.Hypot(a.Hi-a.Mean, b.Hi-b.Mean)
	mean := a.Mean + b.Mean
	return estimate.Estimate{Mean: mean, SE: math.Hypot(a.SE, b.SE), Lo: max(mean-half, 0), Hi: mean + half, Confidence: a.Confidence, N: a.N}
}

// lost returns the loss of a sampler's cache relative to full rows in the same groups, the
// positions computed per token, and the loss of its groups relative to one position per call in the
// same order.
func lost(ctx context.Context, net network, o catalog.Options, d int) (cached interaction.Audited, computed float64, groups interaction.Audited) {
	if o.Steps > 0 {
		plain := o
		plain.Cache = ""
		s := fatal.Must(catalog.New(plain, net.Spec()))
		groups = fatal.Must(interaction.Audit(ctx, net.Model, net.blank(d), s, interaction.Config{Sequences: auditedSequences, Seed: seed + 1}))
		if o.Cache == "" {
			return cached, groups.Calls, groups // a call computes all positions, and as many are drawn in all
		}
	}
	o.Audit = 1
	s := fatal.Must(catalog.New(o, net.Spec()))
	terms := make([]interaction.Terms, auditedSequences)
	totals := fatal.Must(sample(ctx, net.Model, net.blank(d), len(terms), samplers.Config{Method: s, Seed: seed + 1}, func(r samplers.Result) { terms[r.Index] = interaction.OfRows(*r.Audit) }))
	return interaction.Summary(terms, true, estimate.DefaultConfidence), float64(totals.Positions) / float64(max(totals.Tokens, 1)), groups
}
