package samplers_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
)

// rowOf returns the row of a masked position of a world's canvas after constraints and guidance, by
// their definition.
type rowOf func(canvas []int, l int) []float64

// plainRow returns the world's own rows.
func plainRow(w *world.World) rowOf {
	return func(canvas []int, l int) []float64 {
		row := make([]float64, w.Facts().Columns)
		w.Mu(row, w.State(canvas), l, 0)
		return row
	}
}

// without excludes what must not be drawn, and normalises the rest.
func (r rowOf) without(never func(canvas []int, l, token int) bool) rowOf {
	return func(canvas []int, l int) []float64 {
		row := r(canvas, l)
		for a := range row {
			if never(canvas, l, a) {
				row[a] = 0
			}
		}
		return normal(row)
	}
}

func normal(row []float64) []float64 {
	var sum float64
	for _, p := range row {
		sum += p
	}
	for a := range row {
		row[a] /= sum
	}
	return row
}

// oneByOne returns the law over states of filling a canvas one position at a time, chosen uniformly, from rows.
func oneByOne(w *world.World, rows rowOf, start []int) []float64 {
	spec := w.Spec()
	return lawstest.Outcomes(states(w), func(pick func([]float64) int) int {
		canvas := slices.Clone(start)
		for free := spec.Masked(canvas); free != nil; free = spec.Masked(canvas) {
			l := free[pick(slices.Repeat([]float64{1 / float64(len(free))}, len(free)))]
			canvas[l] = pick(rows(canvas, l))
		}
		return w.State(canvas)
	})
}

// TestConstrainedLaws checks that after a prompt, and with suppressed tokens, a minimum length, banned
// words and guidance, a sampler has the law of the same chain with the changed rows, computed from
// their definition.
func TestConstrainedLaws(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	type test struct {
		name   string
		change func(*catalog.Options)
		canvas []int
		row    func(plain rowOf, canvas []int) rowOf
	}
	const m = 3 // MASK
	all := []int{m, m, m}
	guided := func(weight float64, second func(canvas, start []int) []int) func(rowOf, []int) rowOf {
		return func(plain rowOf, start []int) rowOf {
			return func(canvas []int, l int) []float64 {
				row, other := plain(canvas, l), plain(second(canvas, start), l)
				for a := range row {
					row[a] = math.Pow(row[a], weight) * math.Pow(other[a], 1-weight)
				}
				return normal(row)
			}
		}
	}
	hidden := func(canvas, start []int) []int {
		out := slices.Clone(canvas)
		for l, id := range start {
			if id != m {
				out[l] = m
			}
		}
		return out
	}
	plainly := func(plain rowOf, _ []int) rowOf { return plain }
	tests := []test{
		{"a prompt", func(*catalog.Options) {}, []int{m, 1, m}, plainly},
		{"a longer prompt", func(*catalog.Options) {}, []int{0, m, 1}, plainly},
		{"suppressed", func(o *catalog.Options) { o.SuppressTokens = "2" }, all, func(plain rowOf, _ []int) rowOf {
			return plain.without(func(_ []int, _, a int) bool { return a == 2 })
		}},
		{"at least two", func(o *catalog.Options) { o.MinLength, o.Stop = 2, new(1) }, []int{2, m, m}, func(plain rowOf, _ []int) rowOf {
			return plain.without(func(_ []int, l, a int) bool { return a == 1 && l < 3 })
		}},
		{"at least two free", func(o *catalog.Options) { o.MinLength, o.Stop = 2, new(1) }, []int{m, 2, m}, func(plain rowOf, _ []int) rowOf {
			return plain.without(func(_ []int, _, a int) bool { return a == 1 })
		}},
		{"at least one", func(o *catalog.Options) { o.MinLength, o.Stop = 1, new(1) }, all, func(plain rowOf, _ []int) rowOf {
			return plain.without(func(_ []int, l, a int) bool { return a == 1 && l < 1 })
		}},
		{"words", func(o *catalog.Options) { o.BadWordsIDs = "0 1,2 2 0" }, all, func(plain rowOf, _ []int) rowOf {
			return plain.without(func(canvas []int, l, a int) bool {
				text := slices.Clone(canvas)
				text[l] = a
				return holds(text, 0, 1) || holds(text, 2, 2, 0)
			})
		}},
		{"guided", func(o *catalog.Options) { o.Guidance = 0.7 }, []int{2, m, m}, guided(1.7, hidden)},
		{"guided less", func(o *catalog.Options) { o.Guidance = -0.6 }, []int{m, 0, m}, guided(0.4, hidden)},
		{"a negative prompt", func(o *catalog.Options) { o.Guidance, o.NegativeTokens = 1, "1" }, []int{2, m, m}, guided(2, func(canvas, _ []int) []int {
			return append([]int{1}, canvas[1:]...)
		})},
	}
	w := openWorld(t, slices.Index(worldNames, "markov3-exact"))
	for _, test := range tests {
		law := oneByOne(w, test.row(plainRow(w), test.canvas), test.canvas)
		for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}} {
			test.change(&o)
			s := newSampler(t, w, o)
			got := sampleFrom(t, w, w, test.canvas, config(w, s, 11), fewerDraws)
			fits(t, got.states, law, familyLevel/float64(3*len(tests)), test.name, s)
			if changes := !strings.HasSuffix(test.name, "prompt") || o.Guidance != 0; s.Settings().ChangesLaw != changes {
				t.Errorf("%s: the record says of a change %t", test.name, !changes)
			}
		}
	}
}

