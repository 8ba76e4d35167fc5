package samplers_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/samplers"
)

// unplanned is one of each kind of the decoders that have no plan, and of what changes how they
// read rows.
func unplanned() []samplers.Options {
	cold, warm := ptr(0.0), ptr(0.7)
	var out []samplers.Options
	add := func(name string, d samplers.Deciding, draw samplers.Draw) {
		o := samplers.Options{Sampler: name, Deciding: d, Draw: draw}
		if name == "confidence" || d.Rule != "" && name == "threshold" {
			o.Steps = 3
		}
		out = append(out, o)
	}
	for _, score := range []samplers.Score{samplers.ScoreConfidence, samplers.ScoreMaskGIT, samplers.ScoreMargin, samplers.ScoreEntropy, samplers.ScoreRandom} {
		for _, draw := range []samplers.Draw{{}, {Temperature: cold}, {Temperature: warm}, {TopK: 2}} {
			add("confidence", samplers.Deciding{Score: score}, draw)
		}
	}
	for _, rule := range []samplers.Rounding{samplers.RoundDream, samplers.RoundDLLM} {
		add("confidence", samplers.Deciding{Rule: rule, AlgTemp: 0.1}, samplers.Draw{})
		add("threshold", samplers.Deciding{Rule: rule, Threshold: 0.3}, samplers.Draw{})
	}
	add("confidence", samplers.Deciding{Rule: samplers.RoundDLLM, Transfer: "binomial", Schedule: "cosine"}, samplers.Draw{})
	add("threshold", samplers.Deciding{Threshold: 0.3, BlockLength: 2, Stop: ptr(3)}, samplers.Draw{})
	add("threshold", samplers.Deciding{Threshold: 0.3, Guidance: 1}, samplers.Draw{})
	add("factor", samplers.Deciding{Factor: 1.2, SuppressTokens: "1", BeginSuppressTokens: "2"}, samplers.Draw{})
	add("localleap", samplers.Deciding{Threshold: 0.4, RelaxedThreshold: 0.2, Radius: 1}, samplers.Draw{})
	add("entropy-bounded", samplers.Deciding{Gamma: ptr(1.5)}, samplers.Draw{})
	add("llada2", samplers.Deciding{Threshold: 0.4, BlockLength: 4}, samplers.Draw{})
	for _, kind := range []samplers.Remask{samplers.RemaskCap, samplers.RemaskConf, samplers.RemaskLoop, samplers.RemaskForwardBackward, samplers.RemaskDFM} {
		out = append(out, samplers.Options{Sampler: "remdm", Steps: 9, Remasking: samplers.Remasking{Remask: kind}})
	}
	in := samplers.Deciding{BlockLength: 2}
	return append(out, samplers.Options{Sampler: "remdm", Steps: 9, Remasking: samplers.Remasking{NucleusP: 0.5, Eta: 0.5}},
		samplers.Options{Remasking: samplers.Remasking{Correct: "gibbs:2x5"}}, samplers.Options{Sampler: "factor", Deciding: in, Remasking: samplers.Remasking{Correct: "gibbs:1x3"}},
		samplers.Options{Sampler: "remdm", Steps: 5, Deciding: in}, samplers.Options{Deciding: in}, samplers.Options{Deciding: in, Lookahead: 3},
		samplers.Options{Sampler: "tweedie", Noise: "loglinear", Steps: 3, Deciding: samplers.Deciding{BlockLength: 3, Stop: ptr(2)}}, samplers.Options{Sampler: "euler", Noise: "loglinear", Steps: 3, By: samplers.ByFloat32Gumbel, Deciding: in},
		samplers.Options{Sampler: "paired-fhs", Steps: 2, Deciding: samplers.Deciding{BlockLength: 7}})
}

