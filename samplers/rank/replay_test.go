package rank_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/subset"
)

// replayable returns decoders of every kind of choice, for the rows of a hashing network.
func replayable() []catalog.Options {
	warm := draw.Settings{Temperature: new(0.7)}
	out := lawstest.Unplanned()
	for _, d := range []draw.Settings{{}, warm, {TopK: 2}} {
		out = append(out,
			catalog.Options{Sampler: "factor", RankOptions: catalog.RankOptions{Factor: 1.4}, Draw: d},
			catalog.Options{Sampler: "factor", RankOptions: catalog.RankOptions{Factor: 1.4, Rule: schedule.RoundDLLM}, Draw: d},
			catalog.Options{Sampler: "localleap", RankOptions: catalog.RankOptions{Threshold: 0.5, RelaxedThreshold: 0.3, Radius: 1}, Draw: d},
			catalog.Options{Sampler: "llada2", Steps: 2, RankOptions: catalog.RankOptions{Threshold: 0.4}, Draw: d},
			catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.3, Score: rank.ByMargin}, Draw: d},
			catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: new(1.2), Score: rank.ByMargin}, Draw: d},
			catalog.Options{Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Rule: schedule.RoundDream, Score: rank.ByEntropy, AlgTemp: 0.3}, Draw: d},
		)
	}
	for _, o := range []catalog.Options{{Sampler: "threshold"}, {Sampler: "confidence", Steps: 2}, {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: rank.ByMargin}}, {Sampler: "factor", Draw: warm}} {
		o.Guidance, o.MinLength, o.Stop = 0.7, 2, new(5)
		out = append(out, o)
	}
	return append(out,
		catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.3}, LayerOptions: catalog.LayerOptions{BlockLength: 2, Stop: new(3)}},
		catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.9}},
		catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Score: rank.ByConfidence}},
		catalog.Options{Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Columns: "raw"}})
}

// TestReplay checks that the probability of every text is that of the outcomes, which enumerate
// every token of every call.
func TestReplay(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const tokens = 6
	for _, timed := range []bool{false, true} {
		net := lawstest.NewHashNet(timed)
		canvas := []int{net.Mask, 2, net.Mask, net.Mask}
		var texts []rank.Text
		for i := range tokens * tokens * tokens {
			texts = append(texts, rank.Text{Canvas: canvas, IDs: []int{i % tokens, 2, i / tokens % tokens, i / tokens / tokens}})
		}
		for _, o := range replayable() {
			s := reftest.Must(catalog.New(o, net.Spec()))(t, o)
			got, err := s.Replay(context.Background(), net, texts, 7)
			if unknown, ok := s.Law().(samplers.Unknown); ok {
				if unknown.Why == "" || err == nil || !strings.Contains(err.Error(), unknown.Why) {
					t.Errorf("%v: %v, want the reason %q", s, err, unknown.Why)
				}
				continue
			}
			if err != nil {
				t.Errorf("%+v: %v", o, err)
				continue
			}
			all, _, err := s.Outcomes(context.Background(), net, canvas, 1e6)
			reftest.OK(t, err, o)
			want := make(map[string]float64)
			for _, x := range all {
				want[key(x.IDs)] = x.P
			}
			var sum float64
			for _, x := range got {
				sum += math.Exp(x.LogP)
			}
			if math.Abs(sum-1) > 1e-11 {
				t.Errorf("%+v: probabilities sum to %v", o, sum)
			}
			for i, x := range texts {
				p := math.Exp(got[i].LogP)
				if math.Abs(p-want[key(x.IDs)]) > 1e-12 {
					t.Errorf("%+v: text %v: %v, want %v", o, x.IDs, p, want[key(x.IDs)])
					break
				}
			}
		}
		if net.Bad != "" {
			t.Error(net.Bad)
		}
	}
}

