package reading

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// tolerance is for sums of several hundred probabilities in float64.
const tolerance = 1e-12

// read answers a question about a network.
func read(t *testing.T, net model.Model, q Question) *Answer {
	t.Helper()
	e := reftest.Must(likelihood.New(net, likelihood.Options{}))(t)
	return reftest.Must(Read(context.Background(), e, q))(t)
}

// canvases returns some canvases of a world: all masked, and with a token at one of the positions.
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

// mu returns a row of a world on a canvas, at the masked fraction of package reading.
func mu(w *world.World, canvas []int, l int) []float64 {
	masked := 0
	for _, id := range canvas {
		if id == w.Facts().MaskID {
			masked++
		}
	}
	p := make([]float64, w.Facts().Columns)
	lawstest.Mu(w, p, w.State(canvas), l, float64(masked)/float64(len(canvas)+1))
	return p
}

// filled returns the probability of filling positions with ids in an order that is uniform among
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

// sequences returns all sequences of m of v tokens.
func sequences(m, v int) [][]int { return combin.Cartesian(slices.Repeat([]int{v}, m)) }

var worlds = []string{"xor3-mixed", "markov3-exact", "markov4-sharp", "timed3"}

// TestRows checks that a position's entropy and most probable tokens are those of the world's row.
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

// TestCandidates compares the probabilities of all candidates of m tokens with the enumeration of
// orders, for both laws, and checks that they sum to 1.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, name := range worlds {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		for _, canvas := range canvases(w) {
			for g, gap := range gaps(canvas, w.Facts().MaskID) {
				m := gap.Length // A world accepts canvases of one length only.
				at := make([]int, m)
				for i := range at {
					at[i] = gap.From + i
				}
				ltr := slices.Clone(at)
				for i := range ltr {
					ltr[i] = i
				}
				for law, orders := range map[Law][][]int{FirstHitting: combin.Permutations(m, m), LeftToRight: {ltr}} {
					q := Question{Canvas: canvas, Law: law, Gap: g + 1, Candidates: sequences(m, w.Facts().Columns)}
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

// TestLikelihood checks that a candidate for all masked positions has the sampler's exact
// likelihood.
func TestLikelihood(t *testing.T) {
	t.Parallel()
	w := reftest.Must(world.Open(reftest.Law(t, "markov4-sharp")))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, w.Spec()))(t)
	for _, ids := range sequences(w.Facts().Length, w.Facts().Columns) {
		want := reftest.Must(e.Exact(context.Background(), likelihood.Whole(ids), s))(t).NegLog
		got := read(t, w, Question{Canvas: canvases(w)[0], Candidates: [][]int{ids}}).Gaps[0].Candidates[0].LogP
		if math.Abs(float64(got)+want) > tolerance && !math.IsInf(want, 1) {
			t.Errorf("%v: log P %v, want %v", ids, got, -want)
		}
	}
}

// hashed is a network of any length, whose rows are a function of the canvas, as a model.
type hashed struct {
	lawstest.HashNet
	facts model.Facts
}

func newHashed(f model.Facts) *hashed {
	return &hashed{lawstest.HashNet{Vocabulary: f.Spec().Vocabulary}, f}
}

func (n *hashed) Facts() model.Facts  { return n.facts }
func (n *hashed) Spec() samplers.Spec { return n.facts.Spec() }
func (n *hashed) Close() error        { return nil }