// TestUnplanned: a sample of any of them is the same in any batch, holds what was given, fills
// the rest, and takes no call that commits nothing.
func TestUnplanned(t *testing.T) {
	for _, timed := range []bool{false, true} {
		for _, o := range unplanned() {
			net := newHashNet(timed)
			s, err := samplers.New(o, net.Spec())
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if s.Planned() {
				t.Errorf("%v has a plan", s)
			}
			cfg := net.config(s, 1)
			cfg.OnStep = func(s samplers.Step) {
				if len(s.Positions) == 0 && s.Rows > 0 && o.By != samplers.ByFloat32Gumbel {
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
				if canvases := max(1, s.Canvases()); o.Lookahead == 0 && r.Rows != canvases*(r.Calls+r.FinishCalls) || s.Settings().Score != "" && r.RuleCalls < r.Calls {
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

// TestOrderByEntropy: an order that does not depend on what is drawn, one position a call, has
// the law of the data where the rows are its conditionals.
func TestOrderByEntropy(t *testing.T) {
	i := slices.Index(worldNames, "markov3-exact")
	w, _ := openWorld(t, i)
	for _, o := range []samplers.Options{
		{Sampler: "entropy-bounded", Deciding: samplers.Deciding{Gamma: new(float64)}},
		{Sampler: "confidence", Steps: 3, Deciding: samplers.Deciding{Score: samplers.ScoreMargin}},
		{Sampler: "confidence", Steps: 3, Deciding: samplers.Deciding{Score: samplers.ScoreRandom}},
	} {
		s := newSampler(t, w, o)
		got := sampleMany(t, w, s, 3, lawDraws)
		if p := goodness(got.states, spread(w, w.Q0())); p < familyLevel/3 {
			t.Errorf("%v: p = %.3g", s, p)
		}
		if got.calls != 3*lawDraws {
			t.Errorf("%v: %v calls", s, got.calls)
		}
	}
}

// TestBoundOfEntropies: the entropies of what a call commits, but the greatest, are within the
// bound, and with the next one they were not.
func TestBoundOfEntropies(t *testing.T) {
	net := newHashNet(false)
	calls := make(map[float64]int)
	for _, gamma := range []float64{0, 1, 3, 1e9} {
		s := mustNew(t, samplers.Options{Sampler: "entropy-bounded", Deciding: samplers.Deciding{Gamma: &gamma}})
		r, _ := collect(t, net, slices.Values(mixed()[5:6]), net.config(s, 1))
		calls[gamma] = r[105].Calls
	}
	if calls[0] != 40 || calls[1e9] != 1 || !(calls[3] < calls[1] && calls[1] < 40) {
		t.Errorf("calls by bound: %v", calls)
	}
}

// TestQuotas: they are those of all masks, whatever rounds them.
func TestQuotas(t *testing.T) {
	for masks := range 40 {
		for steps := 1; steps < 50; steps++ {
			for _, rule := range []samplers.Rounding{samplers.RoundLLaDA, samplers.RoundDream, samplers.RoundDLLM} {
				for _, cosine := range []bool{false, true} {
					q := samplers.Quotas(rule, masks, steps, 1e-3, cosine)
					sum := 0
					for _, n := range q {
						sum += n
					}
					if sum != masks || len(q) > steps || len(q) > 0 && (slices.Min(q) < 0 || rule == samplers.RoundDLLM && slices.Min(q) == 0) || rule != samplers.RoundDLLM && len(q) != steps {
						t.Fatalf("%s: %d masks in %d steps: %v", rule, masks, steps, q)
					}
				}
			}
		}
	}
}

// TestStop: a finished block that holds the token ends the sequence, which is filled with it.
func TestStop(t *testing.T) {
	net := newHashNet(false)
	canvas := slices.Repeat([]int{net.mask}, 12)
	for _, name := range []string{"threshold", "ordered", "remdm"} {
		fill := func(d samplers.Deciding) samplers.Result {
			t.Helper()
			d.BlockLength = 3
			s := mustNew(t, samplers.Options{Sampler: name, Deciding: d})
			r, _ := collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), net.config(s, 1))
			return r[0]
		}
		whole := fill(samplers.Deciding{})
		for at, token := range whole.IDs {
			block := slices.Index(whole.IDs, token) / 3
			if at/3 != block {
				continue // not its first block
			}
			got := fill(samplers.Deciding{Stop: &token})
			want := slices.Concat(whole.IDs[:3*(block+1)], slices.Repeat([]int{token}, 12-3*(block+1)))
			if !slices.Equal(got.IDs, want) || block < 3 && got.Calls >= whole.Calls || got.Left != 0 {
				t.Errorf("%s, stop %d of %v: %v in %d of %d calls", name, token, whole.IDs, got.IDs, got.Calls, whole.Calls)
			}
		}
	}
}

// TestBlocks: a block is filled before the next, and the prompt tells where the first begins.
func TestBlocks(t *testing.T) {
	net := newHashNet(false)
	canvas := []int{6, 1, 6, 6, 6, 6, 6}
	for _, test := range []struct {
		reach string
		left  int
	}{{"before", 0}, {"inside", 1}} {
		d := samplers.Deciding{BlockLength: 2, PromptLength: ptr(2), Reach: test.reach}
		s := mustNew(t, samplers.Options{Sampler: "threshold", Deciding: d})
		block := 0
		cfg := net.config(s, 1)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if l >= 2 && (l-2)/2 < block {
					t.Errorf("position %d after block %d", l, block)
				}
				block = max(block, (l-2)/2)
			}
		}
		r, _ := collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg)
		if r[0].Left != test.left || block != 2 {
			t.Errorf("reach %s: %+v", test.reach, r[0])
		}
	}
	s := mustNew(t, samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 2, PromptLength: ptr(8)}})
	if _, err := last(newEngine(t, net, 1), context.Background(), samplers.Job{Canvas: canvas, Method: s}); err == nil || !strings.Contains(err.Error(), "the prompt has 8 positions, the canvas 7") {
		t.Errorf("a prompt that is too long: %v", err)
	}
}

