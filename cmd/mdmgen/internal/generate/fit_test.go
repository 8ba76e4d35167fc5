package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// The greatest batch is one more than half of the first that does not fit at least, and the calls
// that find it are few.
func TestDouble(t *testing.T) {
	for _, c := range []struct {
		room, most int
		want       []int // what is tried
	}{
		{100, 1, []int{1}}, {100, 6, []int{1, 2, 4, 6}}, {5, 100, []int{1, 2, 4, 8}}, {0, 9, []int{1}}, {64, 64, []int{1, 2, 4, 8, 16, 32, 64}}, {63, 64, []int{1, 2, 4, 8, 16, 32, 64}},
	} {
		var tried []int
		got, err := double(c.most, func(n int) (bool, error) {
			tried = append(tried, n)
			return n <= c.room, nil
		})
		want := 0
		for _, n := range c.want {
			if n <= c.room {
				want = n
			}
		}
		if got != want || err != nil || !slices.Equal(tried, c.want) {
			t.Errorf("room for %d of %d: %d after %v, %v; want %d after %v", c.room, c.most, got, tried, err, want, c.want)
		}
	}
	if _, err := double(9, func(n int) (bool, error) { return false, io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("another error is %v", err)
	}
}

// small is a network on a device that has room for so many cells of canvases in a call.
type small struct {
	model.Model
	cells int
	calls []int // cells that were asked for
}

func (s *small) Facts() model.Facts { return model.Facts{Length: 16, Columns: 3, MaskID: 2} }
func (s *small) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 3, Mask: 2}}
}

func (s *small) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	s.calls = append(s.calls, len(c.IDs))
	if len(c.IDs) > s.cells {
		return nil, fmt.Errorf("onnx session: run: %w", &ort.MemoryError{Err: errors.New("BFCArena: Failed to allocate memory")})
	}
	return make([]float32, 3*len(c.Positions)), nil
}

// Where memory is full a run ends with one line, and --batch auto finds what fits.
func TestBatchThatFits(t *testing.T) {
	for _, c := range []struct {
		cells, batch, samples int
		want                  int // what auto finds
		says                  string
	}{
		{64, 8, 20, 4, "generate: memory has no room for a call of 8 sequences of 16 positions: lower --batch or --length, or choose a smaller --dtype"},
		{200, setup.AutoBatch, 9, 9, ""},
		{200, setup.AutoBatch, 100, 8, ""},
		{8, setup.AutoBatch, 3, 0, "generate: memory has no room for a call of 1 sequence of 16 positions: lower --batch or --length, or choose a smaller --dtype"},
	} {
		net := &small{cells: c.cells}
		method, err := catalog.New(catalog.Options{Sampler: "fhs"}, net.Spec())
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		g := &generation{options: &options{}, ctx: t.Context(), network: net, facts: net.Facts(), method: method, streams: kit.Streams{Err: &told}}
		g.jobs = []job{{Job: canvas.Job{Canvas: slices.Repeat([]int{2}, 16)}, method: method, n: c.samples}}
		if c.batch == setup.AutoBatch {
			err = g.findBatch()
			if g.sampler.Batch != c.want || c.want > 0 && told.String() != fmt.Sprintf("mdmgen: --batch auto: %d\n", c.want) {
				t.Errorf("%d cells: --batch auto is %d, and says %q", c.cells, g.sampler.Batch, told.String())
			}
		} else {
			g.settings.Batch = c.batch
			_, err = g.call(g.jobs[0], g.jobs[0].Canvas, []int{0}, c.batch)
			if ok, other := fits(err); ok || other != nil {
				t.Fatalf("%d cells have room for %d sequences: %v, calls for %v cells", c.cells, c.batch, other, net.calls)
			}
			err = g.noRoom()
		}
		if got := fmt.Sprint(err); c.says == "" && err != nil || c.says != "" && got != c.says {
			t.Errorf("%d cells, --batch %d: %s, want %s", c.cells, c.batch, got, c.says)
		}
	}
}
