package oracle

import (
	"fmt"
	"math"
	"slices"

	"mdmgen/samplers/schedule"
)

// lattice is the number of steps between the masked fractions of best grids.
const lattice = 400

// profile is the field "profile".
func (r *more) profile() object {
	n := r.in.get(r.doc, "profile")
	out := object{"loss_by_visible_count": r.c}
	sizes, curve, grids := list{}, list{}, list{}
	for _, n := range r.in.list(n, "best_sizes") {
		count := r.in.integer(n, "N", 1, r.w.D)
		best := r.bestSizes(count, numbersOf(n.fields["sizes"]))
		sizes = append(sizes, object{"N": given{}, "sizes": best, "plan_nelbo": schedule.SizesCost(r.c, best)})
	}
	for _, n := range r.in.list(n, "loss_curve") {
		lambda := r.in.number(n, "masked_fraction", 0, 1)
		curve = append(curve, object{"masked_fraction": given{}, "loss": r.loss(lambda)})
	}
	for _, n := range r.in.list(n, "best_grids") {
		count := r.in.integer(n, "N", 1, lattice)
		if r.in.err != nil {
			break
		}
		best := r.bestGrid(count, lattice, numbersOf(n.fields["masked_fractions"]))
		cost := latticeCost(r.w.D, r.loss, best)
		r.found.add("best_grid_value", math.Abs(cost-r.w.Run(r.tweedie(best)).PlanNELBO))
		grids = append(grids, object{"N": given{}, "masked_fractions": best, "plan_nelbo": cost})
	}
	out["best_sizes"], out["loss_curve"], out["best_grids"] = sizes, curve, grids
	return out
}

// numbersOf are the numbers of a list; nil where it is no list of numbers.
func numbersOf(n *node) []float64 {
	if n == nil || !n.isList() {
		return nil
	}
	out := make([]float64, len(n.list))
	for i, item := range n.list {
		x, ok := item.value.(float64)
		if !ok {
			return nil
		}
		out[i] = x
	}
	return out
}

// bestSizes are the n sizes of least cost. Where several are as good, as all are where
// tokens are independent, the file's choice is taken.
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

// bestGrid are the masked fractions of least cost on the lattice i/points, the file's
// where it is as good.
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

// tweedie is Tweedie's law of reveals on masked fractions that fall.
func (r *more) tweedie(lambda []float64) schedule.Steps {
	g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridLambdaList, List: lambda})
	if err == nil {
		var s schedule.Steps
		if s, err = schedule.NewSteps(schedule.RuleTweedie, schedule.Exp, g); err == nil {
			return s
		}
	}
	r.in.fail("%w", err)
	return schedule.Steps{Grid: schedule.Grid{Theta: []float64{0}, Lambda: []float64{0}}, Stay: []float64{1}}
}

// schedule is the masked fractions that a named schedule has; the file's own where the
// name is another. settings gets what the file must have.
func (r *more) schedule(s *node, settings object) []float64 {
	file := r.in.numbers(s, "masked_fractions", 0, 1)
	n := len(file) - 1
	name := ""
	if text := s.fields["schedule"]; text != nil {
		name = r.in.text(s, "schedule")
	}
	settings["masked_fractions"] = given{}
	if n < 1 {
		r.in.fail("field %q: must hold at least 2", "masked_fractions")
	}
	if r.in.err != nil {
		return []float64{1, 0}
	}
	kind := schedule.GridKind(name)
	var own []float64
	switch points, isProfile := r.profileSchedule(name); {
	case slices.Contains([]schedule.GridKind{schedule.GridLambda, schedule.GridCos2, schedule.GridCosine}, kind):
		g, err := schedule.NewGrid(schedule.GridSpec{Kind: kind, T: math.Inf(1), Steps: n})
		if err != nil {
			r.in.fail("%w", err)
			return file
		}
		own = g.Lambda
	case name == "log_reveal_odds" && n > 2 && r.w.D > 2:
		own = logRevealOdds(r.w.D, n)
	case isProfile && n <= points:
		own = r.bestGrid(n, points, file)
	case r.in.err != nil:
		return []float64{1, 0}
	default:
		return file
	}
	settings["masked_fractions"] = own
	return own
}

// mostPoints bounds the lattice that is searched.
const mostPoints = 1000

// profileSchedule reads "profile", which is on the usual lattice, and "profile (lattice 1/400)".
func (r *more) profileSchedule(name string) (points int, ok bool) {
	if name == "profile" {
		return lattice, true
	}
	if _, err := fmt.Sscanf(name, "profile (lattice 1/%d)", &points); err != nil {
		return 0, false
	}
	if points < 1 || points > mostPoints {
		r.in.fail("schedule %.60q: the lattice must have 1 to %d steps", name, mostPoints)
		return 0, false
	}
	return points, true
}

// logRevealOdds has the odds (1−λ)/λ of N−1 masked fractions in geometric progression, from λ = 1−1/d to
// 1/d, and 1 and 0 at the ends.
func logRevealOdds(d, n int) []float64 {
	out := []float64{1}
	for i := range n - 1 {
		odds := math.Pow(float64(d-1), 2*float64(i)/float64(n-2)-1)
		out = append(out, 1/(1+odds))
	}
	return append(out, 0)
}
