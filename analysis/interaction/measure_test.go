package interaction

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// row returns a world's own row.
func row(w *world.World, canvas []int, l int) []float64 {
	out := make([]float64, w.Facts().Columns)
	lawstest.Mu(w, out, w.State(canvas), l, 0)
	return out
}

// exact enumerates first-hitting's paths in a world without time. It computes the expected sum of
// the interactions of a reveal by masked fraction and distance, and the expected number of pairs.
// turned is the sum over pairs whose earlier position was revealed minus that over the others.
func exact(w *world.World, canvas []int, p float64, sums, counts map[[2]int]float64, turned *float64) {
	spec := w.Spec()
	masked := spec.Masked(canvas)
	at := p / float64(len(masked))
	for _, i := range masked {
		for _, j := range masked {
			if i != j {
				key, nats := [2]int{len(masked), max(i-j, j-i)}, at*told(w, canvas, i, j)
				counts[key] += at
				sums[key] += nats
				*turned += math.Copysign(nats, float64(j-i))
			}
		}
		for a, q := range row(w, canvas, i) {
			if q > 0 {
				next := slices.Clone(canvas)
				next[i] = a
				exact(w, next, at*q, sums, counts, turned)
			}
		}
	}
}

// TestMeasureWorlds compares the estimate with the enumeration, and uses it to predict the loss of
// two positions together.
func TestMeasureWorlds(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov3-exact"} {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		f := w.Facts()
		canvas := slices.Repeat([]int{f.MaskID}, f.Length)
		sums, counts := make(map[[2]int]float64), make(map[[2]int]float64)
		var turned, all float64
		exact(w, canvas, 1, sums, counts, &turned)
		for _, v := range sums {
			all += v
		}
		in := reftest.Must(Measure(context.Background(), w, canvas, Config{Sequences: 4000, Seed: 5}))(t)
		reftest.OK(t, in.Check())
		if miss := math.Abs(in.Asymmetry.Mean - turned/all); miss > 4.5*in.Asymmetry.SE || in.Asymmetry.SE > 0.1 {
			t.Errorf("%s: asymmetry %v, want %v", name, in.Asymmetry, turned/all)
		}
		seen := 0
		for i, lambda := range in.Lambda {
			m := int(math.Round(lambda * float64(f.Length)))
			for j, delta := range in.Distance {
				if in.Count[i][j] == 0 {
					continue
				}
				key := [2]int{m, int(delta)}
				want := sums[key] / counts[key]
				if miss := math.Abs(in.Nats[i][j] - want); miss > 4.5*in.SE[i][j]+1e-6 {
					t.Errorf("%s: λ = %d/%d, δ = %v: %v ± %v, want %v", name, m, f.Length, delta, in.Nats[i][j], in.SE[i][j], want)
				}
				seen++
			}
		}
		if seen != len(counts) {
			t.Errorf("%s: %d bins, want %d", name, seen, len(counts))
		}
	}
}

// TestMeasureSharp checks that an interaction is finite where a probability underflows.
func TestMeasureSharp(t *testing.T) {
	spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 2, Mask: 2}}
	s := newSequence(&spec, reftest.Must(draw.NewCategorical(spec.Vocabulary, draw.Settings{}))(t), []int{2, 2}, Config{}, 0)
	reftest.OK(t, s.take(draw.Double([]float64{0, -1000, 0, -1000}), 0))
	reftest.OK(t, s.take(draw.Double([]float64{-1000, 0}), 1))
	total := 0.0
	for _, sums := range s.sums {
		total += floats.Sum(sums)
	}
	if total != 1000 || s.ids[0]+s.ids[1] != 1 {
		t.Errorf("an interaction of %v nats, want 1000; tokens %v", total, s.ids)
	}
}

// TestMeasureMarkov checks on texts of a chain that the interactions of the first reveal are those
// of the world, decrease with the distance and are equal in both directions.
func TestMeasureMarkov(t *testing.T) {
	w := reftest.Must(world.Open(reftest.Law(t, "markov3-exact")))(t)
	f := w.Facts()
	blank := slices.Repeat([]int{f.MaskID}, f.Length)
	want := [2]float64{told(w, blank, 0, 1), told(w, blank, 0, 2)}
	if want[1] >= want[0] {
		t.Fatalf("interactions %v do not decay", want)
	}
	s := reftest.Must(catalog.New(catalog.Options{}, w.Spec()))(t)
	var texts [][]int
	reftest.Must(samplers.Sample(context.Background(), w, samplers.Copies(blank, 0, 4000), samplers.Config{Method: s, Seed: 3, Batch: 256}, func(r samplers.Result) error {
		texts = append(texts, slices.Clone(r.IDs))
		return nil
	}))(t)
	in := reftest.Must(Measure(context.Background(), w, blank, Config{Texts: texts, Seed: 4}))(t)
	if in.From != FromText || in.Sequences != len(texts) || in.Positions != 3 || in.Calls != 3 {
		t.Errorf("%s, %d sequences of %d positions, %d calls", in.From, in.Sequences, in.Positions, in.Calls)
	}
	if math.Abs(in.Asymmetry.Mean) > 4.5*in.Asymmetry.SE {
		t.Errorf("asymmetry %v of a chain", in.Asymmetry)
	}
	last := len(in.Lambda) - 1 // all masked
	for k, want := range want {
		if got, se := in.Nats[last][k], in.SE[last][k]; math.Abs(got-want) > 4.5*se || se > want/5 {
			t.Errorf("distance %v: %v ± %v, want %v", in.Distance[k], got, se, want)
		}
	}
}

// told returns I(i, j) from a world's rows.
func told(w *world.World, canvas []int, i, j int) (nats float64) {
	before := row(w, canvas, j)
	for a, p := range row(w, canvas, i) {
		if p == 0 {
			continue
		}
		next := slices.Clone(canvas)
		next[i] = a
		for b, x := range row(w, next, j) {
			if x > 0 {
				nats += p * x * math.Log(x/before[b])
			}
		}
	}
	return nats
}
