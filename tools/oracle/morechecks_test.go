package oracle

import (
	"math"
	"slices"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/schedule"
)

// differences maps the names of checks to the largest difference between two ways to compute a
// value.
type differences map[string]float64

func (d differences) add(name string, x float64) { d[name] = max(d[name], x) }

// between adds the largest difference between two lists of equal length.
func (d differences) between(name string, a, b []float64) {
	d.add(name, 0)
	for i := range a {
		if a[i] != b[i] {
			d.add(name, math.Abs(a[i]-b[i]))
		}
	}
}

// moreChecks lists the names of checks that a file may have. Those that are not recomputed describe
// how the file was made, not its contents.
var moreChecks = []string{"mass", "dmpm_expm", "dmpm_frozen_tv", "fhs_limit", "fhs_blocks_of_one", "eb_replay"}

// checks returns the recomputed checks that the file has. Their values are rounding errors.
func (r *more) checks() any {
	has, _ := r.doc["checks"].(map[string]any)
	if has == nil {
		return exempt{}
	}
	r.found.between("fhs_limit", r.w.OnSequences(exactChain(r.w, r.model, -math.Expm1(-700), 0)), r.fhs)
	r.found.between("fhs_blocks_of_one", parallelLaw(r.w, r.model, slices.Repeat([]int{1}, r.w.D)), r.fhs)
	out := object{}
	r.skip(has, out)
	for _, name := range moreChecks {
		x, found := r.found[name]
		if _, there := has[name]; there && found {
			out[name] = x
		} else {
			out[name] = exempt{}
		}
	}
	return out
}

// dmpmChecks compares DMPM's law with matrix exponentials, and with the values of the world's own
// file for the frozen process on the same grid.
func (r *more) dmpmChecks(g schedule.Grid, law []float64, grid string) {
	r.found.between("dmpm_expm", law, frozenSeries(r.w, g))
	own := inputs[struct {
		Theorem1 []struct {
			Grid string
			TV   float64 `json:"frozen_tv"`
		}
	}](r.t, r.world)
	for _, row := range own.Theorem1 {
		if row.Grid == grid {
			r.found.add("dmpm_frozen_tv", math.Abs(row.TV-laws.TV(law, r.w.Marginal(g.Theta[g.Steps()]))))
		}
	}
}
