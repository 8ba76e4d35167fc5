package samplers_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestPlanned checks that a sequence of a planned sampler has the same ids in any batch and order,
// with any other sequences, and if goroutines share the sampler. It takes one call for each block
// of its plan, and one more if positions are left to fill. Given tokens do not change, a full
// canvas takes no call, and the positions left are counted.
func TestPlanned(t *testing.T) {
	reftest.Long(t)
	for _, timed := range []bool{false, true} {
		for _, o := range everySampler {
			s := made(t, o, samplers.Spec{TimeConditioned: timed})
			seqs, net := mixed(), newHashNet(timed)
			cfg, fills := net.config(s, 1), 0
			cfg.OnStep = func(f samplers.Step) {
				if f.Rows > 0 {
					fills++
				}
				if len(f.Tokens) != len(f.Positions) || len(f.LogP) != len(f.Tokens) || slices.Contains(f.Tokens, 6) || slices.Contains(f.Tokens, 4) {
					t.Errorf("%v: step %+v", s, f)
				}
			}
			want, totals := collect(t, net, slices.Values(seqs), cfg)
			made := net.calls
			blocks, finishes, tokens := planned(t, s, seqs, want)
			if totals.Calls != blocks || totals.FinishCalls != finishes || totals.Rows != blocks+finishes || made != blocks+finishes || totals.NetworkCalls != made || net.rows != made || fills != made {
				t.Errorf("%v: %d+%d calls and %d rows of %d calls, want %d+%d", s, totals.Calls, totals.FinishCalls, net.rows, made, blocks, finishes)
			}
			if totals.Tokens != tokens || totals.Sequences != len(seqs) {
				t.Errorf("%v: %d tokens of %d sequences, want %d of %d", s, totals.Tokens, totals.Sequences, tokens, len(seqs))
			}
			reversed := slices.Clone(seqs)
			slices.Reverse(reversed)
			for label, run := range map[string]struct {
				seqs  iter.Seq[samplers.Sequence]
				batch int
			}{
				"batch 3": {slices.Values(seqs), 3}, "batch 64": {slices.Values(seqs), 64},
				"grouped, batch 4": {samplers.ByLength(seqs), 4}, "reversed, batch 5": {slices.Values(reversed), 5},
			} {
				net.calls, net.rows = 0, 0
				got, totals := collect(t, net, run.seqs, net.config(s, run.batch))
				if !sameIDs(got, want) || totals.NetworkCalls != net.calls || totals.Rows != blocks+finishes || net.rows != totals.Rows {
					t.Errorf("%v, timed %v: %d rows in %d calls, or other ids with %s", s, timed, net.rows, net.calls, label)
				}
			}
			if net.bad != "" {
				t.Errorf("%v: the network was handed %s", s, net.bad)
			}
			parts := make([]map[uint64]samplers.Result, 3)
			var wait sync.WaitGroup
			for i := range parts {
				wait.Go(func() {
					net := newHashNet(timed)
					parts[i], _ = collect(t, net, slices.Values(seqs[i*9:(i+1)*9]), net.config(s, 2))
				})
			}
			wait.Wait()
			got := make(map[uint64]samplers.Result)
			for _, p := range parts {
				maps.Copy(got, p)
			}
			if !sameIDs(got, want) {
				t.Errorf("%v: parts differ from the whole", s)
			}
		}
	}
}

// planned checks the results of sequences and returns the numbers of blocks, finishing calls and
// tokens of their plans.
func planned(t *testing.T, s *catalog.Sampler, seqs []samplers.Sequence, got map[uint64]samplers.Result) (blocks, finishes, tokens int) {
	for _, seq := range seqs {
		r, left := got[seq.Index], 0
		var free []int
		if len(r.IDs) != len(seq.Canvas) {
			t.Fatalf("%v: %d ids of a canvas of %d", s, len(r.IDs), len(seq.Canvas))
		}
		for l, id := range seq.Canvas {
			if id == 6 {
				free = append(free, l)
			} else if r.IDs[l] != id {
				t.Errorf("%v: position %d was %d and is %d", s, l, id, r.IDs[l])
			}
			if r.IDs[l] == 6 {
				left++
			}
		}
		if r.Left != left || method(t, s).Denoise && left > 0 || len(free) == 0 && r.Calls+r.FinishCalls != 0 {
			t.Errorf("%v: Left is %d, %d masks remain, %d+%d calls for %d free positions", s, r.Left, left, r.Calls, r.FinishCalls, len(free))
		}
		var p plan.Plan
		drawPlan(t, s, &p, 5, seq.Index, free)
		blocks, tokens = blocks+len(p.Blocks), tokens+len(free)
		switch {
		case len(p.Left) > 0 && method(t, s).Denoise:
			finishes++
		case len(p.Left) > 0:
			tokens -= len(p.Left)
		}
	}
	return blocks, finishes, tokens
}

