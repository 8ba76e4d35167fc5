package samplers

import (
	"fmt"
	"testing"
)

// TestSpan checks which row predicts a position in a call about a block, and which requests are refused.
func TestSpan(t *testing.T) {
	t.Parallel()
	spec := Spec{BlockSize: 4, Causal: true}
	if spec.Grid() != 0 || (&Spec{BlockSize: 4}).Grid() != 4 {
		t.Error("blocks of a causal network are on a grid, or others are not")
	}
	for _, c := range []struct {
		block     Span
		position  int
		row       int
		refused   bool
		positions []int
	}{
		{Span{3, 7}, 5, 5, false, []int{3, 6}},
		{Span{3, 7}, 5, 5, true, []int{2}},
		{Span{3, 7}, 5, 5, true, []int{7}},
		{Span{5, 5}, 5, 4, false, []int{1, 5}},
		{Span{5, 5}, 5, 4, true, []int{0}},
		{Span{5, 5}, 5, 4, true, []int{6}},
		{Span{8, 8}, 7, 6, false, []int{7}},
		{Span{8, 8}, 7, 6, true, []int{8}},
		{Span{0, 8}, 0, 0, false, []int{0, 7}},
		{Span{}, 5, 5, true, nil},
		{Span{4, 3}, 5, 5, true, nil},
		{Span{4, 9}, 5, 5, true, nil},
		{Span{-1, 3}, 5, 5, true, nil},
	} {
		if got := spec.InputRow(c.position, c.block); got != c.row {
			t.Errorf("block %v: position %d is predicted by row %d, want %d", c.block, c.position, got, c.row)
		}
		if fault := c.block.fault(8, c.positions); (fault != "") != c.refused {
			t.Errorf("block %v, positions %v: %q", c.block, c.positions, fault)
		}
	}
	var call Call
	call.Add(&spec, make([]int64, 8), AskRow{Positions: []int{2, 3}, Block: Span{5, 5}})
	call.Add(&spec, make([]int64, 8), AskRow{Positions: []int{2}})
	if got, want := fmt.Sprint(call.Positions, call.Blocks), "[1 2 2] [{5 5} {0 8}]"; got != want {
		t.Errorf("the call is about %s, want %s", got, want)
	}
}