// TestWindows: one block is the canvas; from left to right blocks change nothing; and others
// are filled one after the other.
func TestWindows(t *testing.T) {
	net := newHashNet(false)
	run := func(o samplers.Options) map[uint64]samplers.Result {
		t.Helper()
		cfg := net.config(mustNew(t, o), 4)
		at := make(map[uint64]int)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if b := o.BlockLength; b > 0 && o.PromptLength != nil {
					if l/b < at[s.Index] {
						t.Errorf("%+v: sequence %d: position %d after block %d", o, s.Index, l, at[s.Index])
					}
					at[s.Index] = l / b
				}
			}
		}
		out, _ := collect(t, net, slices.Values(mixed()), cfg)
		return out
	}
	for _, o := range []samplers.Options{{}, {Lookahead: 4}, {Sampler: "ordered"}, {Sampler: "tweedie", Steps: 5}, {Sampler: "paired-fhs", Steps: 3}, {Sampler: "remdm", Steps: 7}} {
		plain := run(o)
		o.Deciding = samplers.Deciding{BlockLength: 99}
		if !sameIDs(run(o), plain) {
			t.Errorf("%+v: one block is not the canvas", o)
		}
		o.Deciding = samplers.Deciding{BlockLength: 2, PromptLength: new(int)}
		if same := sameIDs(run(o), plain); same != (o.Sampler == "ordered") {
			t.Errorf("%+v: blocks change nothing: %t", o, same)
		}
	}
}

// TestGuidanceOfNothing: where nothing is visible both canvases are one, and guidance is none.
func TestGuidanceOfNothing(t *testing.T) {
	net := newHashNet(false)
	seqs := []samplers.Sequence{{Canvas: slices.Repeat([]int{6}, 9)}, {Index: 1, Canvas: []int{1, 6, 6, 6, 6}}}
	plain, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, samplers.Options{Sampler: "factor"}), 1))
	guided, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, samplers.Options{Sampler: "factor", Deciding: samplers.Deciding{Guidance: 2}}), 1))
	kept, _ := collect(t, net, slices.Values(seqs), net.config(mustNew(t, samplers.Options{Sampler: "factor", Deciding: samplers.Deciding{Guidance: 2, KeepTokens: "1"}}), 1))
	if !sameIDs(kept, plain) {
		t.Errorf("guidance that masks nothing: %v, without it %v", kept, plain)
	}
	if !slices.Equal(plain[0].IDs, guided[0].IDs) || slices.Equal(plain[1].IDs, guided[1].IDs) {
		t.Errorf("without guidance %v and %v, with it %v and %v", plain[0].IDs, plain[1].IDs, guided[0].IDs, guided[1].IDs)
	}
}

