package causal_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
)

// of returns the options of a sampler.
func of(name string, window int) catalog.Options {
	return catalog.Options{Sampler: name, CausalOptions: catalog.CausalOptions{Window: window}}
}

// TestLaw compares the frequencies of texts with the enumerated causal law, with given tokens between free
// ones, and log P of each with its conditionals.
func TestLaw(t *testing.T) {
	t.Parallel()
	const n = 5000
	w := lawstest.NewCausal(t, 3, 4, 3, 2, 0.4)
	canvas, free := []int{2, 3, 1, 3}, []int{1, 3}
	for _, o := range []catalog.Options{of("ar", 0), of("speculate", 0)} {
		counts, p := make([]int, 9), make([]float64, 9)
		got, totals := lawstest.Collect(t, w, samplers.Copies(canvas, 0, n), samplers.Config{Method: lawstest.NewFor(t, o, w.Spec()), Seed: 7, Batch: 64})
		for _, r := range got {
			counts[r.IDs[1]*3+r.IDs[3]]++
			if want := w.Log(r.IDs, free); math.Abs(r.LogP-want) > 1e-12 {
				t.Fatalf("%v: log p %v, want %v", r.IDs, r.LogP, want)
			}
		}
		for i := range p {
			p[i] = math.Exp(w.Log([]int{2, i / 3, 1, i % 3}, free))
		}
		if x := reftest.Goodness(counts, p); x < 1e-3 {
			t.Errorf("%s: the counts %v have probability %v under %v", o.Sampler, counts, x, p)
		}
		if o.Sampler == "ar" && totals.Calls != 2*n {
			t.Errorf("%d calls of %d sequences of two free positions", totals.Calls, n)
		}
	}
}

// TestSameIDs compares speculate with causal at random settings: temperatures, truncation, windows, gaps,
// stop tokens, banned words and patterns, in batches. Windows change the calls and no id.
func TestSameIDs(t *testing.T) {
	t.Parallel()
	const d, v = 6, 3
	r := rand.New(rand.NewPCG(1, 2))
	var worlds []lawstest.Causal
	for noise := range 3 {
		worlds = append(worlds, lawstest.NewCausal(t, uint64(noise), d, v, 4, 0.3*float64(noise)))
	}
	language := reftest.Must(match.NewVocabulary([][]byte{[]byte("a"), []byte("b"), []byte("c")}, -1).Language(t.Context(), `(ab|c|b*a)*b?`))(t)
	fewer, more := 0, 0
	for i := range 1000 {
		w := worlds[i%len(worlds)]
		temperature := 1.5 * float64(r.IntN(7)) / 6
		o := catalog.Options{Draw: draw.Settings{Temperature: &temperature}}
		if r.IntN(3) == 0 {
			o.TopK = 1 + r.IntN(v)
		}
		if r.IntN(3) == 0 {
			o.TopP = 0.3 + 0.7*r.Float64()
		}
		switch r.IntN(5) {
		case 0:
			o.Match = []match.Rule{{Language: language}}
		case 1:
			o.BadWordsIDs = "1 2,2 0 1"
		case 2:
			o.Stop = new(r.IntN(v))
			if r.IntN(2) == 0 {
				o.MinLength = 3
			}
		}
		if r.IntN(3) == 0 {
			o.By = draw.ByInverse
		}
		canvas := slices.Repeat([]int{v}, d)
		canvas[0] = r.IntN(v)
		if o.Match == nil && r.IntN(2) == 0 {
			canvas[1+r.IntN(d-1)] = r.IntN(v)
		}
		run := func(name string, window, batch int) (map[uint64]samplers.Result, int) {
			o := o
			o.Sampler, o.Window = name, window
			got, totals := lawstest.Collect(t, w, samplers.Copies(canvas, uint64(i), 3), samplers.Config{Method: lawstest.NewFor(t, o, w.Spec()), Seed: uint64(i), Batch: batch})
			return got, totals.Calls
		}
		want, calls := run("causal", 0, 1)
		window := r.IntN(d + 2)
		got, took := run("speculate", window, 1+r.IntN(3))
		for k, x := range want {
			if !slices.Equal(got[k].IDs, x.IDs) || got[k].LogP != x.LogP {
				t.Fatalf("setting %d, %+v, window %d: %v, %v; causal gives %v, %v", i, o, window, got[k].IDs, got[k].LogP, x.IDs, x.LogP)
			}
		}
		if took < calls {
			fewer++
		} else if took > calls {
			more++
		}
	}
	if fewer < 100 || more < 100 {
		t.Errorf("drafts saved calls in %d settings and cost some in %d", fewer, more)
	}
}