// holds reports whether a text contains a word.
func holds(text []int, word ...int) bool {
	for from := range text {
		if from+len(word) <= len(text) && slices.Equal(text[from:from+len(word)], word) {
			return true
		}
	}
	return false
}

// TestBannedWords checks that with samplers that reveal several positions per call, banned words do
// not occur, nothing stays masked, and no end comes too early.
func TestBannedWords(t *testing.T) {
	net := newHashNet(false)
	words := [][]int{{1, 2}, {3, 3}, {5}, {0, 1, 0}}
	refused := 0
	for _, o := range []catalog.Options{
		{}, {Lookahead: 5}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "parallel-fhs", Steps: 1}, {Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "lambda"}},
		{Sampler: "confidence", Steps: 2}, {Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.1}}, {Sampler: "confidence", Steps: 1, LayerOptions: catalog.LayerOptions{BlockLength: 10}},
		{Sampler: "remdm", Steps: 6, RemaskOptions: catalog.RemaskOptions{Eta: 0.5}}, {Sampler: "wino", RankOptions: catalog.RankOptions{Threshold: 0.02}}, {Sampler: "parallel-fhs", Steps: 3, LayerOptions: catalog.LayerOptions{Correct: "gibbs:9x6"}},
		{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}, LayerOptions: catalog.LayerOptions{BlockLength: 7}}, {Sampler: "parallel-fhs", Steps: 1, LayerOptions: catalog.LayerOptions{BlockLength: 10, MaxLength: 90}},
	} {
		o.BadWordsIDs, o.MinLength, o.Stop = "1 2,3 3,5,0 1 0", 5, new(0)
		cfg := net.config(mustNew(t, o), 3)
		cfg.OnStep = func(s samplers.Step) {
			if s.Finish {
				refused++
			}
		}
		got, _ := collect(t, net, repeat(append([]int{3}, slices.Repeat([]int{6}, 40)...), 10), cfg)
		for _, r := range got {
			for _, word := range words {
				if holds(r.IDs, word...) {
					t.Errorf("%+v: %v stands in %v", o, word, r.IDs)
				}
			}
			if r.Left > 0 || slices.Index(r.IDs, 0) <= 5 && slices.Contains(r.IDs, 0) {
				t.Errorf("%+v: %d left, %v", o, r.Left, r.IDs)
			}
			if n := len(r.IDs); o.MaxLength > 0 && (n > 90 || n < 90 && !slices.Contains(r.IDs, 0)) {
				t.Errorf("%+v: %d positions: %v", o, n, r.IDs)
			}
		}
		if net.bad != "" {
			t.Errorf("%+v: %s", o, net.bad)
		}
	}
	if refused == 0 {
		t.Error("no token was ever refused: the test shows nothing")
	}
}

