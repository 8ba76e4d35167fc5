package samplers_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
)

// drawingNet is an anyNet that draws itself, from its own rows.
type drawingNet struct {
	*anyNet
	t testing.TB
	// drew counts positions, and calls the calls.
	drew, calls int
	bad         bool // rows have no softmax
}

func (n *drawingNet) Best(ctx context.Context, c samplers.Call, d samplers.Drawing, dst []draw.Best) error {
	n.calls++
	rows, err := n.Logits(ctx, c)
	if err != nil {
		return err
	}
	for i := range dst {
		n.drew++
		law, err := draw.NewCategorical(n.Spec().Vocabulary, draw.Settings{Temperature: &d.Temperatures[i]})
		if err != nil {
			return err
		}
		if dst[i], err = law.Best(draw.Single(rows[i*n.Columns:(i+1)*n.Columns]), d.Uniforms[i], d.Top); err != nil {
			return err
		}
		if n.bad {
			dst[i].LogP = math.NaN()
		}
	}
	return nil
}

// TestHeadsAgree checks that a network that draws and one that returns rows give the same samples,
// for all samplers, temperatures and truncations of jobs that share calls, and that the head
// follows from their settings.
func TestHeadsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var seqs []samplers.Sequence
	best := map[string]bool{}
	for i := range 40 {
		o := catalog.Options{Sampler: []string{"fhs", "parallel-fhs", "tweedie", "klass", "ordered"}[i%5]}
		if o.Sampler == "parallel-fhs" || o.Sampler == "tweedie" {
			o.Steps = 3
		}
		o.Temperature = []*float64{nil, new(0.5), new(0.0)}[r.IntN(3)]
		if r.IntN(3) == 0 {
			o.TopK = 2
		}
		o.By = []draw.By{"", draw.ByGumbel}[i/5%2]
		net := &drawingNet{anyNet: newAnyNet(), t: t}
		s := lawstest.NewFor(t, o, net.Spec())
		draws := o.Sampler != "klass" && o.TopK == 0 && o.By == ""
		if got := s.Head(net); (got == samplers.HeadBest) != draws || s.Head(net.anyNet) != samplers.HeadRows {
			t.Errorf("%+v: head %s", o, got)
		}
		best[o.Sampler] = best[o.Sampler] || draws
		seq := samplers.Sequence{Index: uint64(i), Canvas: slices.Repeat([]int{6}, 5+i%2), Method: s}
		seqs = append(seqs, seq)
		if _, _ = lawstest.Collect(t, net, slices.Values([]samplers.Sequence{seq}), samplers.Config{Method: plan.NewFHS(0), Batch: 4}); (net.calls > 0) != draws {
			t.Errorf("%+v: %d calls draw", o, net.calls)
		}
	}
	if !best["fhs"] || !best["tweedie"] || best["klass"] {
		t.Errorf("samplers that draw: %v", best)
	}
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: 8, Batch: 6}
	want, _ := lawstest.Collect(t, newAnyNet(), slices.Values(seqs), cfg)
	got, _ := lawstest.Collect(t, &drawingNet{anyNet: newAnyNet(), t: t}, slices.Values(seqs), cfg)
	if !lawstest.SameIDs(got, want) {
		t.Error("the network that draws gives other ids")
	}
}

// TestBadDrawIsNamed checks that NaN marks a row without softmax.
func TestBadDrawIsNamed(t *testing.T) {
	net := &drawingNet{anyNet: newAnyNet(), t: t, bad: true}
	_, err := samplers.Sample(t.Context(), net, samplers.Copies([]int{6, 6}, 0, 1), samplers.Config{Method: plan.NewFHS(0)}, func(samplers.Result) error { return nil })
	reftest.Fails(t, err, "its row has no softmax")
}

// TestDecoderOfBest checks that decoders that use the best tokens need no row, and give the same
// samples with a network that draws and one that does not, together with sequences that need less.
func TestDecoderOfBest(t *testing.T) {
	var seqs []samplers.Sequence
	for i := range 12 {
		s := samplers.Sequence{Index: uint64(i), Canvas: slices.Repeat([]int{6}, 7)}
		if i%3 != 0 {
			s.Method = lawstest.New(t, catalog.Options{Sampler: "confidence", Steps: 7, RankOptions: catalog.RankOptions{Score: []rank.RankBy{rank.ByMargin, rank.ByEntropy, rank.ByConfidence}[i/3%3]}})
		}
		seqs = append(seqs, s)
	}
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: 3, Batch: 5}
	want, _ := lawstest.Collect(t, newAnyNet(), slices.Values(seqs), cfg)
	net := &drawingNet{anyNet: newAnyNet(), t: t}
	if got, totals := lawstest.Collect(t, net, slices.Values(seqs), cfg); !lawstest.SameIDs(got, want) || net.drew == 0 || net.calls != totals.NetworkCalls {
		t.Errorf("other ids, or not all drawn: %d in %d of %d calls", net.drew, net.calls, totals.NetworkCalls)
	}
}

// TestDrawsAtOnce checks that rows long enough to be divided among goroutines give the same draws
// as one by one.
func TestDrawsAtOnce(t *testing.T) {
	const columns = 1 << 15
	canvas := slices.Repeat([]int{columns - 1}, 3)
	var drawn [2]map[uint64]samplers.Result
	for i, batch := range []int{1, 6} {
		drawn[i], _ = lawstest.Collect(t, &lawstest.HashNet{Vocabulary: draw.Vocabulary{Columns: columns, Mask: columns - 1, Excluded: []int{4}}}, samplers.Copies(canvas, 0, 6), samplers.Config{Method: plan.NewFHS(0), Seed: 5, Batch: batch})
	}
	if !lawstest.SameIDs(drawn[0], drawn[1]) {
		t.Errorf("alone %v, together %v", drawn[0], drawn[1])
	}
}
