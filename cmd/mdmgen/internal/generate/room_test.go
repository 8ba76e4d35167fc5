package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/requests"
	"mdmgen/samplers"
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
	build := reftest.Must(requests.New(t.Context(), requests.Config{Network: full{}}))(t)
	g := &generation{options: &options{}, ctx: t.Context(), network: full{}, facts: full{}.Facts(), builder: build, settings: requests.Settings{Batch: 8}, streams: kit.Streams{Err: io.Discard, Out: &kit.StandardOutput{W: io.Discard}}}
	g.sampler.Seed = new(uint64)
	reftest.OK(t, g.take([]lined{{Request: requests.Request{IDs: make([]*int, 3)}}, {Request: requests.Request{IDs: make([]*int, 16)}}}))
	g.streams.Results = reftest.Must(kit.NewOutput(t.Context(), kit.OutputTerm, "", g.streams))(t)
	want := "generate: not enough memory for a call of 8 canvases of 16 positions: lower --batch or --length, or choose a smaller --dtype"
	if got := fmt.Sprint(g.sample()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
