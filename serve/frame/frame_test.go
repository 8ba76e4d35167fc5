package frame

import (
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
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
		if len(frames) != 2 || canvas.Cells[0].Masked != c.want || !canvas.Done {
			t.Errorf("%s: %+v make %+v", name, frames, canvas)
		}
		reftest.Fails(t, canvas.Fits(frames[1]), "", name, "a call after the last fits")
	}
}

// TestFits checks that frames that do not fit the canvas are rejected.
func TestFits(t *testing.T) {
	t.Parallel()
	c := Canvas{}
	c.Apply(Frame{Length: 3, Positions: []int{0}, Tokens: []int{1}})
	for name, f := range map[string]Frame{
		"a second beginning": {Length: 3}, "a call too late": {Call: 2}, "no canvas so long": {Call: 1, Grown: maxLength}, "less than nothing": {Call: 1, Grown: -1},
		"behind the end": {Call: 1, Masked: []int{3}}, "before the beginning": {Call: 1, Masked: []int{-1}}, "a token too few": {Call: 1, Positions: []int{0}},
		"alternatives of nothing": {Call: 1, Alternatives: [][]Alternative{{}}},
	} {
		if c.Fits(f) == nil {
			t.Errorf("%s fits", name)
		}
	}
	reftest.OK(t, c.Fits(Frame{Call: 1, Grown: 1, Masked: []int{3}}))
}
