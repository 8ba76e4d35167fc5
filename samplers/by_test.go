package samplers_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// fixedRow is a network with one row.
type fixedRow []float32

func (f fixedRow) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: len(f), Mask: len(f)}}
}

func (f fixedRow) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	return slices.Repeat(f, len(c.Positions)), nil
}

// again is a method that masks what it drew, and draws once more.
type again struct {
	d    *draw.Numbers
	left int
}

func (again) By() draw.By { return draw.ByGumbel }

func (again) Start(_ *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return &again{d, 2}, nil
}

func (m *again) Ask(a *samplers.Ask) bool {
	a.Rows = append(a.Rows, samplers.AskRow{Positions: []int{0}, Uniforms: []float64{m.d.Token(0)}})
	a.Head = samplers.HeadBest
	m.left--
	return m.left >= 0
}

func (m *again) Take(r samplers.Rows, e *samplers.Edit) error {
	b, err := r.Best(0, 0)
	if e.Set(0, b.Token, b.LogP); m.left > 0 {
		e.Mask(0)
	}
	return err
}

// TestRaceAgain: a position that is masked again is drawn with noise of its own.
func TestRaceAgain(t *testing.T) {
	const n = 20_000
	p := []float64{0.1, 0.2, 0.3, 0.4}
	var net fixedRow
	for _, q := range p {
		net = append(net, float32(math.Log(q)))
	}
	counts, want := make([]int, 16), make([]float64, 16)
	for i := range want {
		want[i] = p[i/4] * p[i%4]
	}
	first := make(map[uint64]int)
	all, err := draw.NewCategorical(net.Spec().Vocabulary, draw.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	law, err := all.With(draw.Settings{}, draw.ByGumbel)
	if err != nil {
		t.Fatal(err)
	}
	_, err = samplers.Sample(t.Context(), net, func(yield func(samplers.Sequence) bool) {
		for i := range uint64(n) {
			if !yield(samplers.Sequence{Index: i, Canvas: []int{4}}) {
				return
			}
		}
	}, samplers.Config{Method: again{}, Seed: 4, Batch: 50, OnStep: func(s samplers.Step) {
		if len(s.Masked) > 0 {
			first[s.Index] = s.Tokens[0]
		}
	}}, func(r samplers.Result) error {
		counts[4*first[r.Index]+r.IDs[0]]++
		if want, _ := law.Token(draw.Single(net), draw.NewNumbers(4, r.Index).Token(0)); first[r.Index] != want {
			t.Errorf("sequence %d: token %d first, want %d", r.Index, first[r.Index], want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := reftest.Goodness(counts, want); got < 1e-4 {
		t.Errorf("first and second draws: chi-square p = %.3g: %v", got, counts)
	}
}

// TestWhichDraw: inverse is the default, gumbel that of look-ahead; where rows stay on their
// device draws are by inverse, and others are refused.
func TestWhichDraw(t *testing.T) {
	for _, test := range []struct {
		o    catalog.Options
		stay bool
		want draw.By
		head samplers.Head
	}{
		{catalog.Options{}, false, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{By: draw.ByGumbel}, false, draw.ByGumbel, samplers.HeadRows},
		{catalog.Options{Lookahead: 1}, false, draw.ByGumbel, samplers.HeadRows},
		{catalog.Options{Lookahead: 8, By: draw.ByInverse}, false, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{Lookahead: 8}, true, draw.ByInverse, samplers.HeadBest},
		{catalog.Options{By: draw.ByGumbel}, true, "", ""},
		{catalog.Options{Sampler: "parallel-fhs", By: draw.ByGumbel}, false, draw.ByGumbel, samplers.HeadRows},
	} {
		s, err := catalog.New(test.o, samplers.Spec{RowsStay: test.stay})
		switch {
		case test.want == "":
			if err == nil || !strings.Contains(err.Error(), "draw gumbel: it takes rows, which stay on") {
				t.Errorf("%+v: error %v", test.o, err)
			}
		case err != nil || s.By() != test.want || s.Settings().By != test.want || s.Head(struct{ samplers.Drawer }{}) != test.head || s.Settings().ChangesLaw:
			t.Errorf("%+v: %+v, %v; want %s", test.o, s, err, test.want)
		}
	}
}
