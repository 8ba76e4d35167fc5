package likelihood_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/builtin"
	"mdmgen/model"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// fairytale opens the built-in model, and skips where there is no ONNX Runtime.
func fairytale(t testing.TB) model.Model {
	t.Helper()
	m, err := model.Open(context.Background(), "fairytale", model.Options{Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}})
	orttest.Opened(t, m, err)
	return m
}

func randomWindow(d int, seed uint64) likelihood.Target {
	r := rand.New(rand.NewPCG(seed, 0))
	ids := make([]int, d)
	for l := range ids {
		ids[l] = r.IntN(2047)
	}
	return likelihood.Whole(ids)
}

// BenchmarkTable asks for the 2^d rows of a window with several batch sizes: from it
// the default is chosen.
func BenchmarkTable(b *testing.B) {
	m := fairytale(b)
	for _, d := range []int{8, 10} {
		for _, batch := range []int{8, 16, 32, 64, 128, 256, 0} {
			b.Run(fmt.Sprintf("d=%d/batch=%d", d, batch), func(b *testing.B) {
				e, err := likelihood.New(m, likelihood.Options{Batch: batch})
				if err != nil {
					b.Fatal(err)
				}
				target := randomWindow(d, 1)
				for b.Loop() {
					if _, err := e.Table(context.Background(), target, false); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(e.Totals().Rows)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(e.Totals().Network.Seconds()/b.Elapsed().Seconds(), "inside")
			})
		}
	}
}

// BenchmarkLaws works out a window of the built-in model for several samplers, rows
// included.
func BenchmarkLaws(b *testing.B) {
	m := fairytale(b)
	var ss []*catalog.Sampler
	for _, o := range []catalog.Options{{}, {Sampler: "tweedie", Grid: "lambda", Steps: 4}, {Sampler: "trapezoidal", Grid: "lambda", Steps: 4}, {Sampler: "paired-fhs", Steps: 4}} {
		s, err := catalog.New(o, samplers.Spec{})
		if err != nil {
			b.Fatal(err)
		}
		ss = append(ss, s)
	}
	for _, d := range []int{8, 12} {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			e, err := likelihood.New(m, likelihood.Options{})
			if err != nil {
				b.Fatal(err)
			}
			target := randomWindow(d, 1)
			for b.Loop() {
				if _, err := e.Laws(context.Background(), target, ss); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(e.Totals().Network.Seconds()/b.Elapsed().Seconds(), "inside")
		})
	}
}

// BenchmarkLawsOf works out four windows of the built-in model for the settings that a
// comparison of samplers has.
func BenchmarkLawsOf(b *testing.B) {
	m := fairytale(b)
	ss := []*catalog.Sampler{}
	add := func(o catalog.Options) {
		s, err := catalog.New(o, samplers.Spec{})
		if err != nil {
			b.Fatal(err)
		}
		ss = append(ss, s)
	}
	add(catalog.Options{})
	for _, n := range []int{2, 4, 8} {
		for _, name := range []string{"parallel-fhs", "paired-fhs"} {
			add(catalog.Options{Sampler: name, Steps: n})
		}
		add(catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: n})
	}
	for _, n := range []int{1, 2, 6} {
		add(catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: n})
	}
	var ts []likelihood.Target
	for seed := range uint64(4) {
		ts = append(ts, randomWindow(12, seed))
	}
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := e.LawsOf(context.Background(), ts, ss, func(int, []likelihood.Exact, int) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(len(ts)*b.N), "s/window")
	b.ReportMetric(e.Totals().Network.Seconds()/b.Elapsed().Seconds(), "inside")
}