// TestWindow checks that drafts that are always right lead to the greatest window, and drafts that cost more
// than they save to windows of one, tried again now and then.
func TestWindow(t *testing.T) {
	t.Parallel()
	const d = 10
	sure := lawstest.NewCausal(t, 1, d, 1, 4, 0)
	canvas := append([]int{0}, slices.Repeat([]int{1}, d-1)...)
	for _, c := range []struct {
		cost  float64
		calls int
	}{
		{0, 1 + 2*2}, // the first token, then twice windows of 4
		{1, 9},       // none saves anything
	} {
		o := of("speculate", 0)
		o.RowCost = c.cost
		got, _ := lawstest.Collect(t, sure, samplers.Copies(canvas, 0, 1), samplers.Config{Method: lawstest.NewFor(t, o, sure.Spec())})
		if got[0].Calls != c.calls {
			t.Errorf("a row costs %v: %d calls, want %d", c.cost, got[0].Calls, c.calls)
		}
	}
}

// TestRefused checks what the samplers are not for.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := lawstest.NewCausal(t, 1, 3, 2, 2, 0)
	for _, name := range []string{"causal", "speculate"} {
		plain := w.Spec()
		plain.Causal, plain.BlockSize = false, 0
		reftest.FailsInLine(t, reftest.Err(catalog.New(of(name, 0), plain)), "causal rows")
		blocks := of(name, 0)
		blocks.BlockLength = 2
		reftest.FailsInLine(t, reftest.Err(catalog.New(blocks, w.Spec())), "block-length cannot be combined")
		reftest.FailsInLine(t, lawstest.NewFor(t, of(name, 0), w.Spec()).Check(w.Spec(), []int{2, 2, 2}), "give the first token")
	}
	if s := lawstest.New(t, of("ar", 0)); s.Settings().Sampler != "ordered" {
		t.Errorf("ar is %s on a network without causal rows", s.Settings().Sampler)
	}
}

// TestStale checks that the worlds of these tests find stale rows: a call may leave out the causal rows that earlier calls computed, and no others: not
// those of a block, nor of other tokens.
func TestStale(t *testing.T) {
	t.Parallel()
	w := lawstest.NewCausal(t, 1, 4, 2, 2, 0.5)
	kept := []samplers.Kept{w.Keep(4)}
	ask := func(ids []int64, block samplers.Span, row int64, compute ...int64) error {
		return reftest.Err(w.Rows(t.Context(), samplers.Call{IDs: ids, Positions: []int64{row}, Counts: []int{1}, Kept: kept, Compute: compute, Blocks: []samplers.Span{block}}))
	}
	reftest.OK(t, ask([]int64{1, 2, 2, 2}, samplers.Span{From: 1, To: 3}, 1, 0, 1, 2))
	reftest.Fails(t, ask([]int64{1, 0, 2, 2}, samplers.Span{From: 2, To: 2}, 1, 0), "position 1", "a row of a block was used as causal")
	reftest.OK(t, ask([]int64{1, 0, 2, 2}, samplers.Span{From: 2, To: 2}, 1, 1))
	reftest.OK(t, ask([]int64{1, 0, 2, 2}, samplers.Span{From: 2, To: 4}, 2, 2, 3))
	reftest.Fails(t, ask([]int64{0, 0, 2, 2}, samplers.Span{From: 2, To: 4}, 2, 2, 3), "position 0", "a row of another token was used")
}
