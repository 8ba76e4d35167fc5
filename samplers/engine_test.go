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

	"mdmgen/internal/lawstest"
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
		for _, o := range lawstest.Planned {
			s := lawstest.NewFor(t, o, samplers.Spec{TimeConditioned: timed})
			seqs, net := lawstest.Mixed(), lawstest.NewHashNet(timed)
			cfg, fills := lawstest.Config(s, 1), 0
			cfg.OnStep = func(f samplers.Step) {
				if f.Rows > 0 {
					fills++
				}
				if len(f.Tokens) != len(f.Positions) || len(f.LogP) != len(f.Tokens) || slices.Contains(f.Tokens, 6) || slices.Contains(f.Tokens, 4) {
					t.Errorf("%v: step %+v", s, f)
				}
			}
			want, totals := lawstest.Collect(t, net, slices.Values(seqs), cfg)
			made := net.Calls
			blocks, finishes, tokens := planned(t, s, seqs, want)
			if totals.Calls != blocks || totals.FinishCalls != finishes || totals.Rows != blocks+finishes || made != blocks+finishes || totals.NetworkCalls != made || net.Asked != made || fills != made {
				t.Errorf("%v: %d+%d calls and %d rows of %d calls, want %d+%d", s, totals.Calls, totals.FinishCalls, net.Asked, made, blocks, finishes)
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
				net.Calls, net.Asked = 0, 0
				got, totals := lawstest.Collect(t, net, run.seqs, lawstest.Config(s, run.batch))
				if !lawstest.SameIDs(got, want) || totals.NetworkCalls != net.Calls || totals.Rows != blocks+finishes || net.Asked != totals.Rows {
					t.Errorf("%v, timed %v: %d rows in %d calls, or other ids with %s", s, timed, net.Asked, net.Calls, label)
				}
			}
			if net.Bad != "" {
				t.Errorf("%v: the network was handed %s", s, net.Bad)
			}
			parts := make([]map[uint64]samplers.Result, 3)
			var wait sync.WaitGroup
			for i := range parts {
				wait.Go(func() {
					net := lawstest.NewHashNet(timed)
					parts[i], _ = lawstest.Collect(t, net, slices.Values(seqs[i*9:(i+1)*9]), lawstest.Config(s, 2))
				})
			}
			wait.Wait()
			got := make(map[uint64]samplers.Result)
			for _, p := range parts {
				maps.Copy(got, p)
			}
			if !lawstest.SameIDs(got, want) {
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
		if r.Left != left || lawstest.Method(t, s).Denoise && left > 0 || len(free) == 0 && r.Calls+r.FinishCalls != 0 {
			t.Errorf("%v: Left is %d, %d masks remain, %d+%d calls for %d free positions", s, r.Left, left, r.Calls, r.FinishCalls, len(free))
		}
		var p plan.Plan
		lawstest.DrawPlan(t, s, &p, 5, seq.Index, free)
		blocks, tokens = blocks+len(p.Blocks), tokens+len(free)
		switch {
		case len(p.Left) > 0 && lawstest.Method(t, s).Denoise:
			finishes++
		case len(p.Left) > 0:
			tokens -= len(p.Left)
		}
	}
	return blocks, finishes, tokens
}

