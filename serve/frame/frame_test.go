package frame

import (
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/remask"
)

// TestTurns checks whether a position that a call drew and masked ends masked. That follows from
// its content before the call, because decoders draw and mask alternately.
func TestTurns(t *testing.T) {
	t.Parallel()
	const mask = 9
	for name, c := range map[string]struct {
		begin, draws, masked, token int
		want                        bool // masked in the end
	}{
		"drawn": {mask, 1, 0, 4, false}, "drawn anew": {3, 1, 0, 4, false}, "a mask is drawn": {mask, 1, 0, mask, true}, "masked": {3, 0, 1, 0, true},
		"drawn, masked": {mask, 1, 1, 4, true}, "masked, drawn": {3, 1, 1, 4, false}, "masked, drawn, masked": {3, 1, 2, 4, true}, "drawn, masked, drawn": {mask, 2, 1, 4, false},
	} {
		s := samplers.Step{Rows: 1, Result: &samplers.Result{}, Masked: slices.Repeat([]int{0}, c.masked), Positions: slices.Repeat([]int{0}, c.draws), Tokens: slices.Repeat([]int{c.token}, c.draws), LogP: make([]float64, c.draws)}
		m := Maker{Mask: mask}
		var canvas Canvas
		frames := m.Step(s, []int{c.begin})
		for _, f := range frames {
			reftest.OK(t, canvas.Fits(f), name)
			canvas.Apply(f)
		}
		want := 2
		if name == "masked, drawn" {
			want = 3 // the masks have a frame of their own
		}
		if len(frames) != want || canvas.Cells[0].Masked != c.want || !canvas.Done {
			t.Errorf("%s: %+v make %+v", name, frames, canvas)
		}
		reftest.Fails(t, canvas.Fits(frames[len(frames)-1]), "", name, "a call after the last fits")
	}
}

// TestFits checks that frames that do not fit the canvas are rejected.
func TestFits(t *testing.T) {
	t.Parallel()
	c := Canvas{}
	c.Apply(Frame{Length: 3, Positions: []int{0}, Tokens: []int{1}})
	for name, f := range map[string]Frame{
		"a second beginning": {Length: 3}, "masks of a call that has not been": {Call: 2, Masked: []int{0}}, "a call too late": {Call: 2}, "no canvas so long": {Call: 1, Grown: maxLength}, "less than nothing": {Call: 1, Grown: -1},
		"behind the end": {Call: 1, Masked: []int{3}}, "before the beginning": {Call: 1, Masked: []int{-1}}, "a token too few": {Call: 1, Positions: []int{0}},
		"alternatives of nothing": {Call: 1, Alternatives: [][]Alternative{{}}},
	} {
		if c.Fits(f) == nil {
			t.Errorf("%s fits", name)
		}
	}
	reftest.OK(t, c.Fits(Frame{Call: 1, Grown: 1, Masked: []int{3}}))
}

// TestReplays checks for every sampler that its frames lead to its results, and that no frame replaces a
// token that was masked before without a frame of the mask.
func TestReplays(t *testing.T) {
	t.Parallel()
	w := reftest.Must(world.Open(reftest.Law(t, "markov4-sharp")))(t)
	mask := w.Facts().MaskID
	options := []catalog.Options{{Sampler: "remdm", Steps: 60, RemaskOptions: remask.Options{Remask: "cap", Eta: 0.3}}, {Sampler: "remdm", Steps: 20, RemaskOptions: remask.Options{Remask: "loop"}}}
	for _, d := range catalog.Descriptors() {
		if d.Kind != samplers.ByOrder { // which needs a network with causal rows
			options = append(options, catalog.Options{Sampler: d.Name})
		}
	}
	for _, o := range options {
		s := reftest.Must(catalog.New(o, w.Spec()))(t, o.Sampler)
		m := Maker{Mask: mask}
		canvases := make(map[uint64]*Canvas)
		blank := slices.Repeat([]int{mask}, w.Facts().Length)
		_, err := samplers.Sample(t.Context(), w, samplers.Copies(blank, 0, 10), samplers.Config{Method: s, Seed: 1, Batch: 4, OnStep: func(s samplers.Step) {
			for _, f := range m.Step(s, blank) {
				c := canvases[f.Sequence]
				if c == nil {
					c = new(Canvas)
					canvases[f.Sequence] = c
				}
				reftest.OK(t, c.Fits(f), o.Sampler)
				for _, l := range f.Positions {
					if f.Call > 0 && !c.Cells[l].Masked && slices.Contains(s.Masked, l) && !slices.Contains(f.Masked, l) {
						t.Errorf("%s: call %d replaces the token at %d", o.Sampler, f.Call, l)
					}
				}
				c.Apply(f)
			}
		}}, func(r samplers.Result) error {
			for l, cell := range canvases[r.Index].Cells {
				if cell.Masked != (r.IDs[l] == mask) || !cell.Masked && cell.Token != r.IDs[l] {
					t.Errorf("%s: sample %d: the frames end with %+v at %d, the sample with %d", o.Sampler, r.Index, cell, l, r.IDs[l])
				}
			}
			return nil
		})
		reftest.OK(t, err, o.Sampler)
	}
}
