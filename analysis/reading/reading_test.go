package reading

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// tolerance is for sums of some hundred probabilities in float64.
const tolerance = 1e-12

// read answers a question about a network.
func read(t *testing.T, net samplers.Network, q Question) *Answer {
	t.Helper()
	e := reftest.Must(samplers.NewEngine(net, 4))(t)
	defer e.Close()
	return reftest.Must(Read(context.Background(), e, net.Spec(), q))(t)
}

// canvases are some canvases of a world: all masked, and with a token at one of the positions.
func canvases(w *world.World) (out [][]int) {
	blank := slices.Repeat([]int{w.Facts().MaskID}, w.Facts().Length)
	out = append(out, blank)
	for l := range blank {
		c := slices.Clone(blank)
		c[l] = l % 2
		out = append(out, c)
	}
	return out
}

// mu is a row of a world on a canvas, at the masked fraction of package reading.
func mu(w *world.World, canvas []int, l int) []float64 {
	masked := 0
	for _, id := range canvas {
		if id == w.Facts().MaskID {
			masked++
		}
	}
	p := make([]float64, w.Facts().Columns)
	w.Mu(p, w.State(canvas), l, float64(masked)/float64(len(canvas)+1))
	return p
}

// filled is the probability of filling positions with ids in an order that is uniform among those of
// orders, by enumeration.
func filled(w *world.World, canvas []int, at, ids []int, orders [][]int) (sum float64) {
	for _, order := range orders {
		c, p := slices.Clone(canvas), 1/float64(len(orders))
		for _, i := range order {
			p *= mu(w, c, at[i])[ids[i]]
			c[at[i]] = ids[i]
		}
		sum += p
	}
	return sum
}

// permutations are all orders of n things.
func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return out
}

// sequences are all sequences of m of v tokens.
func sequences(m, v int) (out [][]int) {
	if m == 0 {
		return [][]int{nil}
	}
	for _, s := range sequences(m-1, v) {
		for a := range v {
			out = append(out, append(slices.Clone(s), a))
		}
	}
	return out
}

var worlds = []string{"xor3-mixed", "markov3-exact", "markov4-sharp", "timed3"}

// TestRows: a position's entropy and most probable tokens are those of the world's row.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, name := range worlds {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		v := w.Facts().Columns
		for _, canvas := range canvases(w) {
			read := read(t, w, Question{Canvas: canvas, Top: v})
			if read.Rows != 1 || read.Law != "" {
				t.Errorf("%s: %d rows by law %q", name, read.Rows, read.Law)
			}
			seen := 0
			for _, g := range read.Gaps {
				for _, p := range g.Positions {
					seen++
					row, entropy, last := mu(w, canvas, p.Position), 0.0, 0.0
					for _, x := range row {
						if x > 0 {
							entropy -= x * math.Log(x)
						}
					}
					for i, top := range p.Top {
						if got := float64(top.LogP); math.Abs(math.Exp(got)-row[top.ID]) > tolerance || i > 0 && got > last {
							t.Errorf("%s: position %d of %v: token %d has %v after %v, want %v", name, p.Position, canvas, top.ID, got, last, math.Log(row[top.ID]))
						}
						last = float64(top.LogP)
					}
					if math.Abs(float64(p.Entropy)-entropy) > tolerance {
						t.Errorf("%s: entropy %v at %d, want %v", name, p.Entropy, p.Position, entropy)
					}
				}
			}
			if want := len(canvas) - len(slices.DeleteFunc(slices.Clone(canvas), func(id int) bool { return id == v })); seen != want {
				t.Errorf("%s: %d positions of %v", name, seen, canvas)
			}
		}
	}
}

// TestCandidates: the probabilities of all candidates of m tokens are those of enumerating orders, by both
// laws, and add up to 1.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, name := range worlds {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		for _, canvas := range canvases(w) {
			for g, gap := range gaps(canvas, w.Facts().MaskID) {
				for m := 1; m <= gap.Length; m++ {
					at := make([]int, m)
					for i := range at {
						at[i] = gap.From + i
					}
					ltr := slices.Clone(at)
					for i := range ltr {
						ltr[i] = i
					}
					for law, orders := range map[Law][][]int{FirstHitting: permutations(m), LeftToRight: {ltr}} {
						q := Question{Canvas: canvas, Law: law, Candidates: make([][][]int, g+1)}
						q.Candidates[g] = sequences(m, w.Facts().Columns)
						read, sum := read(t, w, q), 0.0
						for _, c := range read.Gaps[g].Candidates {
							p, want := math.Exp(float64(c.LogP)), filled(w, canvas, at, c.IDs, orders)
							if sum += p; math.Abs(p-want) > tolerance {
								t.Errorf("%s, %s: %v in %v has %v, want %v", name, law, c.IDs, canvas, p, want)
							}
						}
						if math.Abs(sum-1) > tolerance || (read.Law == law) != (m > 1) {
							t.Errorf("%s, %s: %d tokens in %v: sum %v, law %q", name, law, m, canvas, sum, read.Law)
						}
					}
				}
			}
		}
	}
}

