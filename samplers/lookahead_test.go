package samplers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// counting counts the canvases of the greatest call.
type counting struct {
	lawstest.Near
	most int
}

func (n *counting) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	n.most = max(n.most, len(c.Counts))
	return n.Near.Logits(ctx, c)
}

// TestLookaheadMemory checks that a call has no more canvases than fit in memory, except those of
// --batch, and that samples are the same.
func TestLookaheadMemory(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	canvas := slices.Repeat([]int{6}, 1024)
	for l := 40; l < len(canvas); l++ {
		canvas[l] = 1
	}
	for batch, want := range map[int]int{1: 32, 2: 32, 33: 33} {
		net := &counting{Near: lawstest.NewHashNet(false).Near(0)}
		plain, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 40), samplers.Config{Method: lawstest.New(t, catalog.Options{By: draw.ByGumbel}), Batch: batch})
		net.most = 0
		got, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 40), samplers.Config{Method: lawstest.New(t, catalog.Options{Lookahead: 36}), Batch: batch})
		if lawstest.SameSamples(t, fmt.Sprintf("batch %d", batch), got, plain); net.most != want {
			t.Errorf("batch %d: up to %d canvases of 1024 positions in a call, want %d", batch, net.most, want)
		}
	}
}

// TestLookaheadEngine checks that an engine's calls have room for the canvases of a job, like those
// of [samplers.Sample].
func TestLookaheadEngine(t *testing.T) {
	var guided catalog.Options
	guided.Guidance = 1
	for name, o := range map[string]catalog.Options{"look-ahead": {Lookahead: 8}, "guidance": guided} {
		net := &counting{Near: lawstest.NewHashNet(false).Near(0)}
		canvas, s := slices.Repeat([]int{6}, 24), lawstest.NewFor(t, o, net.Spec())
		want, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 1), samplers.Config{Method: s, Seed: 3})
		most := net.most
		net.most = 0
		got, err := lawstest.Last(lawstest.Engine(t, net, 1), t.Context(), samplers.Job{Canvas: canvas, Method: s, Seed: 3})
		if err != nil || net.most != most || most != s.Canvases() || !slices.Equal(got.IDs, want[0].IDs) || got.Calls != want[0].Calls {
			t.Errorf("%s: calls of up to %d canvases, want %d; %v", name, net.most, most, err)
		}
	}
}