// TestSampleErrors checks that each error names what is wrong and where, and that sequences that
// finished before it were emitted.
func TestSampleErrors(t *testing.T) {
	boom := errors.New("boom")
	free := []int{6, 6, 6}
	for _, test := range []struct {
		name   string
		change func(*samplers.Config, *lawstest.HashNet)
		canvas []int
		want   string
	}{
		{"network", func(_ *samplers.Config, n *lawstest.HashNet) { n.Fail = func(int) error { return boom } }, free, "boom"},
		{"columns", func(_ *samplers.Config, n *lawstest.HashNet) { n.Change = func(s *samplers.Spec) { s.Columns = 8 } }, free, "returned 7 values"},
		{"id too large", nil, []int{6, 9}, "sequence 0: position 1: id 9"},
		{"negative id", nil, []int{-1}, "id -1"},
		{"shift without a first token", func(_ *samplers.Config, n *lawstest.HashNet) { n.Change = func(s *samplers.Spec) { s.Shift = true } }, free, "position 0 is free"},
		{"batch", func(c *samplers.Config, _ *lawstest.HashNet) { c.Batch = -1 }, free, "batch is -1"},
		{"vocabulary", func(_ *samplers.Config, n *lawstest.HashNet) {
			n.Change = func(s *samplers.Spec) { *s = samplers.Spec{} }
		}, free, "0 columns"},
		{"sizes", func(c *samplers.Config, _ *lawstest.HashNet) {
			c.Method = lawstest.New(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2"}})
		}, free, "samplers: sequence 0: sizes sum to 2"},
		{"infinite T", func(c *samplers.Config, n *lawstest.HashNet) {
			c.Method, n.Timed = lawstest.New(t, catalog.Options{Sampler: "tweedie", Steps: 1, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}), true
		}, free, "finite T"},
	} {
		net := lawstest.NewHashNet(false)
		cfg := lawstest.Config(nil, 2)
		if test.change != nil {
			test.change(&cfg, net)
		}
		reftest.FailsInLine(t, reftest.Err(samplers.Sample(context.Background(), net, samplers.Copies(test.canvas, 0, 2), cfg, func(samplers.Result) error { return nil })), test.want, test.name)
	}
	net := lawstest.NewHashNet(false)
	got := 0
	_, err := samplers.Sample(context.Background(), net, samplers.Copies(free, 0, 9), lawstest.Config(nil, 1), func(samplers.Result) error {
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
type nanNet struct{ lawstest.HashNet }

func (n *nanNet) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := n.HashNet.Logits(ctx, c)
	for i, l := range c.Positions {
		if l == 2 {
			out[i*n.Columns] = float32(math.NaN())
		}
	}
	return out, err
}

func TestBadRowIsNamed(t *testing.T) {
	net := &nanNet{*lawstest.NewHashNet(false)}
	_, err := samplers.Sample(context.Background(), net, samplers.Copies([]int{6, 6, 6}, 0, 1), lawstest.Config(nil, 1), func(samplers.Result) error { return nil })
	reftest.Fails(t, err, "sequence 0: position 2: a logit is not a number")
}

// TestCancel checks that a cancelled run returns the context's error, and has emitted the sequences
// that finished.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	net := lawstest.NewHashNet(false)
	net.Fail = func(call int) error {
		if call == 8 {
			cancel()
			return fmt.Errorf("stopped: %w", ctx.Err())
		}
		return nil
	}
	got := 0
	totals, err := samplers.Sample(ctx, net, samplers.Copies([]int{6, 6, 6}, 0, 9), lawstest.Config(nil, 1), func(samplers.Result) error { got++; return nil })
	if !errors.Is(err, context.Canceled) || got != 2 || totals.Sequences != 2 || totals.Calls != 7 {
		t.Errorf("error %v, %d results, totals %+v", err, got, totals)
	}
	if _, err := samplers.Sample(ctx, net, samplers.Copies([]int{6}, 0, 1), lawstest.Config(nil, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("already cancelled: error %v", err)
	}
}

// TestNothingToDo checks runs without sequences and with empty canvases.
func TestNothingToDo(t *testing.T) {
	net := lawstest.NewHashNet(false)
	got, totals := lawstest.Collect(t, net, samplers.Copies(nil, 0, 0), lawstest.Config(nil, 3))
	if len(got) != 0 || totals.Sequences != 0 || net.Calls != 0 {
		t.Errorf("no sequences: %v, %+v", got, totals)
	}
	got, totals = lawstest.Collect(t, net, samplers.Copies(nil, 0, 5), lawstest.Config(nil, 3))
	if len(got) != 5 || totals.Sequences != 5 || net.Calls != 0 || got[0].IDs == nil {
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
	for shift, want := range map[bool][]int{true: {5, 0, 1, 2}, false: {5, 1, 2, 3}} {
		if got, _ := lawstest.Collect(t, shiftNet{shift}, samplers.Copies([]int{5, 8, 8, 8}, 0, 3), cfg); !slices.Equal(got[1].IDs, want) {
			t.Errorf("shifted %t: %v, want %v", shift, got[1].IDs, want)
		}
	}
}

// TestOwnSeed checks that a sequence with its own seed has the ids of its stream under that seed,
// and keeps its own index.
func TestOwnSeed(t *testing.T) {
	canvas := slices.Repeat([]int{6}, 12)
	want, _ := lawstest.Collect(t, lawstest.NewHashNet(false), slices.Values([]samplers.Sequence{{Index: 3, Canvas: canvas}}), samplers.Config{Method: plan.NewFHS(0), Seed: 8})
	seed, steps := uint64(8), 0
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: 5, OnStep: func(s samplers.Step) {
		if steps++; s.Index != 40 || s.Result != nil && s.Result.Index != 40 {
			t.Errorf("a step of sequence %d, want 40", s.Index)
		}
	}}
	got, _ := lawstest.Collect(t, lawstest.NewHashNet(false), slices.Values([]samplers.Sequence{{Index: 40, Canvas: canvas, Seed: &seed, Stream: 3}}), cfg)
	if len(got) != 1 || steps != 12 || !slices.Equal(got[40].IDs, want[3].IDs) {
		t.Errorf("%d steps and %v, want 12 and the ids %v", steps, got, want[3].IDs)
	}
}
