package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/tools/internal/fatal"
)

// drafts lists decoders that draft or look again, and others for comparison, as bench names them.
// Decoders of one kind differ in threshold or steps, and form a line. The first is the reference.
// Some are only run at temperature 1.
var drafts = []struct {
	kind, name, setting string
	alone               bool
}{
	{"fhs", "fhs", "fhs", false},
	{"fhs, window cache", "fhs, window cache", "fhs cache=window:4/32", true},
	{"klass", "klass, p > 0.9", "klass", true},
	{"klass", "klass, p > 0.3", "klass threshold=0.3 kl-threshold=0.1", true},
	{"klass", "klass, p > 0.1", "klass threshold=0.1 kl-threshold=0.1", false},
	{"klass", "klass, p > 0.03", "klass threshold=0.03 kl-threshold=0.1", false},
	{"klass, dual cache", "klass, p > 0.03, dual cache", "klass threshold=0.03 kl-threshold=0.1 block-length=16 cache=dual", true},
	{"wino", "wino, p > 0.1", "wino threshold=0.1 threshold-back=0.03 block-length=8", false},
	{"wino", "wino, p > 0.03", "wino threshold=0.03 threshold-back=0.01 block-length=8", false},
	{"confidence", "confidence, 16 calls", "confidence steps=16", false},
	{"confidence", "confidence, 8 calls", "confidence steps=8", false},
	{"confidence, dual cache", "confidence, 16 calls, dual cache", "confidence steps=16 block-length=16 cache=dual", true},
	{"spread", "spread, 16 calls", "spread steps=16", false},
	{"spread", "spread, 8 calls", "spread steps=8", false},
	{"spread, window cache", "spread, 16 calls, window cache", "spread steps=16 cache=window:4/32", true},
}

// The temperatures of drafts, and of First-Hitting's reference curve, each with draftSequences
// sequences.
var (
	draftTemperatures = []float64{0.7, 1, 1.3}
	firstTemperatures = []float64{0.1, 0.3, 0.5, 0.7, 1, 1.3}
)

const draftSequences = 32

// work plots the quality of samples by temperature and threshold and, at temperature 1, by calls
// and by positions computed.
func work(ctx context.Context, net network) ([]report.Plot, []byte) {
	plane := report.Plot{Name: "curves", Title: fmt.Sprintf("Samples of %d tokens by temperature and threshold, built-in network", fieldLength), X: "entropy of the tokens of a sample (nats)", Y: "NELBO of samples under the network itself (nats per token)"}
	byCalls := report.Plot{Name: "drafts", Title: "NELBO above First-Hitting's at the same entropy", X: "network calls per sample", Y: "nats per token", LogX: true, Bars: report.Intervals(0, "sequences")}
	byWork := byCalls
	byWork.Name, byWork.X = "work", "positions computed for a token"
	t := report.Table{Head: []string{"decoder", "calls", "positions a token", "self NELBO", "entropy", "NELBO − fhs's at equal entropy"}, Numbers: 1}
	for _, temperature := range []float64{0.7, 1.3} {
		t.Head = append(t.Head, fmt.Sprintf("temperature %v", temperature))
	}
	var curve []fieldRun
	for i, d := range drafts {
		temperatures := draftTemperatures
		switch {
		case i == 0:
			temperatures = firstTemperatures
		case d.alone:
			temperatures = []float64{1}
		}
		runs := net.byTemperature(ctx, &plane, d.name, d.setting, temperatures, draftSequences)
		one := runs[slices.Index(temperatures, 1)]
		calls := estimate.Mean(one.calls, 0).Mean
		row := []string{d.name, fmt.Sprintf("%.1f", calls), fmt.Sprintf("%.1f", one.positions), twoDigits(estimate.Mean(one.nelbo, 0)), twoDigits(estimate.Mean(one.entropy, 0)), "–", "–", "–"}
		if i == 0 {
			curve, runs = runs, nil
		}
		for k, run := range runs {
			above, ok := aboveCurve(curve, run)
			if !ok {
				continue
			}
			if at := slices.Index([]float64{1, 0.7, 1.3}, temperatures[k]); at >= 0 {
				row[5+at] = interval(above)
			}
			if temperatures[k] == 1 {
				byCalls.Add(d.kind, "", report.At(calls, above))
				byWork.Add(d.kind, "", report.At(run.positions, above))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return []report.Plot{plane, byCalls, byWork}, markdown(t)
}

// onWorld lists decoders whose laws are computed on a world, each with the numbers that complete
// its setting.
var onWorld = []struct {
	name, setting string
	numbers       []float64
}{
	{"parallel-fhs", "parallel-fhs steps=", []float64{1, 2, 3, 4}},
	{"confidence", "confidence steps=", []float64{1, 2, 3, 4}},
	{"confidence, margin", "confidence score=margin steps=", []float64{1, 2, 3, 4}},
	{"klass, KL < 0.1", "klass history=1 kl-threshold=0.1 threshold=", []float64{0.2, 0.6, 0.8, 0.9}},
	{"klass, KL < 1", "klass history=1 kl-threshold=1 threshold=", []float64{0.2, 0.6, 0.8, 0.9}},
	{"wino, back at 0.1", "wino threshold-back=0.1 threshold=", []float64{0.2, 0.6, 0.8, 0.9}},
	{"wino, back at 0.9", "wino threshold-back=0.9 threshold=", []float64{0.2, 0.6, 0.8, 0.9}},
}

// distances plots how far the laws of decoders on a world are from First-Hitting's, by calls and by
// positions computed, which are counted on draws.
func distances(ctx context.Context, _ network) ([]report.Plot, []byte) {
	const draws, d = 20_000, 4
	file, w := openWorld("markov4-sharp")
	byCalls := report.Plot{Name: "law", Title: "markov4-sharp: distance from First-Hitting, exact", X: "network calls per sample", Y: "TV"}
	byWork := byCalls
	byWork.Name, byWork.X, byWork.LogX = "law-work", "positions computed for a token", true
	t := report.Table{Head: []string{"decoder", "calls", "positions a token", "TV to fhs"}, Numbers: 1}
	first := w.FHSLaw()
	for _, family := range onWorld {
		for _, x := range family.numbers {
			setting := fmt.Sprint(family.setting, x)
			s := fatal.Must(samplerOf(file, setting, 1))
			law, err := w.SamplerLaw(s)
			if err != nil {
				log.Fatalf("%s: %v", setting, err)
			}
			calls := 0
			totals := fatal.Must(sample(ctx, file, blankOf(file), draws, samplers.Config{Method: s, Seed: seed, Batch: 16}, func(r samplers.Result) { calls += r.Calls + r.FinishCalls }))
			mean, positions, tv := float64(calls)/draws, float64(totals.Positions)/(draws*d), laws.TV(first, w.OnSequences(law))
			byCalls.Add(family.name, "", report.Point{X: mean, Y: tv})
			byWork.Add(family.name, "", report.Point{X: positions, Y: tv})
			if x >= 1 || x == 0.2 || x == 0.9 { // the pictures have all thresholds
				t.Rows = append(t.Rows, []string{setting, fmt.Sprintf("%.2f", mean), fmt.Sprintf("%.2f", positions), fmt.Sprintf("%.3f", tv)})
			}
		}
	}
	return []report.Plot{byCalls, byWork}, markdown(t)
}
