package oracle

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/samplers/schedule"
)

// lattice is the number of steps between the masked fractions of the best grids.
const lattice = 400

// profile returns the expected field "profile".
func (r *more) profile() object {
	sizes, curve, grids := list{}, list{}, list{}
	for _, n := range r.in.Profile.BestSizes {
		best := r.bestSizes(n.N, n.Sizes)
		sizes = append(sizes, object{"N": given{}, "sizes": best, "plan_nelbo": schedule.SizesCost(r.c, best)})
	}
	for _, n := range r.in.Profile.LossCurve {
		curve = append(curve, object{"masked_fraction": given{}, "loss": r.loss(n.Lambda)})
	}
	for _, n := range r.in.Profile.BestGrids {
		best := r.bestGrid(n.N, lattice, n.Lambda)
		cost := latticeCost(r.w.D, r.loss, best)
		r.found.add("best_grid_value", math.Abs(cost-planNELBO(r.t, r.w, r.tweedie(best))))
		grids = append(grids, object{"N": given{}, "masked_fractions": best, "plan_nelbo": cost})
	}
	return object{"loss_by_visible_count": r.c, "best_sizes": sizes, "loss_curve": curve, "best_grids": grids}
}

// bestSizes returns the n sizes of least cost. If several are equally good, as all are for
// independent tokens, it returns the file's choice.
func (r *more) bestSizes(n int, chosen []float64) []int {
	best := bestSizes(r.c, n)
	if len(chosen) != n {
		return best
	}
	sizes, sum := make([]int, n), 0
	for k, x := range chosen {
		if x != math.Trunc(x) || x < 1 || x > float64(r.w.D) {
			return best
		}
		sizes[k] = int(x)
		sum += sizes[k]
	}
	if sum == r.w.D && equallyGood(schedule.SizesCost(r.c, sizes), schedule.SizesCost(r.c, best)) {
		return sizes
	}
	return best
}

// bestGrid returns the masked fractions of least cost on the lattice i/points, or the file's if
// they are equally good.
func (r *more) bestGrid(n, points int, chosen []float64) []float64 {
	best := bestLattice(r.loss, n, points)
	if len(chosen) != n+1 || chosen[0] != 1 || chosen[n] != 0 {
		return best
	}
	snapped := make([]float64, n+1)
	for k, x := range chosen {
		snapped[k] = math.Round(x*float64(points)) / float64(points)
		if math.Abs(x-snapped[k]) > 1e-12 || k > 0 && !(snapped[k] < snapped[k-1]) {
			return best
		}
	}
	if equallyGood(latticeCost(r.w.D, r.loss, snapped), latticeCost(r.w.D, r.loss, best)) {
		return snapped
	}
	return best
}

func equallyGood(cost, least float64) bool { return cost == least || cost <= least+tie*max(1, least) }

// schedule returns the masked fractions of a named schedule, or the file's own if the name is
// unknown.
func (r *more) schedule(s moreSettings) []float64 {
	n, points := len(s.Lambda)-1, 0
	switch _, err := fmt.Sscanf(s.Schedule, "profile (lattice 1/%d)", &points); {
	case err == nil:
		return r.bestGrid(n, points, s.Lambda)
	case s.Schedule == "profile":
		return r.bestGrid(n, lattice, s.Lambda)
	case s.Schedule == "log_reveal_odds" && n > 2 && r.w.D > 2:
		return logRevealOdds(r.w.D, n)
	}
	kind := schedule.GridKind(s.Schedule)
	if slices.Contains([]schedule.GridKind{schedule.GridLambda, schedule.GridCos2, schedule.GridCosine}, kind) {
		return lawstest.Grid(r.t, schedule.GridSpec{Kind: kind, T: math.Inf(1), Steps: n}).Lambda
	}
	return s.Lambda
}

// logRevealOdds returns N−1 masked fractions with their odds (1−λ)/λ in geometric progression, from
// λ = 1−1/d to 1/d, with 1 and 0 at the ends.
func logRevealOdds(d, n int) []float64 {
	out := []float64{1}
	for i := range n - 1 {
		odds := math.Pow(float64(d-1), 2*float64(i)/float64(n-2)-1)
		out = append(out, 1/(1+odds))
	}
	return append(out, 0)
}
