package model_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// sampled fills n canvases, and returns the ids of each.
func sampled(t *testing.T, m model.Model, canvas []int, n int, c samplers.Config) ([][]int, samplers.Totals) {
	t.Helper()
	ids := make([][]int, n)
	totals := reftest.Must(samplers.Sample(t.Context(), m, func(yield func(samplers.Sequence) bool) {
		for i := 0; i < n && yield(samplers.Sequence{Index: uint64(i), Canvas: canvas}); i++ {
		}
	}, c, func(r samplers.Result) error {
		if ids[r.Index] = slices.Clone(r.IDs); r.Left > 0 {
			t.Errorf("%d masks are left", r.Left)
		}
		return nil
	}))(t)
	return ids, totals
}

// method returns a sampler of a model.
func method(t *testing.T, m model.Model, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, m.Spec()))(t)
}

// drawn fills canvases and returns how often each id was drawn.
func drawn(t *testing.T, m model.Model, canvas []int, n int, d draw.Settings) map[int]int {
	t.Helper()
	count := map[int]int{}
	all, _ := sampled(t, m, canvas, n, samplers.Config{Method: plan.NewFHS(0), Seed: 3, Batch: 16, Draw: d})
	for _, ids := range all {
		for l, id := range ids {
			if canvas[l] == m.Facts().MaskID {
				count[id]++
			}
		}
	}
	return count
}

// Columns between vocab_size and embedding_size are never drawn, in the graph or from rows; without
// padding they would be.
func TestPaddingIsNeverDrawn(t *testing.T) {
	t.Parallel()
	padded := model.Copied(t, "llada-gqa-bf16", `"vocab_size": 111`, `"vocab_size": 100`)
	for _, draw := range []draw.Settings{{}, {TopK: 90}} {
		for dir, want := range map[string]bool{padded: false, model.Copied(t, "llada-gqa-bf16"): true} {
			m := reftest.Must(open(t, dir, model.Options{}))(t)
			count, found := drawn(t, m, slices.Repeat([]int{m.Facts().MaskID}, 12), 64, draw), false
			for id := 100; id < 111; id++ {
				found = found || count[id] > 0
			}
			if found != want {
				t.Errorf("%s, %+v: ids above 99 are drawn: %t, want %t", filepath.Base(dir), draw, found, want)
			}
			if count[m.Facts().MaskID] > 0 {
				t.Error("the mask is drawn")
			}
		}
	}
}

// If a network is shifted, the token at a position is drawn from the row before it; samplers need
// not know.
func TestShiftedRows(t *testing.T) {
	const length = 6
	best := func(shift string) []int {
		m := reftest.Must(open(t, model.Copied(t, "qwen2", "A2DQwen2LMHeadModel", "Qwen2ForCausalLM"), model.Options{Override: map[string]string{"shift": shift}}))(t)
		var out []int
		for l := 1; l < length; l++ {
			canvas := []int{7, 8, 9, 10, 11, 12}
			canvas[l] = m.Facts().MaskID
			ids := make([]int64, length)
			for i, id := range canvas {
				ids[i] = int64(id)
			}
			from := int64(l)
			if shift == "true" {
				from--
			}
			rows := reftest.Must(m.Logits(t.Context(), samplers.Call{IDs: ids, Positions: []int64{from}, Counts: []int{1}}))(t)
			rows[m.Facts().MaskID] = -1e9
			want := slices.Index(rows, slices.Max(rows))
			zero := 0.0
			count := drawn(t, m, canvas, 1, draw.Settings{Temperature: &zero})
			if count[want] != 1 {
				t.Errorf("shift %s, position %d: token %d is not the best of row %d", shift, l, want, from)
			}
			out = append(out, want)
		}
		return out
	}
	if a, b := best("true"), best("false"); slices.Equal(a, b) {
		t.Errorf("the same tokens with and without the shift: %v", a)
	}
}

// A config of a causal class does not state whether rows are shifted; the network opens once the
// fact is given.
func TestUntoldFacts(t *testing.T) {
	dir := model.Copied(t, "qwen2", "A2DQwen2LMHeadModel", "Qwen2ForCausalLM")
	reftest.Fails(t, reftest.Err(open(t, dir, model.Options{})), "fact=shift=true or fact=shift=false")
	m := reftest.Must(open(t, dir, model.Options{Known: map[string]string{"shift": "true"}}))(t)
	if f := m.Facts(); !f.Shift || f.MaskID != 119 {
		t.Errorf("facts are %+v", f)
	}
}

// The length of a canvas is limited by the positions.
func TestLengthOfAdaptedNetworks(t *testing.T) {
	dir := model.Copied(t, "qwen2", `"max_position_embeddings": 32`, `"max_position_embeddings": 5000`)
	for length, want := range map[string]int{"": 2048, "10": 10, "5000": 5000, "5001": 0} {
		o := model.Options{Override: map[string]string{"length": length}}
		if length == "" {
			o.Override = nil
		}
		m, err := open(t, dir, o)
		switch {
		case want == 0:
			reftest.Fails(t, err, "length is 5001, but the network takes at most 5000 positions")
			continue
		case err != nil:
			t.Fatal(err)
		case m.Facts().Length != want:
			t.Errorf("length %s is %d", length, m.Facts().Length)
		}
		n := min(want, 2100)
		reftest.Must(m.Logits(t.Context(), samplers.Call{IDs: slices.Repeat([]int64{5}, n), Positions: []int64{int64(n - 1)}, Counts: []int{1}}))(t, "length", length)
	}
}
