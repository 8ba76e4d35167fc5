package samplers_test

import (
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
)

// unplanned returns one of each kind of the decoders without a plan, with the options that change
// how they read rows.
func unplanned() []catalog.Options {
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

// TestUnplanned checks that a sample of any of them is the same in any batch, contains the given
// tokens, fills the rest, and takes no call that commits nothing.
func TestUnplanned(t *testing.T) {
	reftest.Long(t)
	for _, timed := range []bool{false, true} {
		for _, o := range unplanned() {
			net := newHashNet(timed)
			wino := o.Sampler == "wino"
			net.all = o.Sampler == "p2" || wino
			s := reftest.Must(catalog.New(o, net.Spec()))(t, o)
			if s.Planned() {
				t.Errorf("%v has a plan", s)
			}
			cfg := net.config(s, 1)
			cfg.OnStep = func(s samplers.Step) {
				if len(s.Positions) == 0 && s.Rows > 0 && o.Sampler != "p2" && (o.BadWordsIDs == "" || o.Correct == "") {
					t.Errorf("%v: a call of sequence %d commits nothing", o, s.Index)
				}
			}
			want, _ := collect(t, net, slices.Values(mixed()), cfg)
			for _, seq := range mixed() {
				r := want[seq.Index]
				for l, id := range r.IDs {
					if id == net.mask || id == 4 || seq.Canvas[l] != net.mask && id != seq.Canvas[l] {
						t.Fatalf("%+v: %v became %v", o, seq.Canvas, r.IDs)
					}
				}
				if most := s.MostCalls(net.Spec(), seq.Canvas); r.Calls+r.FinishCalls > most && (!wino || o.BadWordsIDs == "") {
					t.Errorf("%+v: %d calls, at most %d", o, r.Calls+r.FinishCalls, most)
				}
				if canvases := max(1, s.Canvases()); o.Lookahead == 0 && !wino && r.Rows != canvases*(r.Calls+r.FinishCalls) || s.Settings().Score != "" && r.RuleCalls < r.Calls {
					t.Errorf("%+v: %+v", o, r)
				}
			}
			for _, batch := range []int{3, 40} {
				if got, _ := collect(t, net, slices.Values(mixed()), net.config(s, batch)); !sameIDs(got, want) {
					t.Errorf("%+v: other samples in batches of %d", o, batch)
				}
			}
			if net.bad != "" {
				t.Errorf("%+v: %s", o, net.bad)
			}
		}
	}
}

// TestQuotas checks that quotas sum to all masks with every rounding.
func TestQuotas(t *testing.T) {
	for masks := range 40 {
		for steps := 1; steps < 50; steps++ {
			for _, rule := range []schedule.Rounding{schedule.RoundLLaDA, schedule.RoundDream, schedule.RoundDLLM} {
				for _, cosine := range []bool{false, true} {
					q := schedule.Quotas(rule, masks, steps, 1e-3, cosine)
					sum := 0
					for _, n := range q {
						sum += n
					}
					if sum != masks || len(q) > steps || len(q) > 0 && (slices.Min(q) < 0 || rule == schedule.RoundDLLM && slices.Min(q) == 0) || rule != schedule.RoundDLLM && len(q) != steps {
						t.Fatalf("%s: %d masks in %d steps: %v", rule, masks, steps, q)
					}
				}
			}
		}
	}
}

// TestGuidanceOfNothing checks that guidance has no effect if nothing is visible, so that both
// canvases are equal.
func TestGuidanceOfNothing(t *testing.T) {
	net := newHashNet(false)
	seqs := []samplers.Sequence{{Canvas: slices.Repeat([]int{6}, 9)}, {Index: 1, Canvas: []int{1, 6, 6, 6, 6}}}
	plain, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, catalog.Options{Sampler: "factor"}), 1))
	guided, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, catalog.Options{Sampler: "factor", LayerOptions: catalog.LayerOptions{Guidance: 2}}), 1))
	kept, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, catalog.Options{Sampler: "factor", LayerOptions: catalog.LayerOptions{Guidance: 2, KeepTokens: "1"}}), 1))
	if !sameIDs(kept, plain) {
		t.Errorf("guidance that masks nothing: %v, without it %v", kept, plain)
	}
	if !slices.Equal(plain[0].IDs, guided[0].IDs) || slices.Equal(plain[1].IDs, guided[1].IDs) {
		t.Errorf("without guidance %v and %v, with it %v and %v", plain[0].IDs, plain[1].IDs, guided[0].IDs, guided[1].IDs)
	}
}

// TestDrawOfJob checks that a job's draw settings also apply to the scores.
func TestDrawOfJob(t *testing.T) {
	net := newAnyNet()
	how := draw.Settings{Temperature: new(0.3), TopK: 3}
	for _, o := range unplanned() {
		o.Draw = draw.Settings{}
		plain := made(t, o, net.Spec())
		o.Draw = how
		own := made(t, o, net.Spec())
		canvas := slices.Repeat([]int{6}, 15)
		e := newEngine(t, net, 1)
		a, err := last(e, t.Context(), samplers.Job{Canvas: canvas, Method: plain, Draw: how})
		b, err2 := last(e, t.Context(), samplers.Job{Canvas: canvas, Method: own})
		if err != nil || err2 != nil || !slices.Equal(a.IDs, b.IDs) {
			t.Errorf("%+v: %v, %v: %v, %v", o, a, b, err, err2)
		}
	}
}

// TestNothingToEdit checks that edits end if nothing is masked and nothing may be edited, on a
// whole canvas and in a block.
func TestNothingToEdit(t *testing.T) {
	net := newHashNet(false)
	for _, d := range []catalog.LayerOptions{{}, {BlockLength: 2, PromptLength: new(0)}} {
		s := made(t, catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.5}, LayerOptions: d}, net.Spec())
		seqs := []samplers.Sequence{{Index: 0, Canvas: []int{1, 2, 3, 4}}, {Index: 1, Canvas: []int{1, 2, 6, 4}}}
		got, _ := collect(t, net, slices.Values(seqs), net.config(s, 2))
		if r := got[0]; !slices.Equal(r.IDs, seqs[0].Canvas) || r.Calls != 0 {
			t.Errorf("%+v: %+v", d, r)
		}
		if r := got[1]; r.Left > 0 || r.Calls == 0 || r.Calls > s.MostCalls(net.Spec(), seqs[1].Canvas) {
			t.Errorf("%+v: %+v", d, r)
		}
	}
}

// TestEditsStayInTheBlock checks that tokens are replaced in the block that is being filled, and
// not in a finished block.
func TestEditsStayInTheBlock(t *testing.T) {
	net, edits := newHashNet(false), 0
	net.all = true
	s := mustNew(t, catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{Threshold: 0.2, EditingThreshold: 0.3}, LayerOptions: catalog.LayerOptions{BlockLength: 4}})
	cfg, block := net.config(s, 1), 0
	cfg.OnStep = func(s samplers.Step) {
		for _, l := range s.Positions {
			if l/4 < block {
				t.Errorf("position %d is changed in block %d", l, block)
			}
			block = max(block, l/4)
		}
		if edits += len(s.Positions) - s.Filled; s.Result != nil {
			block = 0
		}
	}
	collect(t, net, repeat(slices.Repeat([]int{6}, 16), 9), cfg)
	if edits == 0 {
		t.Error("nothing was edited: the test shows nothing")
	}
}
