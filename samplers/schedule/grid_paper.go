package schedule

import (
	"math"

	"mdmgen/internal/fault"
)

// The paper's grid has steps η_k = κ·min(1, θ_k): constant down to θ = 1, then θ ← (1−κ)θ. It does
// not hit δ by itself, so there are two ways to end it: if κ is given, the last step is cut at δ;
// if N is given, κ is chosen such that θ_N = δ.

// paperFromKappa runs the grid for a given κ in (0,1] and cuts the last step.
func paperFromKappa(s GridSpec) (Grid, error) {
	if !(s.Kappa > 0 && s.Kappa <= 1) {
		return Grid{}, fault.Errorf("schedule", "kappa is %v: must be in (0,1]", s.Kappa)
	}
	if s.Steps != 0 {
		return Grid{}, fault.Errorf("schedule", "both kappa and a number of steps: give one of them")
	}
	if err := paperEnds(s); err != nil {
		return Grid{}, err
	}
	if n := (s.T + math.Log(max(1/s.Delta, 1))) / s.Kappa; n > MaxSteps {
		return Grid{}, fault.Errorf("schedule", "kappa is %v: about %.3g steps, more than %d", s.Kappa, n, MaxSteps)
	}
	g := Grid{Kind: s.Kind, Kappa: s.Kappa}
	for theta := s.T; ; theta -= s.Kappa * min(1, theta) {
		theta = max(theta, s.Delta)
		g.Theta = append(g.Theta, theta)
		g.Lambda = append(g.Lambda, LambdaOf(theta))
		if theta == s.Delta {
			return g.close(s)
		}
	}
}

// paperFromSteps finds κ by bisection: θ_N decreases strictly with κ on (0, 1−δ]. If even κ = 1−δ
// does not reach δ, N is too small for the paper's grid, and the grid is uniform in θ.
func paperFromSteps(s GridSpec) (Grid, error) {
	if err := paperEnds(s); err != nil {
		return Grid{}, err
	}
	last := func(kappa float64) float64 {
		theta := s.T
		for range s.Steps {
			theta -= kappa * min(1, theta)
		}
		return theta
	}
	g := newGrid(s, s.Steps)
	if hi := 1 - s.Delta; hi > 0 && last(hi) <= s.Delta {
		lo := 0.0
		for mid := hi / 2; mid > lo && mid < hi; mid = lo + (hi-lo)/2 {
			if last(mid) > s.Delta {
				lo = mid
			} else {
				hi = mid
			}
		}
		g.Kappa = hi
	}
	theta := s.T
	for k := range g.Theta {
		if g.Kappa == 0 {
			theta = s.T - (s.T-s.Delta)*float64(k)/float64(s.Steps)
		}
		g.Theta[k], g.Lambda[k] = theta, LambdaOf(theta)
		theta -= g.Kappa * min(1, theta)
	}
	return g.close(s)
}

// minDelta keeps the last steps, κ·δ, from underflowing float64.
const minDelta = 1e-290

func paperEnds(s GridSpec) error {
	if math.IsInf(s.T, 1) || s.Delta < minDelta {
		return fault.Errorf("schedule", "T is %v and delta is %v: the paper's grid needs a finite T and a positive delta, at least %v", s.T, s.Delta, minDelta)
	}
	return nil
}
