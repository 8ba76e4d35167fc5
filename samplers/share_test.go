package samplers_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// chained is a network whose rows are hashes. That of a position depends on the ids of its block and on what
// is kept of all positions before it, so that a wrong kept row changes all later ones. It has blocks of four
// positions, or causal rows.
type chained struct {
	causal bool
	fail   func() error
}

func (n *chained) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 7, Mask: 7}, BlockSize: 4, Causal: n.causal}
}

// hashes are kept: 0 is no row.
type hashes []uint64

func (h hashes) Clone() samplers.Kept               { return slices.Clone(h) }
func (h hashes) Cut(from, to int) samplers.Kept     { return slices.Clone(h[from:to]) }
func (h hashes) Paste(from int, rows samplers.Kept) { copy(h[from:], rows.(hashes)) }
func (n *chained) Keep(length int) samplers.Kept    { return make(hashes, length) }
func (n *chained) KeptBytes(length int) int64       { return 100 * int64(length) }
func (n *chained) block(l int, s samplers.Span) (samplers.Span, bool) {
	switch {
	case !n.causal:
		return samplers.Span{From: l - l%4, To: l - l%4 + 4}, true
	case l < s.From:
		return samplers.Span{From: l, To: l + 1}, true
	}
	return s, l < s.To
}

func (n *chained) Logits(ctx context.Context, c samplers.Call) (out []float32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n.fail != nil {
		if err := n.fail(); err != nil {
			return nil, err
		}
	}
	length, each, wanted := c.Length(), len(c.Compute)/len(c.Counts), c.Positions
	for b, count := range c.Counts {
		ids, computed, span := c.IDs[b*length:(b+1)*length], c.Compute[b*each:(b+1)*each], samplers.Span{}
		if c.Blocks != nil {
			span = c.Blocks[b]
		}
		kept := make(hashes, length)
		if c.Kept != nil {
			kept = c.Kept[b].(hashes)
		}
		for l := range length {
			s, seen := n.block(l, span)
			if _, ok := slices.BinarySearch(computed, int64(l)); each > 0 && !ok || !seen {
				continue
			}
			h := fnv.New64a()
			binary.Write(h, binary.LittleEndian, ids[s.From:min(s.To, length)])
			binary.Write(h, binary.LittleEndian, kept[:s.From])
			binary.Write(h, binary.LittleEndian, int64(l))
			kept[l] = h.Sum64()
		}
		for _, l := range wanted[:count] {
			x := kept[l]
			for range 7 {
				x = x*6364136223846793005 + 1442695040888963407
				out = append(out, float32(x>>40)*0x1p-22)
			}
		}
		wanted = wanted[count:]
	}
	return out, nil
}

// begun returns a canvas that begins like many others.
func begun(r *rand.Rand) []int {
	canvas := slices.Repeat([]int{r.IntN(3)}, 1+r.IntN(40))
	for i := range canvas {
		if i > 0 && i%8 == 0 && r.IntN(2) == 0 {
			canvas[i] = 3
		}
	}
	canvas = append(canvas, slices.Repeat([]int{7}, 1+r.IntN(20))...)
	if r.IntN(3) == 0 { // a gap
		canvas = append(canvas, 1, 2, 3, 4, 5, 6, 0, 1, 7, 7)
	}
	return canvas
}

// TestShare compares requests with those that share nothing: whatever is shared, whatever goes from the
// store, and whoever leaves, their ids are the same, and nothing stays in use.
func TestShare(t *testing.T) {
	t.Parallel()
	options := map[bool][]catalog.Options{
		false: {{}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "threshold"}, {Sampler: "confidence", Cache: "dual", LayerOptions: catalog.LayerOptions{BlockLength: 2}}, {Lookahead: 3}, {LayerOptions: catalog.LayerOptions{Guidance: 1}}, {Sampler: "remdm", Steps: 3}, {Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.25, Threshold: 0.2}}, {Draw: draw.Settings{Temperature: new(float64)}}},
		true:  {{}, {Sampler: "causal"}, {Sampler: "speculate"}, {Sampler: "threshold"}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 4, MaxLength: 80}}, {Draw: draw.Settings{Temperature: new(float64)}}},
	}
	for _, causal := range []bool{false, true} {
		net := &chained{causal: causal}
		for _, bytes := range []int64{1, 5000, 1 << 20} {
			store := samplers.NewStore(bytes)
			e := reftest.Must(samplers.NewEngine(net, 4))(t)
			e.Share(store)
			var wait sync.WaitGroup
			r := rand.New(rand.NewPCG(uint64(bytes), 1))
			for i := range 200 {
				o := options[causal][r.IntN(len(options[causal]))]
				job := samplers.Job{Canvas: begun(r), Method: lawstest.NewFor(t, o, net.Spec()), Seed: 1, Index: uint64(i), Apart: string(rune('a' + r.IntN(2)))}
				ctx, cancel := context.WithCancel(t.Context())
				steps := 1000
				if r.IntN(5) == 0 {
					steps = r.IntN(4)
				}
				wait.Go(func() {
					defer cancel()
					var got *samplers.Result
					for s, err := range e.Sample(ctx, job) {
						if got = s.Result; err != nil && !errors.Is(err, context.Canceled) {
							t.Errorf("%+v: %v", o, err)
						}
						if steps--; steps < 0 {
							return
						}
					}
					if alone := alone(t, net, job); !slices.Equal(got.IDs, alone) {
						t.Errorf("causal %t, %d bytes, %+v: %v is %v, alone %v", causal, bytes, o, job.Canvas, got.IDs, alone)
					}
				})
			}
			wait.Wait()
			cached := e.Totals().Cached
			e.Close()
			if users, nodes, within := store.InUse(); users != 0 || !within || (nodes > 0) != (bytes > 1) || (cached > 0) != (bytes > 1) {
				t.Errorf("causal %t, %d bytes: %d users of %d nodes, %d positions are shared; within its bound: %t", causal, bytes, users, nodes, cached, within)
			}
		}
	}
}

// TestSharedAtOnce checks that samples which begin alike compute that once although they begin together.
func TestSharedAtOnce(t *testing.T) {
	t.Parallel()
	net := &chained{}
	canvas := append(make([]int, 16), 7, 7, 7, 7)
	_, totals := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 8), samplers.Config{Method: lawstest.NewFor(t, catalog.Options{}, net.Spec()), Batch: 8, Store: samplers.NewStore(1 << 20)})
	if want := 16 + 8*4*4; totals.Positions != want || totals.Cached != 7*16 {
		t.Errorf("%d positions are computed and %d shared, want %d and %d", totals.Positions, totals.Cached, want, 7*16)
	}
}

// alone returns the ids of a job that shares nothing.
func alone(t *testing.T, net samplers.Network, job samplers.Job) (ids []int) {
	one := slices.Values([]samplers.Sequence{{Index: job.Index, Canvas: job.Canvas, Method: job.Method}})
	reftest.Must(samplers.Sample(t.Context(), net, one, samplers.Config{Seed: job.Seed}, func(r samplers.Result) error {
		ids = r.IDs
		return nil
	}))(t)
	return ids
}
