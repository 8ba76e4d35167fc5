package report

import "testing"

// TestSaid checks names of samplers, N, T and δ in words.
func TestSaid(t *testing.T) {
	t.Parallel()
	for about, want := range map[string]string{
		"": "", "T=6.90776": "T = 6.90776", "delta=0.01": "δ = 0.01", "T=5": "T = 5",
		"euler.N=4": "euler, N = 4", "euler,grid=uniform,delta=0.1.N=2": "euler grid=uniform δ = 0.1, N = 2", "tau-any.paper.N=16": "tau-leaping, the paper’s grid, N = 16", "paper.N=16": "the paper’s grid, N = 16",
		"N=8": "N = 8", "euler,grid=paper.N=8": "euler grid=paper, N = 8", "random-sizes.N=2": "random-sizes, N = 2",
		"parallel-fhs 8": "parallel-fhs, N = 8", "confidence": "confidence",
	} {
		if got := Said(about); got != want {
			t.Errorf("%s: %q, want %q", about, got, want)
		}
	}
}
