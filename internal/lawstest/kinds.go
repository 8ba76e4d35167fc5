package lawstest

import (
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
)

// Planned has samplers of each kind, for laws that hold for all plans.
var Planned = []catalog.Options{
	{}, {Sampler: "euler", Steps: 20}, {Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.2, Finish: "leave"}}, {Sampler: "tweedie", Steps: 9, PlanOptions: catalog.PlanOptions{Grid: "cosine"}},
	{Sampler: "tweedie", Steps: 30, PlanOptions: catalog.PlanOptions{Noise: "cosine"}}, {Sampler: "tau-leaping", Steps: 5, PlanOptions: catalog.PlanOptions{Tau: "one"}}, {Sampler: "tau-leaping", Steps: 1000},
	{Sampler: "parallel-fhs", Steps: 4}, {Sampler: "parallel-fhs", Steps: 7, PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "cosine"}},
	{Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}},
	{Sampler: "uniformization", Steps: 6}, {Sampler: "matu", Steps: 9, PlanOptions: catalog.PlanOptions{Grid: "lambda", Finish: "leave"}}, {Sampler: "dmpm", Steps: 7}, {Sampler: "dmpm", PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.3, Finish: "leave"}},
	{Sampler: "random-sizes", Steps: 4}, {Sampler: "random-sizes", Steps: 7, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, {Sampler: "random-sizes", Steps: 1}, {Sampler: "spread", Steps: 6}, {Sampler: "dus"},
}

// Unplanned returns one of each kind of the decoders without a plan, with the options that change
// how they read rows.
func Unplanned() []catalog.Options {
	cold, warm := new(0.0), new(0.7)
	var out []catalog.Options
	add := func(name string, d catalog.RankOptions, how draw.Settings, around ...catalog.LayerOptions) {
		o := catalog.Options{Sampler: name, RankOptions: d, Draw: how}
		for _, x := range around {
			o.LayerOptions = x
		}
		if name == "confidence" || d.Rule != "" && name == "threshold" {
			o.Steps = 3
		}
		out = append(out, o)
	}
	for _, score := range []rank.RankBy{rank.ByConfidence, rank.ByMaskGIT, rank.ByMargin, rank.ByEntropy, rank.ByRandom} {
		for _, how := range []draw.Settings{{}, {Temperature: cold}, {Temperature: warm}, {TopK: 2}} {
			add("confidence", catalog.RankOptions{Score: score}, how)
		}
	}
	for _, rule := range []schedule.Rounding{schedule.RoundDream, schedule.RoundDLLM} {
		add("confidence", catalog.RankOptions{Rule: rule, AlgTemp: 0.1}, draw.Settings{})
		add("threshold", catalog.RankOptions{Rule: rule, Threshold: 0.3}, draw.Settings{})
	}
	add("confidence", catalog.RankOptions{Rule: schedule.RoundDLLM, Transfer: "binomial", Schedule: "cosine"}, draw.Settings{})
	add("threshold", catalog.RankOptions{Threshold: 0.3}, draw.Settings{}, catalog.LayerOptions{BlockLength: 2, Stop: new(3)})
	add("threshold", catalog.RankOptions{Threshold: 0.3}, draw.Settings{}, catalog.LayerOptions{Guidance: 1})
	add("factor", catalog.RankOptions{Factor: 1.2, BeginSuppressTokens: "2"}, draw.Settings{SuppressTokens: "1"})
	add("localleap", catalog.RankOptions{Threshold: 0.4, RelaxedThreshold: 0.2, Radius: 1}, draw.Settings{})
	add("entropy-bounded", catalog.RankOptions{Gamma: new(1.5)}, draw.Settings{})
	add("klass", catalog.RankOptions{Threshold: 0.3, KLThreshold: 2, History: 1}, draw.Settings{Temperature: warm}, catalog.LayerOptions{BlockLength: 3})
	add("llada2", catalog.RankOptions{Threshold: 0.4}, draw.Settings{}, catalog.LayerOptions{BlockLength: 4})
	add("confidence", catalog.RankOptions{Rule: schedule.RoundDream}, draw.Settings{}, catalog.LayerOptions{BlockLength: 3})
	for _, kind := range []remask.Remask{remask.RemaskCap, remask.RemaskConf, remask.RemaskLoop, remask.RemaskForwardBackward, remask.RemaskDFM} {
		out = append(out, catalog.Options{Sampler: "remdm", Steps: 9, RemaskOptions: catalog.RemaskOptions{Remask: kind}})
	}
	shaped := catalog.LayerOptions{BadWordsIDs: "1 2,3 3,5", MinLength: 9, Guidance: 0.5, Stop: new(0)}
	for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Noise: "loglinear"}}, {Sampler: "parallel-fhs", Steps: 3}, {Sampler: "confidence", Steps: 2}, {Sampler: "remdm", Steps: 9},
		{LayerOptions: catalog.LayerOptions{Correct: "gibbs:3x4"}}, {Sampler: "uniformization", Steps: 5}} {
		correct := o.Correct
		o.LayerOptions, o.Correct = shaped, correct
		out = append(out, o)
	}
	for _, o := range []catalog.Options{{}, {Draw: draw.Settings{Temperature: cold}}, {Draw: draw.Settings{TopK: 2}}, {RemaskOptions: catalog.RemaskOptions{Eta: 3}}, {LayerOptions: catalog.LayerOptions{BlockLength: 3}}, {LayerOptions: shaped}} {
		o.Sampler, o.Steps = "p2", 7
		out = append(out, o)
	}
	for _, o := range []catalog.Options{{}, {Draw: draw.Settings{Temperature: cold}}, {Draw: draw.Settings{TopK: 2, SuppressTokens: "1"}}, {LayerOptions: catalog.LayerOptions{BlockLength: 3}}, {LayerOptions: shaped}} {
		o.Sampler, o.Threshold, o.ThresholdBack = "wino", 0.3, 0.5
		out = append(out, o)
	}
	in := catalog.LayerOptions{BlockLength: 2}
	return append(out, catalog.Options{Sampler: "remdm", Steps: 9, RemaskOptions: catalog.RemaskOptions{NucleusP: 0.5, Eta: 0.5}},
		catalog.Options{LayerOptions: catalog.LayerOptions{Correct: "gibbs:2x5"}}, catalog.Options{Sampler: "factor", LayerOptions: catalog.LayerOptions{BlockLength: 2, Correct: "gibbs:1x3"}},
		catalog.Options{Sampler: "remdm", Steps: 5, LayerOptions: in}, catalog.Options{LayerOptions: in}, catalog.Options{LayerOptions: in, Lookahead: 3},
		catalog.Options{Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Noise: "loglinear"}, LayerOptions: catalog.LayerOptions{BlockLength: 3, Stop: new(2)}},
		catalog.Options{Sampler: "parallel-fhs", Steps: 2, LayerOptions: catalog.LayerOptions{BlockLength: 7}})
}