// TestDrawOfJob: what a job says of draws holds for the scores, too.
func TestDrawOfJob(t *testing.T) {
	net := newAnyNet()
	draw := samplers.Draw{Temperature: ptr(0.3), TopK: 3}
	for _, o := range unplanned() {
		o.Draw = samplers.Draw{}
		plain, err := samplers.New(o, net.Spec())
		if err != nil {
			t.Fatal(err)
		}
		o.Draw = draw
		own, err := samplers.New(o, net.Spec())
		if err != nil {
			t.Fatal(err)
		}
		canvas := slices.Repeat([]int{6}, 15)
		e := newEngine(t, net, 1)
		a, err := last(e, t.Context(), samplers.Job{Canvas: canvas, Method: plain, Draw: draw})
		b, err2 := last(e, t.Context(), samplers.Job{Canvas: canvas, Method: own})
		if err != nil || err2 != nil || !slices.Equal(a.IDs, b.IDs) {
			t.Errorf("%+v: %v, %v: %v, %v", o, a, b, err, err2)
		}
	}
}

// TestDecidingErrors: wrong values are refused in one line.
func TestDecidingErrors(t *testing.T) {
	spec := newHashNet(false).Spec()
	for _, test := range []struct {
		o    samplers.Options
		want string
	}{
		{samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Score: "luck"}}, "score is luck: must be one of confidence, maskgit-plus, margin, entropy, random"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Score: samplers.ScoreEntropy}}, `score "entropy"`},
		{samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: "mine"}}, "rule is mine"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Rule: samplers.RoundLLaDA}}, `rule "llada": must be dream or dllm`},
		{samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: samplers.RoundDLLM, Schedule: "square", Columns: "all"}}, "schedule is square: must be one of linear, cosine; columns is all"},
		{samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: samplers.RoundDLLM, Transfer: "all"}}, "transfer is all"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 3, Reach: "behind"}}, "reach is behind"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Reach: "inside"}}, "does not use reach"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Guidance: 1, Unconditional: "all"}}, "unconditional is all"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{SuppressTokens: "7"}}, "suppress-tokens: id 7: must be in 0..6"},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BeginSuppressTokens: "x"}}, `begin-suppress-tokens: must be a list of ids: "x"`},
		{samplers.Options{Sampler: "threshold", Steps: 3}, "does not use steps"},
		{samplers.Options{Sampler: "llada2", Deciding: samplers.Deciding{PostSteps: 3}}, "does not use post-steps"},
		{samplers.Options{Remasking: samplers.Remasking{Correct: "gibbs:2"}}, `correct "gibbs:2": must be gibbs:MxN`},
		{samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Guidance: 1}, Remasking: samplers.Remasking{Correct: "gibbs:2x1"}}, "does not use correct"},
		{samplers.Options{Remasking: samplers.Remasking{Correct: "mh:2x1"}}, `correct "mh:2x1"`},
		{samplers.Options{Remasking: samplers.Remasking{Correct: "gibbs:0x1"}}, `correct "gibbs:0x1"`},
		{samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: "all"}}, "remask is all"},
		{samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: samplers.RemaskConf, Eta: 0.1}}, "does not use eta"},
		{samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: samplers.RemaskLoop, TOn: ptr(0.01)}}, "t-off 0.05, t-on 0.01"},
		{samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: samplers.RemaskLoop, Eta: 0.5}}, "eta 0.5 with alpha-on 0.9"},
	} {
		_, err := samplers.New(test.o, spec)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v: want one line with %q", test.o, err, test.want)
		}
	}
	all, err := samplers.New(samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{SuppressTokens: "0,1,2,3,5"}}, spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := last(newEngine(t, newAnyNet(), 1), t.Context(), samplers.Job{Canvas: []int{6}, Method: all}); err == nil || !strings.Contains(err.Error(), "all of 7 columns are excluded") {
		t.Errorf("all tokens suppressed: %v", err)
	}
}