// TestGroupsOfOneAreFHS checks this sample for sample, also with a time-conditioned network.
func TestGroupsOfOneAreFHS(t *testing.T) {
	for _, timed := range []bool{false, true} {
		net := newHashNet(timed)
		seqs := repeat(slices.Repeat([]int{6}, 5), 30)
		want, _ := collect(t, net, seqs, net.config(nil, 4))
		for _, o := range []catalog.Options{{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "1,1,1,1,1"}}, {Sampler: "parallel-fhs"}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}} {
			if got, _ := collect(t, net, seqs, net.config(mustNew(t, o), 4)); !sameIDs(got, want) {
				t.Errorf("timed %v: %+v differs from fhs", timed, o)
			}
		}
		if got, _ := collect(t, net, seqs, net.config(mustNew(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), 4)); !timed && !sameIDs(got, want) {
			t.Error("random order differs from fhs on a network without time")
		}
	}
}

// TestSampleErrors checks that each error names what is wrong and where, and that sequences that
// finished before it were emitted.
func TestSampleErrors(t *testing.T) {
	boom := errors.New("boom")
	free := []int{6, 6, 6}
	for _, test := range []struct {
		name   string
		change func(*samplers.Config, *hashNet)
		canvas []int
		want   string
	}{
		{"network", func(_ *samplers.Config, n *hashNet) { n.fail = func(int) error { return boom } }, free, "boom"},
		{"columns", func(_ *samplers.Config, n *hashNet) { n.change = func(s *samplers.Spec) { s.Columns = 8 } }, free, "returned 7 values"},
		{"id too large", nil, []int{6, 9}, "sequence 0: position 1: id 9"},
		{"negative id", nil, []int{-1}, "id -1"},
		{"shift without a first token", func(_ *samplers.Config, n *hashNet) { n.change = func(s *samplers.Spec) { s.Shift = true } }, free, "position 0 is free"},
		{"batch", func(c *samplers.Config, _ *hashNet) { c.Batch = -1 }, free, "batch is -1"},
		{"vocabulary", func(_ *samplers.Config, n *hashNet) { n.change = func(s *samplers.Spec) { *s = samplers.Spec{} } }, free, "0 columns"},
		{"sizes", func(c *samplers.Config, _ *hashNet) {
			c.Method = mustNew(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2"}})
		}, free, "samplers: sequence 0: sizes sum to 2"},
		{"infinite T", func(c *samplers.Config, n *hashNet) {
			c.Method, n.timed = mustNew(t, catalog.Options{Sampler: "tweedie", Steps: 1, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}), true
		}, free, "finite T"},
	} {
		net := newHashNet(false)
		cfg := net.config(nil, 2)
		if test.change != nil {
			test.change(&cfg, net)
		}
		reftest.FailsInLine(t, reftest.Err(samplers.Sample(context.Background(), net, repeat(test.canvas, 2), cfg, func(samplers.Result) error { return nil })), test.want, test.name)
	}
	net := newHashNet(false)
	got := 0
	_, err := samplers.Sample(context.Background(), net, repeat(free, 9), net.config(nil, 1), func(samplers.Result) error {
		if got++; got == 4 {
			return boom
		}
		return nil
	})
	if !errors.Is(err, boom) || got != 4 {
		t.Errorf("emit failed at 4: error %v after %d results", err, got)
	}
}

// nanNet has a row that is not a number at one position.
type nanNet struct{ hashNet }

func (n *nanNet) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := n.hashNet.Logits(ctx, c)
	for i, l := range c.Positions {
		if l == 2 {
			out[i*n.columns] = float32(math.NaN())
		}
	}
	return out, err
}

