package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// The samples of the field: sequences of fieldLength positions, from the same random numbers for
// each setting, with draws of the NELBO of each.
const (
	fieldLength    = 32
	fieldSequences = 48
	fieldDraws     = 8
)

// field lists the decoders of the study at their usual settings, as bench names them, with their
// names in the plots. The first is the reference.
var field = []struct{ name, setting string }{
	{"fhs", "fhs"},
	{"parallel-fhs", "parallel-fhs steps=8"},
	{"tweedie", "tweedie grid=lambda steps=8"},
	{"remdm", "remdm steps=32"},
	{"confidence", "confidence steps=8"},
	{"confidence, margin", "confidence score=margin rule=dream steps=8"},
	{"confidence, entropy", "confidence score=entropy rule=dream steps=8"},
	{"threshold", "threshold"},
	{"factor", "factor"},
	{"localleap", "localleap"},
	{"entropy-bounded", "entropy-bounded"},
	{"entropy-bounded, γ = 1", "entropy-bounded gamma=1"},
	{"llada2", "llada2 steps=8"},
}

// The temperatures of the first decoders make the reference curves.
var (
	fieldTemperatures = []float64{0.5, 0.7, 1}
	curveTemperatures = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.15}
)

// curves is the number of decoders with a curve: First-Hitting, and First-Hitting in blocks.
const curves = 2

// fieldRun holds measurements of a decoder's samples at a temperature, one value per sequence.
type fieldRun struct {
	calls, entropy, nelbo []float64
	// own is −log of the probability with which the sequence was drawn, in nats per token. It is
	// the text's probability if one path leads to the text, and nil otherwise.
	own []float64
	// positions is the number of positions computed per token, including drafts.
	positions float64
}

