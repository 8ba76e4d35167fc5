package cache_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
)

// masks returns a canvas of length positions that begins with the given tokens.
func masks(net *toy, length int, given ...int) []int {
	canvas := slices.Repeat([]int{net.vocabulary}, length)
	copy(canvas, given)
	return canvas
}

// fill makes n samples of a canvas.
func fill(t testing.TB, net samplers.Network, m samplers.Method, canvas []int, n int, cfg samplers.Config) (map[uint64]samplers.Result, samplers.Totals) {
	t.Helper()
	cfg.Method = m
	out, totals := lawstest.Collect(t, net, samplers.Copies(canvas, 0, n), cfg)
	if totals.Kept != 0 {
		t.Errorf("%d bytes are kept when all is done", totals.Kept)
	}
	return out, totals
}