func TestBadRowIsNamed(t *testing.T) {
	net := &nanNet{*newHashNet(false)}
	_, err := samplers.Sample(context.Background(), net, repeat([]int{6, 6, 6}, 1), net.config(nil, 1), func(samplers.Result) error { return nil })
	reftest.Fails(t, err, "sequence 0: position 2: a logit is not a number")
}

// TestCancel checks that a cancelled run returns the context's error, and has emitted the sequences
// that finished.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	net := newHashNet(false)
	net.fail = func(call int) error {
		if call == 8 {
			cancel()
			return fmt.Errorf("stopped: %w", ctx.Err())
		}
		return nil
	}
	got := 0
	totals, err := samplers.Sample(ctx, net, repeat([]int{6, 6, 6}, 9), net.config(nil, 1), func(samplers.Result) error { got++; return nil })
	if !errors.Is(err, context.Canceled) || got != 2 || totals.Sequences != 2 || totals.Calls != 7 {
		t.Errorf("error %v, %d results, totals %+v", err, got, totals)
	}
	if _, err := samplers.Sample(ctx, net, repeat([]int{6}, 1), net.config(nil, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("already cancelled: error %v", err)
	}
}

// TestNothingToDo checks runs without sequences and with empty canvases.
func TestNothingToDo(t *testing.T) {
	net := newHashNet(false)
	got, totals := collect(t, net, repeat(nil, 0), net.config(nil, 3))
	if len(got) != 0 || totals.Sequences != 0 || net.calls != 0 {
		t.Errorf("no sequences: %v, %+v", got, totals)
	}
	got, totals = collect(t, net, repeat(nil, 5), net.config(nil, 3))
	if len(got) != 5 || totals.Sequences != 5 || net.calls != 0 || got[0].IDs == nil {
		t.Errorf("empty canvases: %v, %+v", got, totals)
	}
}

// shiftNet predicts position l from row l−1: it returns the requested position itself as the
// certain token.
type shiftNet struct{ shift bool }

func (n shiftNet) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 9, Mask: 8, Shift: n.shift}}
}

func (shiftNet) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	out := slices.Repeat([]float32{float32(math.Inf(-1))}, len(c.Positions)*9)
	for i, l := range c.Positions {
		out[i*9+int(l)] = 0
	}
	return out, nil
}

func TestShift(t *testing.T) {
	cfg := samplers.Config{Method: plan.NewFHS(0), Batch: 2}
	got, _ := collect(t, shiftNet{true}, repeat([]int{5, 8, 8, 8}, 3), cfg)
	if want := []int{5, 0, 1, 2}; !slices.Equal(got[1].IDs, want) {
		t.Errorf("shifted: %v, want %v", got[1].IDs, want)
	}
	got, _ = collect(t, shiftNet{false}, repeat([]int{5, 8, 8, 8}, 3), cfg)
	if want := []int{5, 1, 2, 3}; !slices.Equal(got[1].IDs, want) {
		t.Errorf("unshifted: %v, want %v", got[1].IDs, want)
	}
}

// TestSigma checks that a time-conditioned network is queried at the time of the reveal by fhs, at
// θ_k by a grid, and at δ by the finishing call.
func TestSigma(t *testing.T) {
	for _, o := range []catalog.Options{{}, {Sampler: "euler", Steps: 3}, {Sampler: "parallel-fhs", Steps: 2}} {
		s := made(t, o, samplers.Spec{TimeConditioned: true})
		net := newHashNet(true)
		cfg := net.config(s, 1)
		steps, onGrid := s.Grid()
		cfg.OnStep = func(f samplers.Step) {
			var want float64
			switch {
			case f.Finish:
				want = 0.01
			case onGrid:
				want = steps.Grid.Theta[f.Step]
			default:
				want = -math.Log1p(-f.Hits[0])
			}
			if f.Theta != want {
				t.Errorf("%v: asked at σ = %v, want %v", s, f.Theta, want)
			}
		}
		collect(t, net, repeat(slices.Repeat([]int{6}, 6), 10), cfg)
	}
}