// TestGibbs compares with the kernel of its calls: each masks some of the positions, chosen
// uniformly, and draws them from the rows, after one call for everything.
func TestGibbs(t *testing.T) {
	w, _ := openWorld(t, slices.Index(worldNames, "markov3-exact"))
	choices := map[int][][]int{1: {{0}, {1}, {2}}, 2: {{0, 1}, {0, 2}, {1, 2}}, 3: {{0, 1, 2}}}
	for _, test := range []struct{ positions, calls int }{{1, 1}, {1, 4}, {2, 2}, {3, 1}, {9, 1}} {
		law := make([]float64, 64)
		fillAll(w, allMask(w), slices.Clone(allMask(w)), []int{0, 1, 2}, 1, func(ids []int, p float64) { law[w.State(ids)] += p })
		for range test.calls {
			next := make([]float64, len(law))
			for state, q := range law {
				ids := []int{state / 16, state / 4 % 4, state % 4}
				if q == 0 {
					continue
				}
				sets := choices[min(test.positions, 3)]
				for _, set := range sets {
					canvas := slices.Clone(ids)
					for _, l := range set {
						canvas[l] = w.Facts().MaskID
					}
					fillAll(w, canvas, slices.Clone(canvas), set, q/float64(len(sets)), func(ids []int, p float64) { next[w.State(ids)] += p })
				}
			}
			law = next
		}
		s := newSampler(t, w, samplers.Options{Sampler: "parallel-fhs", Steps: 1, Remasking: samplers.Remasking{Correct: fmt.Sprintf("gibbs:%d×%d", test.positions, test.calls)}})
		got := sampleMany(t, w, s, 1, lawDraws)
		if p := goodness(got.states, law); p < familyLevel/5 {
			t.Errorf("%+v: p = %.3g", test, p)
		}
		if got.calls != float64(lawDraws*(1+test.calls)) {
			t.Errorf("%+v: %v calls", test, got.calls)
		}
	}
}

// TestRemaskedFractions: whatever the network, the masked fraction of every
// position after each of ReMDM's steps is that of ancestral sampling, whatever is masked again;
// but for the last of forward-backward.
func TestRemaskedFractions(t *testing.T) {
	for _, kind := range []samplers.Remask{samplers.RemaskCap, samplers.RemaskRescale, samplers.RemaskForwardBackward} {
		for _, n := range []int{1, 2, 7, 100} {
			m := 1.0
			for k, s := range samplers.RemaskProbabilities(samplers.Remasking{Remask: kind, Eta: 0.3}, n) {
				if !(s.Reveal >= 0 && s.Reveal <= 1+1e-12 && s.Remask >= 0 && s.Remask <= 1) {
					t.Fatalf("%s: step %d of %d: %+v", kind, k, n, s)
				}
				m = m*(1-s.Reveal) + (1-m)*s.Remask
				if want := 1 - float64(k+1)*(1-1e-5)/float64(n); math.Abs(m-want) > 1e-12 && (kind != samplers.RemaskForwardBackward || k < n-1) {
					t.Fatalf("%s: masked fraction %v after step %d of %d, want %v", kind, m, k, n, want)
				}
			}
		}
	}
	on, off := 0.55, 0.05
	for _, set := range []samplers.Remasking{{Remask: samplers.RemaskLoop, Eta: 0.02, TOn: &on, TOff: &off, AlphaOn: 0.9}, {Remask: samplers.RemaskDFM}, {Remask: samplers.RemaskConf}} {
		for n := 1; n < 200; n++ {
			for k, s := range samplers.RemaskProbabilities(set, n) {
				if !(s.Reveal >= 0 && s.Reveal <= 1+1e-9 && s.Remask >= 0 && s.Remask <= 1+1e-9) {
					t.Fatalf("%s: step %d of %d: %+v", set.Remask, k, n, s)
				}
			}
		}
	}
}
