package causal_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/causal"
	"mdmgen/samplers/draw"
)

// open opens a reference network with two laws.
func open(t *testing.T, name string, threads int) model.Model { return openAs(t, name, threads, "") }

// openAs is open with weights of a type.
func openAs(t *testing.T, name string, threads int, dtype model.Dtype) model.Model {
	t.Helper()
	m, err := model.Open(t.Context(), reftest.Reference(t, "nemotron", name), model.Options{Dtype: dtype, Runtime: ort.Config{Threads: threads}})
	orttest.Opened(t, m, err)
	return m
}

// TestPublished repeats the recorded greedy and speculative runs, token by token and call by call: the
// prompt's and two a round, less the draft for a single last position.
func TestPublished(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nemotron", "nemotron-plain"} {
		m := open(t, name, 1)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(reftest.Reference(t, "nemotron", name), "nemotron-golden.safetensors")))(t)
		defer f.Close()
		recorded := func(key string) (out []int) {
			x, _ := f.Tensor(key)
			for _, id := range reftest.Must(x.Int64s())(t) {
				out = append(out, int(id))
			}
			return out
		}
		prompt := reftest.Must(strconv.Atoi(f.Metadata["prompt_length"]))(t)
		size := reftest.Must(strconv.Atoi(f.Metadata["block_size"]))(t)
		want := recorded("greedy.tokens")
		canvas := slices.Repeat([]int{m.Facts().MaskID}, len(want))
		copy(canvas, want[:prompt])
		run := func(o catalog.Options) samplers.Result {
			o.Temperature = new(float64)
			got, _ := lawstest.Collect(t, m, samplers.Copies(canvas, 0, 1), samplers.Config{Method: lawstest.NewFor(t, o, m.Spec())})
			return got[0]
		}
		if got := run(of("causal", 0)); !slices.Equal(got.IDs, want) || got.Calls != len(want)-prompt {
			t.Errorf("%s: causal gives %v in %d calls, want %v", name, got.IDs, got.Calls, want)
		}
		for window := 2; window <= size; window *= 2 {
			key := fmt.Sprintf("speculate.%d.", window)
			want, calls := recorded(key+"tokens"), recorded(key + "calls")[0]
			if got := run(of("speculate", window)); !slices.Equal(got.IDs, want) || got.Calls != calls && got.Calls != calls-1 {
				t.Errorf("%s: windows of %d give %v in %d calls, want %v in %d", name, window, got.IDs, got.Calls, want, calls)
			} else {
				t.Logf("%s: windows of %d take %d calls, recorded %d", name, window, got.Calls, calls)
			}
		}
	}
}

// TestRowBits decides whether causal rows have the same bits however many a call computes: only then are the
// ids of speculate those of causal to the last one.
func TestRowBits(t *testing.T) {
	t.Parallel()
	const length = 24
	for _, threads := range []int{1, 2} {
		m := open(t, "nemotron-plain", threads)
		net := m.(samplers.Keeper)
		r := rand.New(rand.NewPCG(3, uint64(threads)))
		ids := make([]int64, length)
		for l := range ids {
			ids[l] = 1 + r.Int64N(70)
		}
		row := func(kept samplers.Kept, from, to int64) []float32 {
			c := samplers.Call{IDs: ids, Positions: []int64{to - 1}, Counts: []int{1}, Kept: []samplers.Kept{kept}, Blocks: []samplers.Span{{From: int(to), To: int(to)}}}
			for l := from; l < to; l++ {
				c.Compute = append(c.Compute, l)
			}
			return slices.Clone(reftest.Must(net.Logits(t.Context(), c))(t))
		}
		differ := 0
		for begin := int64(4); begin < 16; begin++ {
			kept := net.Keep(length)
			row(kept, 0, begin)
			for n := int64(1); n <= 8; n *= 2 {
				together := row(kept.Clone(), begin, begin+n)
				alone := kept.Clone()
				var last []float32
				for l := begin; l < begin+n; l++ {
					last = row(alone, l, l+1)
				}
				worst := 0.0
				for i := range last {
					if worst = max(worst, math.Abs(float64(last[i]-together[i]))); last[i] != together[i] {
						differ++
					}
				}
				if worst > 1e-4 { // verify's: rounding differs by 2e-5 here, and a wrong row by far more
					t.Errorf("%d threads: rows of %d together differ by %v", threads, n, worst)
				}
			}
		}
		t.Logf("%d threads: %d logits of rows computed together differ from those of one", threads, differ)
	}
}

// settings is the number of settings of TestNetworkIDs, 1000 when run by hand, and dtype the type of its weights.
var (
	settings = flag.Int("settings", 4, "random settings of a network, for each number of threads")
	dtype    = flag.String("dtype", "fp32", "type of the weights of this network")
)

// TestNetworkIDs compares speculate with causal on a network at random settings, where rows differ by
// rounding: at most one token in 10,000 may differ.
func TestNetworkIDs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	tokens, differ := 0, 0
	for _, threads := range []int{1, 2} {
		m := openAs(t, "nemotron-plain", threads, model.Dtype(*dtype))
		canvas := slices.Repeat([]int{m.Facts().MaskID}, 20)
		for i := range *settings {
			o := catalog.Options{Draw: draw.Settings{Temperature: new(1.5 * float64(r.IntN(4)) / 3)}}
			if r.IntN(2) == 0 {
				o.TopP = 0.5 + 0.5*r.Float64()
			}
			if r.IntN(2) == 0 {
				o.TopK = 1 + r.IntN(20)
			}
			for l := range 1 + r.IntN(6) {
				canvas[l] = 1 + r.IntN(70)
			}
			run := func(name string, window, batch int) map[uint64]samplers.Result {
				o := o
				o.Sampler, o.Window = name, window
				got, _ := lawstest.Collect(t, m, samplers.Copies(canvas, 0, 4), samplers.Config{Method: lawstest.NewFor(t, o, m.Spec()), Seed: uint64(i), Batch: batch})
				return got
			}
			want, got := run("causal", 0, 1), run("speculate", r.IntN(6), 1+r.IntN(4))
			for k, x := range want {
				for l, id := range x.IDs {
					if tokens++; got[k].IDs[l] != id {
						differ++
					}
				}
			}
		}
	}
	t.Logf("%d of %d tokens differ", differ, tokens)
	if 10000*differ > tokens {
		t.Errorf("%d of %d tokens of speculate differ from those of causal", differ, tokens)
	}
}

// TestRowCost checks that calls of one row and of a window are timed.
func TestRowCost(t *testing.T) {
	t.Parallel()
	m := open(t, "nemotron-plain", 1)
	if got := reftest.Must(causal.RowCost(t.Context(), m, m.Facts().Length))(t); !(got > 0) {
		t.Errorf("a row costs %v", got)
	}
	if got := reftest.Must(causal.RowCost(t.Context(), m, 7))(t); got != 0 {
		t.Errorf("a row of too short a network costs %v", got)
	}
}
