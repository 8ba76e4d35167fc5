//go:build linux

package large

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// The canvases of TestStore: a prompt and an answer, in blocks that take six calls.
const prompt, answer, block, calls6 = 480, 64, 32, 6

// sharing is a network of the shape of BD3-LM's.
type sharing struct {
	model.Model
	method samplers.Method
	random *rand.Rand
}

// TestStore measures what a store of finished rows spares: processor time and computed positions beside
// those without it, in one run.
func TestStore(t *testing.T) {
	if flag.Lookup("test.timeout").Value.String() != "0s" || *layers > 0 {
		t.Skip("takes minutes: run with -timeout 0 -run Store")
	}
	dir := t.TempDir()
	config := `{"architectures":["BD3LM"],"hidden_dim":768,"cond_dim":128,"n_blocks":12,"n_heads":12,"model_length":1024,"vocab_size":50258,"block_size":32}`
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "backbone.", checkpoint.BF16, 1)))
	m, err := model.Open(t.Context(), dir, model.Options{Dtype: graph.Float32, Runtime: ort.Config{Threads: 2}})
	orttest.Opened(t, m, err)
	method := reftest.Must(catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: calls6}, m.Spec()))(t)
	n := &sharing{m, method, rand.New(rand.NewPCG(1, 1))}
	n.run(t, nil, 1, n.masked(n.text(1))) // what the first calls prepare
	t.Run("samples", n.samples)
	t.Run("second request", n.second)
	t.Run("tenth turn", n.turns)
	t.Run("64 clients", n.clients)
}

// text returns random tokens.
func (n *sharing) text(length int) (ids []int) {
	for range length {
		ids = append(ids, n.random.IntN(50257))
	}
	return ids
}

// masked returns a canvas with an answer to be filled.
func (n *sharing) masked(text ...[]int) []int {
	return slices.Concat(append(text, slices.Repeat([]int{n.Spec().Mask}, answer))...)
}

// spent is what some sequences took: in all, and until the first of them revealed a token.
type spent struct {
	samplers.Totals
	processor, first time.Duration
	positions        int
	ids              map[uint64][]int
}

// run fills canvases, at most batch in a call.
func (n *sharing) run(t *testing.T, store *samplers.Store, batch int, canvases ...[]int) (s spent) {
	begin := processor(t)
	s.ids = make(map[uint64][]int)
	s.Totals = reftest.Must(samplers.Sample(t.Context(), n.Model, func(yield func(samplers.Sequence) bool) {
		for i, canvas := range canvases {
			if !yield(samplers.Sequence{Index: uint64(i), Canvas: canvas}) {
				return
			}
		}
	}, samplers.Config{Method: n.method, Seed: 1, Batch: batch, Store: store, OnStep: func(step samplers.Step) {
		if s.first == 0 {
			s.first, s.positions = processor(t)-begin, step.Computed
		}
	}}, func(r samplers.Result) error {
		s.ids[r.Index] = r.IDs
		return nil
	}))(t)
	s.processor = processor(t) - begin
	return s
}

// samples draws eight samples of a prompt, with the store of generate.
func (n *sharing) samples(t *testing.T) {
	canvases := slices.Repeat([][]int{n.masked(n.text(prompt))}, 8)
	with, without := n.run(t, samplers.NewStore(64<<20), 8, canvases...), n.run(t, nil, 8, canvases...)
	t.Logf("positions of the prompt: %d of %d", 8*prompt-with.Cached, 8*prompt)
	t.Logf("processor seconds: %.1f of %.1f, %.2f", with.processor.Seconds(), without.processor.Seconds(), with.processor.Seconds()/without.processor.Seconds())
	same(t, with, without)
}

// same reports what differs from sequences that share nothing.
func same(t *testing.T, with, without spent) {
	for i, ids := range without.ids {
		if !slices.Equal(with.ids[i], ids) {
			t.Errorf("sequence %d has other ids", i)
		}
	}
}

// second sends two requests with one prompt and other seeds.
func (n *sharing) second(t *testing.T) {
	store, canvas := samplers.NewStore(256<<20), n.masked(n.text(prompt))
	first, second := n.run(t, store, 1, canvas), n.run(t, store, 1, canvas)
	t.Logf("to the first token: %.3f of %.3f processor seconds, %.3f", second.first.Seconds(), first.first.Seconds(), second.first.Seconds()/first.first.Seconds())
}

// turns chats: each message follows all turns before it.
func (n *sharing) turns(t *testing.T) {
	store := samplers.NewStore(256 << 20)
	history := n.text(64)
	for turn := 1; turn <= 10; turn++ {
		canvas := n.masked(history, n.text(1+n.random.IntN(32)))
		s := n.run(t, store, 1, canvas)
		history = s.ids[0]
		t.Logf("turn %d: %d positions, %d blocks of %d, computed before the first token", turn, s.positions, (s.positions+block-1)/block, len(canvas)/block)
	}
}

// clients lets 64 clients ask one question each after a system's text, of which none has asked before.
func (n *sharing) clients(t *testing.T) {
	var took [2]time.Duration
	system := n.text(prompt)
	var canvases [][]int
	for range 64 {
		canvases = append(canvases, n.masked(system, n.text(1+n.random.IntN(block))))
	}
	for i, store := range []*samplers.Store{samplers.NewStore(256 << 20), nil} {
		e := reftest.Must(samplers.NewEngine(n.Model, 8))(t)
		e.Share(store)
		begin := processor(t)
		var all sync.WaitGroup
		room := make(chan struct{}, 16) // which the memory for caches bounds in a server
		for index, canvas := range canvases {
			all.Go(func() {
				room <- struct{}{}
				for _, err := range e.Sample(t.Context(), samplers.Job{Canvas: canvas, Method: n.method, Seed: 1, Index: uint64(index)}) {
					reftest.OK(t, err)
				}
				<-room
			})
		}
		all.Wait()
		took[i] = processor(t) - begin
		t.Logf("%d positions in %d calls", e.Totals().Positions, e.Totals().NetworkCalls)
		e.Close()
	}
	t.Logf("throughput: %.2f times as high, %.1f processor seconds in place of %.1f", took[1].Seconds()/took[0].Seconds(), took[0].Seconds(), took[1].Seconds())
}