// TestGrowing checks that a canvas grows by blocks until the end is drawn or the length is reached.
// From left to right this equals a canvas of the whole length. The growth of one canvas does not
// depend on others, and options without growth are rejected.
func TestGrowing(t *testing.T) {
	net := newHashNet(false)
	const m = 6
	run := func(o catalog.Options, batch int, canvas ...int) map[uint64]samplers.Result {
		t.Helper()
		s := mustNew(t, o)
		cfg := net.config(s, batch)
		length := make(map[uint64]int)
		cfg.OnStep = func(s samplers.Step) { length[s.Index] += s.Grown }
		out, _ := collect(t, net, repeat(canvas, 30), cfg)
		for i, r := range out {
			if len(canvas)+length[i] != len(r.IDs) || r.Left > 0 || r.Calls > s.MostCalls(net.Spec(), canvas) {
				t.Errorf("%+v: %d and %d positions became %+v", o, len(canvas), length[i], r)
			}
		}
		return out
	}
	for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "uniformization", Steps: 4}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "threshold"}, {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: rank.ByMargin}},
		{Sampler: "remdm", Steps: 5}, {LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x2"}}, {Sampler: "threshold", LayerOptions: catalog.LayerOptions{Guidance: 1}}} {
		o.BlockLength, o.MaxLength, o.Stop = 4, 18, new(3)
		lengths := make(map[int]int)
		got := run(o, 1, 1, 3, m, m, m, m)
		for _, r := range got {
			n := len(r.IDs)
			lengths[n]++
			stop := slices.Index(r.IDs[2:], 3) // the given one ends nothing
			if n != 6 && n != 10 && n != 14 && n != 18 || stop < 0 && n != 18 || stop >= 0 && 2+stop < n-4 {
				t.Errorf("%+v: %v", o, r.IDs)
			}
		}
		if len(lengths) < 3 {
			t.Errorf("%+v: only lengths %v", o, lengths)
		}
		if !sameIDs(run(o, 7, 1, 3, m, m, m, m), got) {
			t.Errorf("%+v: other samples in a batch", o)
		}
	}
	for canvas, want := range map[string][]int{"max-length is 18": slices.Repeat([]int{m}, 19), "ends with given tokens": {m, m, 1}} {
		s := mustNew(t, catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 4, Stop: new(3), MaxLength: 18}})
		reftest.Fails(t, reftest.Err(last(newEngine(t, net, 1), t.Context(), samplers.Job{Canvas: want, Method: s})), canvas, want)
	}
}

// certain is a network of four tokens that rules out token 0 after token 3, token 1 after MASK, and
// all but token 1 after token 2.
type certain struct{}

func (certain) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 4, Mask: 4}}
}

func (certain) Logits(_ context.Context, c samplers.Call) (out []float32, _ error) {
	for i := range c.Counts {
		row := []float32{0, 1, 0.5, 0.2}
		never := map[int64][]int{2: {0, 2, 3}, 3: {0}, 4: {1}}
		for _, a := range never[c.IDs[i*c.Length()]] {
			row[a] = float32(math.Inf(-1))
		}
		out = append(out, row...)
	}
	return out, nil
}

// TestGuidanceOfImpossible checks that a token that is impossible on either canvas is impossible
// under guidance.
func TestGuidanceOfImpossible(t *testing.T) {
	for _, w := range []float64{-1, -0.5, 0.5, 2} {
		s := made(t, catalog.Options{LayerOptions: catalog.LayerOptions{Guidance: w}}, certain{}.Spec())
		counts := make([]int, 4)
		if _, err := samplers.Sample(t.Context(), certain{}, repeat([]int{3, 4}, 200), samplers.Config{Method: s}, func(r samplers.Result) error {
			counts[r.IDs[1]]++
			return nil
		}); err != nil || counts[0]+counts[1] > 0 || counts[2] == 0 || counts[3] == 0 {
			t.Errorf("guidance %v: %v of each token, error %v", w, counts, err)
		}
		reftest.Fails(t, reftest.Err(samplers.Fill(t.Context(), certain{}, []int{2, 4}, s, 1)), "every token has probability 0 on one of the two canvases: leave guidance out", "no token is possible on both", w)
	}
}