// TestLikelihood: a candidate that fills all masked positions has the sampler's exact likelihood.
func TestLikelihood(t *testing.T) {
	t.Parallel()
	w := reftest.Must(world.Open(reftest.Law(t, "markov4-sharp")))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, w.Spec()))(t)
	for _, ids := range sequences(w.Facts().Length, w.Facts().Columns) {
		want := reftest.Must(e.Exact(context.Background(), likelihood.Whole(ids), s))(t).NegLog
		got := read(t, w, Question{Canvas: canvases(w)[0], Candidates: [][][]int{{ids}}}).Gaps[0].Candidates[0].LogP
		if math.Abs(float64(got)+want) > tolerance && !math.IsInf(want, 1) {
			t.Errorf("%v: log P %v, want %v", ids, got, -want)
		}
	}
}

// hashed is a network of any length over some tokens, whose rows are numbers made of the canvas.
type hashed struct{ spec samplers.Spec }

func (n hashed) Spec() samplers.Spec { return n.spec }

func (n hashed) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	var out []float32
	at, length := 0, c.Length()
	for r, k := range c.Counts {
		h := uint64(length)
		for _, id := range c.IDs[r*length : (r+1)*length] {
			h = h*0x9E3779B97F4A7C15 + uint64(id) + 1
		}
		for _, l := range c.Positions[at : at+k] {
			for a := range n.spec.Columns {
				x := (h + uint64(l)*31 + uint64(a)*17) * 0xD1B54A32D192ED03
				out = append(out, float32(x>>40)/(1<<22))
			}
		}
		at += k
	}
	return out, nil
}

// TestFit: where gaps fit their candidates, a candidate has what it has in a canvas with a gap of its length,
// and canvases that candidates share are asked about once.
func TestFit(t *testing.T) {
	t.Parallel()
	net := hashed{samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 5, Mask: 5}}}
	list := [][]int{{1}, {2, 3}, {2, 4}, {0, 1, 2}}
	all := read(t, net, Question{Canvas: []int{0, 5, 1, 5, 5, 2}, Top: 2, Fit: true, Candidates: [][][]int{nil, list}})
	// 1 + 3 with a gap of three, and of the two of two tokens 4 less those shared: 1 canvas as it is, which
	// is also that of the gap of two; 1 for {1}; ∅, {2,_}, {_,3}, {_,4}; 7 of three.
	if all.Rows != 1+3+1+7 {
		t.Errorf("%d rows", all.Rows)
	}
	for i, c := range all.Gaps[1].Candidates {
		canvas := slices.Concat([]int{0, 5, 1}, slices.Repeat([]int{5}, len(c.IDs)), []int{2})
		want := read(t, net, Question{Canvas: canvas, Candidates: [][][]int{nil, {c.IDs}}}).Gaps[1].Candidates[0].LogP
		if c.LogP != want || !slices.Equal(c.IDs, list[i]) {
			t.Errorf("%v has %v, in a gap of its own %v", c.IDs, c.LogP, want)
		}
	}
}

// TestRefused: what cannot be answered is refused with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	net := hashed{samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 5, Mask: 5, Excluded: []int{4}}}}
	e := reftest.Must(samplers.NewEngine(net, 4))(t)
	defer e.Close()
	long := slices.Repeat([]int{1}, MostTokens+1)
	for want, q := range map[string]Question{
		"nothing is masked": {Canvas: []int{1, 2}}, "candidates for 2 gaps: the canvas has 1": {Canvas: []int{1, 5}, Candidates: [][][]int{nil, nil}},
		`law "by heart": must be`: {Canvas: []int{5}, Law: "by heart"}, "gap 1, candidate 1: it has no token": {Canvas: []int{5}, Candidates: [][][]int{{{}}}},
		"gap 1, candidate 2: id 5 is not": {Canvas: []int{5}, Candidates: [][][]int{{{1}, {5}}}}, "id 4 is not": {Canvas: []int{5}, Candidates: [][][]int{{{4}}}}, "id -1 is not": {Canvas: []int{5}, Candidates: [][][]int{{{-1}}}},
		"2 tokens in a gap of 1: write {{2}}":        {Canvas: []int{5}, Candidates: [][][]int{{{1, 1}}}},
		"11 tokens by first-hitting would take 2048": {Canvas: []int{5}, Fit: true, Candidates: [][][]int{{long}}},
		"take more than 4096 rows":                   {Canvas: []int{5}, Fit: true, Candidates: [][][]int{slices.Repeat([][]int{long[1:]}, 5)}},
	} {
		reftest.Fails(t, reftest.Err(Read(context.Background(), e, net.Spec(), q)), want)
	}
	shifted := net.spec
	shifted.Shift = true
	reftest.Fails(t, reftest.Err(Read(context.Background(), e, shifted, Question{Canvas: []int{5, 1}})), "position 0 is masked")
	if left := read(t, net, Question{Canvas: []int{5}, Fit: true, Law: LeftToRight, Candidates: [][][]int{{long}}}); left.Rows != len(long) || left.Law != LeftToRight {
		t.Errorf("from left to right %d tokens take %d rows", len(long), left.Rows)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reftest.Fails(t, reftest.Err(Read(ctx, e, net.Spec(), Question{Canvas: []int{5}, Top: 1})), "context canceled")
}
