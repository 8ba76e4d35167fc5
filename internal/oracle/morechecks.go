package oracle

import (
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/schedule"
)

// differences are the largest differences between two ways to the same value, by the
// name of the check.
type differences map[string]float64

func (d *differences) add(name string, x float64) {
	if *d == nil {
		*d = make(differences)
	}
	if old, seen := (*d)[name]; !seen || x > old {
		(*d)[name] = x
	}
}

// between adds the largest difference of two lists of equal length.
func (d *differences) between(name string, a, b []float64) {
	d.add(name, 0)
	for i := range a {
		if a[i] != b[i] {
			d.add(name, math.Abs(a[i]-b[i]))
		}
	}
}

// Names of checks that a file may have. Those that are not recomputed say how the file was
// made, not what is in it.
var (
	moreCheckNames = []string{"mass", "dmpm_expm", "dmpm_frozen_tv", "fhs_limit", "truncated_tau_is_tweedie", "profile", "profile_sum_is_nelbo",
		"fhs_blocks_of_one", "loss_curve_integral_is_nelbo", "best_grid_value", "eb_replay"}
	worldCheckNames = []string{"fhs_two_methods_max_difference", "fhs_law_sum_minus_one", "nelbo_four_forms_max_difference", "score_entropy_two_quadratures_difference",
		"proposition2_residual", "entropy_sum_minus_entropy", "laws_vs_subset_dp_max_difference", "laws_vs_ordered_partitions_max_difference",
		"laws_sum_minus_one_max", "importance_weighted_two_methods_max_difference"}
)

// checks returns the names of a file's checks, of which none may be unknown.
func (in *inputs) checks(doc *node, known []string) []string {
	n := doc.fields["checks"]
	if n == nil {
		return nil
	}
	if !n.isObject() {
		in.fail("field %q is %s: must be an object", "checks", n.words())
		return nil
	}
	for _, name := range n.names {
		if !slices.Contains(known, name) {
			in.fail("field %q: no check is called %.60q: must be of %s", "checks", name, strings.Join(known, ", "))
		}
	}
	return n.names
}

// checks are recomputed where the file has them: what is found there is rounding.
func (r *more) checks() any {
	names := r.in.checks(r.doc, moreCheckNames)
	if names == nil || r.in.err != nil {
		return exempt{}
	}
	nelbo := r.w.NELBO()
	r.found.between("fhs_limit", r.w.OnSequences(r.w.ExactChain(-math.Expm1(-700), 0)), r.fhs)
	r.found.between("fhs_blocks_of_one", r.w.ParallelLaw(slices.Repeat([]int{1}, r.w.D)), r.fhs)
	terms := nelbo.TermsByK
	if n := r.world.fields["nelbo"]; n != nil && n.isObject() {
		if own := numbersOf(n.fields["expected_terms_by_k"]); len(own) == r.w.D {
			terms = own
		}
	}
	terms = slices.Clone(terms)
	slices.Reverse(terms)
	r.found.between("profile", r.c, terms)
	r.found.between("profile_sum_is_nelbo", []float64{total(r.c)}, []float64{nelbo.Expected})
	r.found.between("loss_curve_integral_is_nelbo", []float64{lossIntegral(r.w)}, []float64{nelbo.Expected})
	out := object{}
	for _, name := range names {
		if x, ok := r.found[name]; ok {
			out[name] = x
		} else {
			out[name] = exempt{}
		}
	}
	return out
}

// dmpmChecks compares DMPM's law with matrix exponentials and with what the world's own
// file says of the frozen process on the same grid.
func (r *more) dmpmChecks(g schedule.Grid, law []float64, s *node) {
	r.found.between("dmpm_expm", law, frozenSeries(r.w, g))
	name := s.fields["grid"]
	bounds := r.world.fields["theorem1"]
	if name == nil || bounds == nil {
		return
	}
	for _, n := range bounds.list {
		if !n.isObject() || n.fields["grid"] == nil || n.fields["grid"].value != name.value || n.fields["frozen_tv"] == nil {
			continue
		}
		if own, ok := n.fields["frozen_tv"].value.(float64); ok {
			r.found.add("dmpm_frozen_tv", math.Abs(own-laws.TV(law, r.w.Marginal(g.Theta[g.Steps()]))))
		}
	}
}

// truncatedTauCheck compares truncated τ-leaping of normalised scores with Tweedie.
func (r *more) truncatedTauCheck(g schedule.Grid) {
	v, err := scoredLaw(r.w, scoreTruncatedTau, g, func(int, int) float64 { return 1 })
	if err != nil {
		r.in.fail("%w", err)
		return
	}
	steps, err := schedule.NewSteps(schedule.RuleTweedie, schedule.Exp, g)
	if err != nil {
		r.in.fail("%w", err)
		return
	}
	r.found.between("truncated_tau_is_tweedie", v.Law, r.w.GridLaw(steps))
}