// TestReplayCold checks at a temperature whose probabilities underflow that the logarithm of a text's is
// that of a sum over both orders of two positions, of the ways in which the other's draw loses.
func TestReplayCold(t *testing.T) {
	t.Parallel()
	net, w := lawstest.Open(t, "xor3-mixed")
	const temperature = 0.0004
	spec, cold := net.Spec(), draw.Settings{Temperature: new(temperature)}
	categorical := reftest.Must(draw.NewCategorical(spec.Vocabulary, cold))(t)
	logs := func(state, l int) []float64 {
		row := make([]float64, w.V)
		for a, mu := range w.Row(w.Rows(0), state, l) {
			row[a] = math.Log(mu)
		}
		reftest.OK(t, categorical.LogProbabilities(row, draw.Double(slices.Clone(row))))
		return row
	}
	const random, byToken, byEntropy = "random", "token", "entropy"
	for kind, o := range map[string]catalog.Options{
		byToken: {}, random: {RankOptions: catalog.RankOptions{Score: rank.ByRandom}}, byEntropy: {RankOptions: catalog.RankOptions{Score: rank.ByEntropy, AlgTemp: 1}},
	} {
		o.Sampler, o.Steps, o.Draw = "confidence", 2, cold
		s := reftest.Must(catalog.New(o, spec))(t)
		least := 0.0
		for text := range 4 {
			ids := []int{1, text & 1, text >> 1}
			start := w.Reveal(w.AllMask(), 0, 1)
			var ways []float64
			for _, at := range [][2]int{{1, 2}, {2, 1}} {
				l, other := at[0], at[1]
				way := logs(start, l)[ids[l]] + logs(w.Reveal(start, l, ids[l]), other)[ids[other]]
				if kind != byToken { // at this temperature both entropies are 0
					ways = append(ways, way-math.Ln2)
					continue
				}
				sure := w.Row(w.Rows(0), start, l)[ids[l]]
				for a, p := range logs(start, other) {
					if loses := w.Row(w.Rows(0), start, other)[a]; loses < sure-1e-9 || loses < sure+1e-9 && l < other {
						ways = append(ways, way+p)
					}
				}
			}
			got := reftest.Must(s.Replay(t.Context(), net, []rank.Text{{Canvas: []int{1, spec.Mask, spec.Mask}, IDs: ids}}, 1))(t)[0].LogP
			if want := subset.LogSum(ways); !(math.Abs(got-want) <= 1e-9*(1-want)) {
				t.Errorf("%s: text %v: log P is %v, want %v", kind, ids, got, want)
			}
			least = min(least, got)
		}
		if least > -1000 {
			t.Errorf("%s: no probability underflows: the least log P is %v", kind, least)
		}
	}
}

// key returns a name for a text.
func key(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteByte(byte('a' + id))
	}
	return b.String()
}

// TestReplayOnePath checks that if one path leads to a text, its probability is the one with which
// the tokens of a sample were drawn, at any length, from as many canvases as the sample took.
func TestReplayOnePath(t *testing.T) {
	t.Parallel()
	net, paths := lawstest.NewHashNet(false), 0
	for _, o := range replayable() {
		s := lawstest.NewFor(t, o, net.Spec())
		if law, ok := s.Law().(samplers.Replayed); !ok || law.By != samplers.ReplayOne {
			continue
		}
		paths++
		var texts []rank.Text
		var want []samplers.Result
		samples, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), lawstest.Config(s, 3))
		for _, q := range lawstest.Mixed() {
			texts, want = append(texts, rank.Text{Canvas: q.Canvas, IDs: samples[q.Index].IDs}), append(want, samples[q.Index])
		}
		for i, text := range texts {
			got := reftest.Must(s.Replay(context.Background(), net, []rank.Text{text}, 1))(t, o)
			if math.Abs(got[0].LogP-want[i].LogP) > 1e-9 || got[0].Rows != want[i].Rows {
				t.Errorf("%+v: %+v of a sample of log-probability %v in %d rows", o, got[0], want[i].LogP, want[i].Rows)
			}
		}
	}
	if paths < 10 {
		t.Errorf("%d samplers", paths)
	}
}

// TestReplayPaths checks that the mean over paths is the probability of a text, within 5 standard
// errors. One path is exact if all are the same.
func TestReplayPaths(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	net, many := lawstest.NewHashNet(true), 0
	text := rank.Text{Canvas: []int{net.Mask, 2, net.Mask, net.Mask, net.Mask}, IDs: []int{3, 2, 0, 5, 1}}
	for _, o := range replayable() {
		s := lawstest.NewFor(t, o, net.Spec())
		law, ok := s.Law().(samplers.Replayed)
		if !ok {
			continue
		}
		exact := reftest.Must(s.Replay(context.Background(), net, []rank.Text{text}, 9))(t)
		n := 1
		if law.By != samplers.ReplayOne {
			n = 400
			many++
		}
		logs := reftest.Must(s.ReplayPaths(context.Background(), net, text, n, draw.NewStream(3, 1), 64))(t, o)
		var mean, square float64
		for _, x := range logs {
			p := math.Exp(x - exact[0].LogP)
			mean, square = mean+p/float64(n), square+p*p/float64(n)
		}
		if math.IsInf(exact[0].LogP, -1) {
			if slices.Max(logs) != math.Inf(-1) {
				t.Errorf("%+v: %v of a text that is not given", o, slices.Max(logs))
			}
			continue
		}
		if se := math.Sqrt((square - mean*mean) / float64(n)); math.Abs(mean-1) > 5*se+1e-9 {
			t.Errorf("%+v: paths have %v ± %v of the probability", o, mean, se)
		}
	}
	if many < 20 {
		t.Errorf("%d samplers of many paths", many)
	}
}

// TestReplayRefuses checks that choices among too many positions are rejected, and so is a sampler
// with a plan.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	net := lawstest.NewHashNet(false)
	long := slices.Repeat([]int{net.Mask}, subset.MaxFree+1)
	text := []rank.Text{{Canvas: long, IDs: make([]int, len(long))}}
	for _, o := range []catalog.Options{{Sampler: "confidence", Steps: 2}, {}, {Sampler: "remdm"}} {
		s := lawstest.New(t, o)
		reftest.Fails(t, reftest.Err(s.Replay(context.Background(), net, text, 1)), "", s, "is replayed on", len(long), "positions")
	}
}
