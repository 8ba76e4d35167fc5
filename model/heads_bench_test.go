package model_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"mdmgen/builtin"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort/library"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// rowsAlone is a model without heads.
type rowsAlone struct{ model.Model }

// benchModels opens the built-in model and, if the environment variable MDMGEN_BENCH_MODEL names
// one, that model too, and runs a benchmark on each.
func benchModels(b *testing.B, run func(b *testing.B, m model.Model)) {
	refs := []string{"fairytale"}
	if ref := os.Getenv("MDMGEN_BENCH_MODEL"); ref != "" {
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		m, err := model.Open(context.Background(), ref, model.Options{Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}})
		var missing *library.MissingError
		if errors.As(err, &missing) {
			b.Skip(err)
		}
		reftest.OK(b, err)
		b.Run("model="+m.Facts().Name, func(b *testing.B) { run(b, m) })
		reftest.OK(b, m.Close())
	}
}

// BenchmarkDraw times a call on one whole canvas with a quarter of it free, and the draws of all
// its tokens, alternately from rows here and in the graph. here-% and head-% are the time of
// drawing relative to the network's time for rows.
func BenchmarkDraw(b *testing.B) {
	benchModels(b, func(b *testing.B, m model.Model) {
		f := m.Facts()
		canvas := make([]int, f.Length)
		for l := range canvas {
			if canvas[l] = l * 7919 % f.MaskID; l%4 == 0 {
				canvas[l] = f.MaskID
			}
		}
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: 1}, m.Spec()))(b)
		var network, sampling [2]time.Duration
		call := func() {
			for i, net := range []samplers.Network{rowsAlone{m}, m} {
				totals := reftest.Must(samplers.Sample(context.Background(), net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), samplers.Config{Method: s}, func(samplers.Result) error { return nil }))(b)
				network[i] += totals.Network
				sampling[i] += totals.Sampling
			}
		}
		call()
		network, sampling = [2]time.Duration{}, [2]time.Duration{}
		for b.Loop() {
			call()
		}
		rows := network[0]
		b.ReportMetric(rows.Seconds()*1e3/float64(b.N), "rows-ms")
		b.ReportMetric(100*float64(sampling[0])/float64(rows), "here-%")
		b.ReportMetric(100*float64(network[1]+sampling[1]-rows)/float64(rows), "head-%")
	})
}
