package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// The window on which distances of decoders are exact but for the choice of texts.
const (
	decoderWindow = 6
	decoderTexts  = 160
	// callSequences tell the calls of decoders whose rows decide them.
	callSequences = 400
)

// windowFamilies are curves of settings, from cheap to dear.
var windowFamilies = []struct {
	name     string
	settings []string
}{
	{"parallel-fhs", []string{"parallel-fhs steps=1", "parallel-fhs steps=2", "parallel-fhs steps=3", "parallel-fhs steps=4", "parallel-fhs steps=5", "parallel-fhs steps=6"}},
	{"tweedie", []string{"tweedie grid=lambda steps=2", "tweedie grid=lambda steps=4", "tweedie grid=lambda steps=8", "tweedie grid=lambda steps=16"}},
	{"confidence", []string{"confidence steps=2", "confidence steps=3", "confidence steps=4", "confidence steps=6"}},
	{"confidence, margin", []string{"confidence score=margin steps=2", "confidence score=margin steps=3", "confidence score=margin steps=4", "confidence score=margin steps=6"}},
	{"confidence, entropy", []string{"confidence score=entropy steps=2", "confidence score=entropy steps=3", "confidence score=entropy steps=4", "confidence score=entropy steps=6"}},
	{"threshold", []string{"threshold threshold=0.1", "threshold threshold=0.3", "threshold threshold=0.5", "threshold"}},
	{"factor", []string{"factor factor=4", "factor factor=2", "factor"}},
	{"entropy-bounded", []string{"entropy-bounded gamma=8", "entropy-bounded gamma=4", "entropy-bounded gamma=2", "entropy-bounded gamma=1", "entropy-bounded"}},
}

// decoderErrors shows the exact distance of decoders from First-Hitting over a short window
// against the calls that they take.
func decoderErrors(ctx context.Context, net network) ([]report.Plot, []byte, error) {
	var ss []*catalog.Sampler
	for _, f := range windowFamilies {
		for _, setting := range f.settings {
			s, err := samplerOf(net, setting, 1)
			if err != nil {
				return nil, nil, err
			}
			ss = append(ss, s)
		}
	}
	study, err := net.exactStudy(ctx, net.blank(decoderWindow), ss, decoderTexts)
	if err != nil {
		return nil, nil, err
	}
	p := report.Plot{Name: "error", Title: fmt.Sprintf("KL(P_FHS‖P) over %d tokens, built-in network", decoderWindow), X: "network calls", Y: "nats", LogY: true, Bars: report.Intervals(0, "texts")}
	t := report.Table{Head: []string{"decoder", "calls", "TV(P_FHS, P)", "KL(P_FHS‖P) (nats)", "KL − parallel-fhs's at as many calls"}, Numbers: 1}
	i, equal := 0, make(map[float64]int) // parallel-fhs by its calls
	for _, f := range windowFamilies {
		for _, setting := range f.settings {
			calls, err := meanCalls(ctx, net, ss[i], net.blank(decoderWindow))
			if err != nil {
				return nil, nil, err
			}
			tv, kl := study.Distance(quality.TV, i), study.Distance(quality.KL, i)
			fmt.Fprintf(os.Stderr, "figures: %s: %.2f calls, TV %v, KL %v\n", setting, calls.Mean, tv, kl)
			p.Add(f.name, "", report.At(calls.Mean, kl))
			more := "–"
			if j, ok := equal[calls.Mean]; ok {
				more = interval(study.Difference(quality.KL, i, j))
			}
			if f.name == windowFamilies[0].name {
				equal[calls.Mean] = i
			}
			t.Rows = append(t.Rows, []string{"`" + setting + "`", fmt.Sprintf("%.2f", calls.Mean), fmt.Sprintf("%.3f ± %.3f", tv.Mean, tv.SE), twoDigits(kl), more})
			i++
		}
	}
	point, err := pointMass(ctx, net, net.blank(decoderWindow))
	if err != nil {
		return nil, nil, err
	}
	t.Rows = append(t.Rows, point)
	return []report.Plot{p}, markdown(t), nil
}

// meanCalls counts a decoder's calls.
func meanCalls(ctx context.Context, net network, s *catalog.Sampler, canvas []int) (estimate.Estimate, error) {
	var calls []float64
	err := net.sample(ctx, s, canvas, callSequences, func(r samplers.Result) { calls = append(calls, float64(r.Calls+r.FinishCalls)) })
	return estimate.Mean(calls, 0), err
}

// pointMass is the line of a decoder whose every choice is fixed: its distance from
// First-Hitting is what First-Hitting does not give its one text.
func pointMass(ctx context.Context, net network, canvas []int) ([]string, error) {
	s, err := samplerOf(net, "confidence steps=6", 0)
	if err != nil {
		return nil, err
	}
	texts, totals, err := net.e.Sample(ctx, likelihood.Whole(canvas), s, seed, []uint64{0})
	if err != nil {
		return nil, err
	}
	fhs, err := catalog.New(catalog.Options{}, net.Spec())
	if err != nil {
		return nil, err
	}
	x, err := net.e.Exact(ctx, likelihood.Whole(texts[0]), fhs)
	if err != nil {
		return nil, err
	}
	return []string{"`confidence steps=6 temperature=0`, one text", fmt.Sprintf("%.2f", float64(totals.Rows)), fmt.Sprintf("1 − %.1g", math.Exp(-x.NegLog)), "∞", "–"}, nil
}
