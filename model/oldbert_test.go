package model_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers/draw"
)

// TestSpecialTokens opens BERT's folders of before 2020, whose vocabulary gives the mask, the frame and
// the tokens that are not text. These are never drawn, in the graph or from rows, unless the facts say
// otherwise.
func TestSpecialTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder         string
		mask           int
		special, frame []int
		unused         int
	}{
		{"bert-letters/model", 4, []int{0, 1, 2, 3}, []int{2, 3}, 9},
		{"bert-smiles", 6, []int{0, 1, 2, 3, 4, 5}, []int{4, 5}, 5},
	} {
		dir := reftest.Data(t, "reference", "checkpoints", filepath.FromSlash(c.folder))
		m := reftest.Must(open(t, dir, model.Options{}))(t)
		if f := m.Facts(); f.Family != "bert" || f.MaskID != c.mask || !slices.Equal(f.Padding, c.special) || !slices.Equal(f.Frame, c.frame) {
			t.Errorf("%s: facts are %+v", c.folder, f)
		}
		if u := m.(model.Describer).Origin().UnusedTensors; len(u) != c.unused {
			t.Errorf("%s: unused are %q, want %d", c.folder, u, c.unused)
		}
		all := reftest.Must(open(t, dir, model.Options{Override: map[string]string{"padding": "[]"}}))(t)
		canvas := m.Facts().Framed(slices.Repeat([]int{c.mask}, 12))
		for _, draw := range []draw.Settings{{}, {TopK: 24}} {
			count, whole, other := drawn(t, m, canvas, 64, draw), drawn(t, all, canvas, 64, draw), 0
			for _, id := range c.special {
				if other += whole[id]; count[id] > 0 {
					t.Errorf("%s, %+v: %d is drawn %d times", c.folder, draw, id, count[id])
				}
			}
			if other == 0 || len(count) == 0 {
				t.Errorf("%s, %+v: without that fact no special token is drawn either", c.folder, draw)
			}
		}
	}
}
