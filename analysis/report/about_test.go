package report

import "testing"

// TestAbout: a line is named by its sampler, N, T or δ in words, and by nothing that its statement has.
func TestAbout(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"theorem4": "", "theorem4.pointwise": "", "nelbo.lambda": "", "lemma3.bound.T=6.90776": "T = 6.90776", "early-stopping.delta=0.01": "δ = 0.01",
		"kl.euler.N=4": "euler, N = 4", "collision.euler,grid=uniform,delta=0.1.N=2.tv": "euler grid=uniform δ = 0.1, N = 2", "tv.tau-any.paper.N=16": "tau-leaping, the paper’s grid, N = 16", "assumption1.paper.N=16": "the paper’s grid, N = 16", "lemma3.T=5": "T = 5",
		"theorem1.euler.N=8": "N = 8", "theorem1.euler.euler,grid=paper.N=8": "euler grid=paper, N = 8", "share.dual.random-sizes.N=2": "random-sizes, N = 2",
		"excess parallel-fhs 8": "parallel-fhs, N = 8", "certificate_tv confidence": "confidence", "reference_kl.mixture": "",
	} {
		if got := about(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