// TestGaps checks that a candidate has the same result as in a canvas with a gap of its length, in
// every gap or in one, and that canvases shared by candidates are evaluated once.
func TestGaps(t *testing.T) {
	t.Parallel()
	net := newHashed(model.Facts{Columns: 5, MaskID: 5, Length: 64})
	list := [][]int{{1}, {2, 3}, {2, 4}, {0, 1, 2}}
	one := read(t, net, Question{Canvas: []int{0, 5, 1, 5, 5, 2}, Top: 2, Gap: 2, Candidates: list})
	// The canvas itself, which is also that of the gap of two; one for {1}; three for two tokens:
	// {2,_}, {_,3}, {_,4}; seven for three.
	if one.Rows != 1+1+3+7 || len(one.Gaps[0].Candidates) != 0 || one.Law != FirstHitting {
		t.Errorf("%d rows by law %q, %v", one.Rows, one.Law, one.Gaps[0])
	}
	all := read(t, net, Question{Canvas: []int{0, 5, 1, 5, 5, 2}, Candidates: list})
	for i, c := range one.Gaps[1].Candidates {
		canvas := slices.Concat([]int{0, 5, 1}, slices.Repeat([]int{5}, len(c.IDs)), []int{2})
		want := read(t, net, Question{Canvas: canvas, Gap: 2, Candidates: [][]int{c.IDs}}).Gaps[1].Candidates[0].LogP
		if c.LogP != want || !slices.Equal(c.IDs, list[i]) || all.Gaps[1].Candidates[i].LogP != want {
			t.Errorf("%v has %v, in a gap of its own %v", c.IDs, c.LogP, want)
		}
		if c := all.Gaps[0].Candidates[i]; !slices.Equal(c.IDs, list[i]) || c.LogP == want {
			t.Errorf("%v has %v in the other gap", c.IDs, c.LogP)
		}
	}
}

// TestRefused checks that questions without an answer are errors with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	net := newHashed(model.Facts{Columns: 6, MaskID: 5, Padding: []int{4}, Length: 64})
	long := slices.Repeat([]int{1}, MaxTokens)
	for want, q := range map[string]Question{
		"nothing is masked":            {Canvas: []int{1, 2}},
		"gap 2: must be in 1..1":       {Canvas: []int{1, 5}, Gap: 2},
		"gap -1":                       {Canvas: []int{1, 5}, Gap: -1},
		`law "by heart": must be`:      {Canvas: []int{5}, Law: "by heart"},
		"candidate 1 has 0 tokens":     {Canvas: []int{5}, Candidates: [][]int{{}}},
		"candidate 2: id 5 is not":     {Canvas: []int{5}, Candidates: [][]int{{1}, {5}}},
		"id 4 is not":                  {Canvas: []int{5}, Candidates: [][]int{{4}}},
		"id -1 is not":                 {Canvas: []int{5}, Candidates: [][]int{{-1}}},
		"has 11 tokens: must be 1..10": {Canvas: []int{5}, Candidates: [][]int{append(long, 1)}},
		"a canvas of 65 positions":     {Canvas: append(slices.Repeat([]int{1}, 63), 5), Candidates: [][]int{{1, 2}}},
		"take 5115 rows: at most 4096": {Canvas: []int{5}, Candidates: slices.Repeat([][]int{long}, 5)},
	} {
		e := reftest.Must(likelihood.New(net, likelihood.Options{}))(t)
		reftest.Fails(t, reftest.Err(Read(context.Background(), e, q)), want)
	}
	w := reftest.Must(world.Open(reftest.Law(t, "markov4-sharp")))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	for _, canvas := range [][]int{{3, 1, 3, 3}, {3, 3, 1, 3}} {
		reftest.Fails(t, reftest.Err(Read(context.Background(), e, Question{Canvas: canvas, Candidates: [][]int{{1, 1}}})), "canvases of one length")
	}
	net.facts.Shift = true
	shifted := reftest.Must(likelihood.New(net, likelihood.Options{}))(t)
	reftest.Fails(t, reftest.Err(Read(context.Background(), shifted, Question{Canvas: []int{5, 1}})), "position 0 is masked")
	if left := read(t, net, Question{Canvas: []int{0, 5}, Law: LeftToRight, Candidates: [][]int{long}}); left.Rows != len(long) || left.Law != LeftToRight {
		t.Errorf("from left to right %d tokens take %d rows", len(long), left.Rows)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reftest.Fails(t, reftest.Err(Read(ctx, e, Question{Canvas: []int{3, 3, 3, 3}, Top: 1})), "context canceled")
}
