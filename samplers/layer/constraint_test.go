package layer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// rowOf returns the row of a masked position of a world's canvas after constraints and guidance, by
// their definition.
type rowOf func(canvas []int, l int) []float64

// plainRow returns the world's own rows.
func plainRow(w *world.World) rowOf {
	return func(canvas []int, l int) []float64 {
		row := make([]float64, w.Facts().Columns)
		lawstest.Mu(w, row, w.State(canvas), l, 0)
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
func oneByOne(w *world.World, states int, rows rowOf, start []int) []float64 {
	spec := w.Spec()
	return lawstest.Outcomes(states, func(pick func([]float64) int) int {
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
	w, theory := lawstest.Open(t, "markov3-exact")
	for _, test := range tests {
		law := oneByOne(w, theory.States, test.row(plainRow(w), test.canvas), test.canvas)
		for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}} {
			test.change(&o)
			s := lawstest.NewFor(t, o, w.Spec())
			got := lawstest.SampleFrom(t, w, w, test.canvas, samplers.Config{Method: s, Seed: 11, Batch: 64}, lawstest.FewerDraws)
			lawstest.Fits(t, got.States, law, lawstest.FamilyLevel/float64(3*len(tests)), test.name, s)
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
	net := lawstest.NewHashNet(false)
	words := [][]int{{1, 2}, {3, 3}, {5}, {0, 1, 0}}
	refused := 0
	for _, o := range []catalog.Options{
		{}, {Lookahead: 5}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "parallel-fhs", Steps: 1}, {Sampler: "tweedie", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "lambda"}},
		{Sampler: "confidence", Steps: 2}, {Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.1}}, {Sampler: "confidence", Steps: 1, LayerOptions: catalog.LayerOptions{BlockLength: 10}},
		{Sampler: "remdm", Steps: 6, RemaskOptions: catalog.RemaskOptions{Eta: 0.5}}, {Sampler: "wino", RankOptions: catalog.RankOptions{Threshold: 0.02}}, {Sampler: "parallel-fhs", Steps: 3, LayerOptions: catalog.LayerOptions{Correct: "gibbs:9x6"}},
		{Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}, LayerOptions: catalog.LayerOptions{BlockLength: 7}}, {Sampler: "parallel-fhs", Steps: 1, LayerOptions: catalog.LayerOptions{BlockLength: 10, MaxLength: 90}},
	} {
		o.BadWordsIDs, o.MinLength, o.Stop = "1 2,3 3,5,0 1 0", 5, new(0)
		cfg := lawstest.Config(lawstest.New(t, o), 3)
		cfg.OnStep = func(s samplers.Step) {
			if s.Finish {
				refused++
			}
		}
		got, _ := lawstest.Collect(t, net, samplers.Copies(append([]int{3}, slices.Repeat([]int{6}, 40)...), 0, 10), cfg)
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
		if net.Bad != "" {
			t.Errorf("%+v: %s", o, net.Bad)
		}
	}
	if refused == 0 {
		t.Error("no token was ever refused: the test shows nothing")
	}
}
