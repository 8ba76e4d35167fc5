package lawstest

import (
	"context"
	"iter"
	"maps"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// NewFor returns the sampler of some options for a network.
func NewFor(t testing.TB, o catalog.Options, spec samplers.Spec) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, spec))(t)
}

// New returns the sampler of options for any network.
func New(t testing.TB, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return NewFor(t, o, samplers.Spec{})
}

// Config returns the configuration of a run by a method, which is first-hitting if it is nil.
func Config(m samplers.Method, batch int) samplers.Config {
	if m == nil {
		m = plan.NewFHS(0)
	}
	return samplers.Config{Method: m, Seed: 5, Batch: batch}
}

// Mixed returns canvases of several lengths, with and without prompts, one of them full and one empty.
func Mixed() []samplers.Sequence {
	const m = 6
	canvases := [][]int{
		{m, m, m, m, m}, {1, m, m, 3, m}, {m, m, m}, {0, 1, 2}, {}, slices.Repeat([]int{m}, 40), {m, 5, m}, {2, 2, m, m, m}, {m},
	}
	var out []samplers.Sequence
	for i := range 27 {
		out = append(out, samplers.Sequence{Index: uint64(100 + i), Canvas: canvases[i%len(canvases)]})
	}
	return out
}

// Collect runs sequences and returns the results by index.
func Collect(t testing.TB, net samplers.Network, seqs iter.Seq[samplers.Sequence], cfg samplers.Config) (map[uint64]samplers.Result, samplers.Totals) {
	t.Helper()
	out := make(map[uint64]samplers.Result)
	totals, err := samplers.Sample(context.Background(), net, seqs, cfg, func(r samplers.Result) error {
		if _, twice := out[r.Index]; twice {
			t.Errorf("sequence %d finished twice", r.Index)
		}
		out[r.Index] = r
		return nil
	})
	reftest.OK(t, err)
	return out, totals
}

// SameIDs reports whether two runs give the same ids.
func SameIDs(a, b map[uint64]samplers.Result) bool {
	return maps.EqualFunc(a, b, func(x, y samplers.Result) bool { return slices.Equal(x.IDs, y.IDs) })
}

// SameSamples compares everything except the costs of samples.
func SameSamples(t *testing.T, label string, got, want map[uint64]samplers.Result) {
	t.Helper()
	for i, w := range want {
		g := got[i]
		if !slices.Equal(g.IDs, w.IDs) || g.LogP != w.LogP || g.Left != w.Left || g.FinishCalls != w.FinishCalls {
			t.Errorf("%s: sequence %d is %v, log p %v, %d left; want %v, %v, %d", label, i, g.IDs, g.LogP, g.Left, w.IDs, w.LogP, w.Left)
		}
		if g.Calls > w.Calls || g.Rows < w.Rows {
			t.Errorf("%s: sequence %d took %d calls and %d rows, without look-ahead %d and %d", label, i, g.Calls, g.Rows, w.Calls, w.Rows)
		}
	}
}

// Engine starts an engine that is closed at the end of the test.
func Engine(t testing.TB, net samplers.Network, batch int) *samplers.Engine {
	t.Helper()
	e := reftest.Must(samplers.NewEngine(net, batch))(t)
	t.Cleanup(e.Close)
	return e
}

// Last reads a job to its end.
func Last(e *samplers.Engine, ctx context.Context, job samplers.Job) (*samplers.Result, error) {
	var out *samplers.Result
	for s, err := range e.Sample(ctx, job) {
		if err != nil {
			return nil, err
		}
		out = s.Result
	}
	return out, nil
}
