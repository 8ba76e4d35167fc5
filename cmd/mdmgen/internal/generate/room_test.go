package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// full is a network on a device without memory.
type full struct{ model.Model }

func (full) Facts() model.Facts { return model.Facts{Length: 16, Columns: 3, MaskID: 2} }
func (full) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 3, Mask: 2}}
}

func (full) Logits(context.Context, samplers.Call) ([]float32, error) {
	return nil, fmt.Errorf("onnx session: run: %w", &ort.MemoryError{Err: errors.New("BFCArena: Failed to allocate memory")})
}

// TestNoRoom checks that a run out of memory ends with one line.
func TestNoRoom(t *testing.T) {
	method := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, full{}.Spec()))(t)
	g := &generation{options: &options{n: 1}, ctx: t.Context(), network: full{}, facts: full{}.Facts(), method: method, settings: settings{Batch: 8}, streams: kit.Streams{Err: io.Discard, Out: &kit.StandardOutput{W: io.Discard}, Args: &[]string{"generate", "--"}}}
	g.sampler.Seed = new(uint64)
	reftest.OK(t, g.take([]canvas.Job{{Canvas: slices.Repeat([]int{2}, 3)}, {Canvas: slices.Repeat([]int{2}, 16)}}))
	out := reftest.Must(kit.NewResults(t.Context(), "", g.streams.Out))(t)
	want := "generate: not enough memory for a call of 8 sequences of 16 positions: lower --batch or --length, or choose a smaller --dtype"
	if got := fmt.Sprint(g.run(out)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