// decoderField plots the quality of decoders' samples: their NELBO under the model itself against
// their entropy, by temperature, and the number of calls.
func decoderField(ctx context.Context, net network) ([]report.Plot, []byte) {
	plane := report.Plot{Name: "entropy", Title: fmt.Sprintf("Samples of %d tokens by temperature, built-in network", fieldLength), X: "entropy of the tokens of a sample (nats)", Y: "NELBO of samples under the network itself (nats per token)"}
	front := report.Plot{Name: "calls", Title: "NELBO above First-Hitting's at the same entropy", X: "network calls per sample", Y: "nats per token", LogX: true, Bars: report.Intervals(0, "sequences")}
	t := report.Table{Head: []string{"decoder", "calls", "self NELBO", "entropy", "own −log P", "NELBO − fhs's at equal entropy", "NELBO − parallel-fhs's"}, Numbers: 1}
	var curve [curves][]fieldRun
	for i, d := range field {
		temperatures := fieldTemperatures
		if i < curves {
			temperatures = curveTemperatures
		}
		runs := net.byTemperature(ctx, &plane, d.name, d.setting, temperatures, fieldSequences)
		one := runs[slices.Index(temperatures, 1)]
		calls := estimate.Mean(one.calls, 0).Mean
		row := []string{d.name, fmt.Sprintf("%.1f", calls), twoDigits(estimate.Mean(one.nelbo, 0)), twoDigits(estimate.Mean(one.entropy, 0)), "–", "–", "–"}
		if one.own != nil {
			row[4] = twoDigits(estimate.Mean(one.own, 0))
		}
		if i < curves {
			curve[i] = runs
		}
		for j := range min(i, curves) {
			if above, ok := aboveCurve(curve[j], one); ok {
				if row[5+j] = interval(above); j == 0 {
					front.Add(d.name, "", report.At(calls, above))
				}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return []report.Plot{plane, front}, markdown(t)
}

// byTemperature measures a decoder's samples at temperatures, and plots their curve if there are
// several.
func (n network) byTemperature(ctx context.Context, plane *report.Plot, name, setting string, temperatures []float64, sequences int) (runs []fieldRun) {
	for _, temperature := range temperatures {
		run, err := n.sampleField(ctx, setting, temperature, sequences)
		if err != nil {
			log.Fatalf("%s, temperature %v: %v", setting, temperature, err)
		}
		nelbo, entropy := estimate.Mean(run.nelbo, 0), estimate.Mean(run.entropy, 0)
		fmt.Fprintf(os.Stderr, "figures: %s, temperature %v: NELBO %v, entropy %v\n", name, temperature, nelbo, entropy)
		if len(temperatures) > 1 {
			plane.Add(name, "", report.Point{X: entropy.Mean, Y: nelbo.Mean})
		}
		runs = append(runs, run)
	}
	return runs
}

// sampleField draws sequences by a decoder and measures them.
func (n network) sampleField(ctx context.Context, setting string, temperature float64, sequences int) (out fieldRun, err error) {
	s, err := samplerOf(n, setting, temperature)
	if err != nil {
		return out, err
	}
	targets := make([]likelihood.Target, sequences)
	out.calls, out.own = make([]float64, sequences), make([]float64, sequences)
	totals, err := sample(ctx, n, n.blank(fieldLength), sequences, samplers.Config{Method: s, Seed: seed, Batch: 16}, func(r samplers.Result) {
		targets[r.Index] = likelihood.Whole(r.IDs)
		out.calls[r.Index] = float64(r.Calls + r.FinishCalls)
		out.own[r.Index] = -r.LogP / fieldLength
	})
	if err != nil {
		return out, err
	}
	out.positions = float64(totals.Positions) / float64(sequences*fieldLength)
	if law, ok := s.Law().(samplers.Replayed); !ok || law.By != samplers.ReplayOne {
		out.own = nil
	}
	scored, err := quality.Self(ctx, n.e, targets, likelihood.Config{Draws: fieldDraws, Seed: seed})
	if err != nil {
		return out, err
	}
	for i, x := range scored {
		out.nelbo = append(out.nelbo, x.Nats.Mean/fieldLength)
		out.entropy = append(out.entropy, quality.Describe(targets[i].IDs, n.Facts().MaskID).Entropy)
	}
	return out, nil
}

// optionsOf parses a setting as bench writes it.
func optionsOf(setting string) (catalog.Options, error) {
	list, err := bench.ParseCase(setting)
	if err != nil {
		return catalog.Options{}, err
	}
	return list[0].Options, nil
}

// samplerOf returns the sampler of a setting.
func samplerOf(m model.Model, setting string, temperature float64) (*catalog.Sampler, error) {
	o, err := optionsOf(setting)
	if err != nil {
		return nil, err
	}
	if temperature != 1 {
		o.Temperature = &temperature
	}
	return catalog.New(o, m.Spec())
}

// aboveCurve returns how far the mean NELBO of a run is above the curve at the same mean entropy.
// The interval is from a bootstrap over sequences, jointly in all runs. It returns false if the
// curve does not reach that entropy. If it does not in a resample, its last segment is extended.
func aboveCurve(curve []fieldRun, run fieldRun) (estimate.Estimate, bool) {
	type point struct{ entropy, nelbo float64 }
	mean := func(x []float64, at []int) (sum float64) {
		for _, i := range at {
			sum += x[i]
		}
		return sum / float64(len(at))
	}
	inside := false
	stat := func(at []int) float64 {
		var points []point
		for _, r := range curve {
			points = append(points, point{mean(r.entropy, at), mean(r.nelbo, at)})
		}
		slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.entropy, b.entropy) })
		x, y := mean(run.entropy, at), mean(run.nelbo, at)
		i := 1
		for i < len(points)-1 && points[i].entropy < x {
			i++
		}
		a, b := points[i-1], points[i]
		inside = a.entropy <= x && x <= b.entropy
		return y - a.nelbo - (b.nelbo-a.nelbo)*(x-a.entropy)/(b.entropy-a.entropy)
	}
	all := make([]int, len(run.nelbo))
	for i := range all {
		all[i] = i
	}
	if stat(all); !inside {
		return estimate.Estimate{}, false
	}
	return bootstrap(len(all), 2000, seed, stat), true
}

// twoDigits formats an estimate with its standard error.
func twoDigits(e estimate.Estimate) string { return fmt.Sprintf("%.2f ± %.2f", e.Mean, e.SE) }

// interval formats an estimate with its interval.
func interval(e estimate.Estimate) string {
	return strings.ReplaceAll(fmt.Sprintf("%+.2f [%+.2f, %+.2f]", e.Mean, e.Lo, e.Hi), "-", "−")
}
