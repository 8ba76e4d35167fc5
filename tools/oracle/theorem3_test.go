package oracle

import (
	"math"
	"slices"

	"mdmgen/internal/parallel"
	"mdmgen/internal/reftest"
)

// theorem3Inputs holds what the values of such a file are computed from.
type theorem3Inputs struct {
	Masks []struct {
		Gamma, T float64
		N        int
	} `json:"p_M"`
	Needed     []*countRow `json:"steps_needed"`
	Best       []*countRow `json:"steps_needed_best_T"`
	Sufficient []*countRow `json:"steps_sufficient_theorem1_frozen"`
}

// theorem3File recomputes a file of the layout mdm-laws-theorem3/1: mask probabilities and step
// counts of Theorem 3's constructions.
func theorem3File(m *matcher, f *file) {
	in := inputs[theorem3Inputs](m.t, f)
	for _, r := range in.Needed {
		r.T = horizon3(r.D, r.Eps)
	}
	for _, r := range in.Sufficient {
		r.T = math.Log(2 * float64(r.D) / math.Sqrt(r.Eps))
	}
	all := slices.Concat(in.Needed, in.Best, in.Sufficient)
	parallel.For(len(all), func(i int) { all[i].count() })
	fits := reftest.Must(fitValues(in))(m.t)
	m.match("", f.doc, object{
		"p_M": maskProbabilities(in),
		"steps_needed": tableOf(in.Needed, func(r *countRow) object {
			return object{"T": r.T, "kappa": r.T / float64(r.N), "tv_at_N": r.found.At, "tv_at_N_minus_1": r.found.Before}
		}),
		"steps_needed_best_T":              tableOf(in.Best, func(r *countRow) object { return object{"T": given{}, "tv_at_N": r.found.At} }),
		"steps_sufficient_theorem1_frozen": tableOf(in.Sufficient, func(r *countRow) object { return object{"T": r.T} }),
		"fits":                             fits,
	})
}

// maskProbabilities returns the table of p_M.
func maskProbabilities(in theorem3Inputs) list {
	out := list{}
	for _, row := range in.Masks {
		p := constantSteps(row.T+row.Gamma, row.Gamma, row.N)
		exact, kappa := exactMask(row.T, row.Gamma), row.T/float64(row.N)
		out = append(out, object{
			"gamma": given{}, "T": given{}, "N": given{},
			"kappa": kappa, "p_M": p.Left, "same_step_probability": p.SameStep,
			"mask_exact_ctmc_from_all_mask": exact, "mask_q_gamma": -math.Expm1(-row.Gamma),
			"relative_error":             p.Left/exact - 1,
			"first_order_relative_error": kappa / 2 * -math.Log(exact),
		})
	}
	return out
}

// countRow is a row of a table of step counts.
type countRow struct {
	// Construction is point or pairs; "" in the table of sufficient numbers with frozen rates.
	Construction string
	D            int
	Eps, T       float64
	// N is the file's count, and found the recomputed one: they may differ by one above longCount.
	// The other values of the row, and the fits, are for N, which is checked separately.
	N     int
	found stepCount
}

func (r *countRow) count() {
	var of func(n int) float64
	switch r.Construction {
	case "point":
		distance := pointDistance(r.D, r.Eps, r.T)
		r.found, of = distance.Steps(), distance.Of
	case "pairs":
		distance := pairsDistance(r.D, 2, r.Eps, r.T)
		r.found, of = distance.Steps(), distance.Of
	default:
		var guess int
		of, guess = frozenDistance(r.D, r.Eps, r.T)
		r.found = leastSteps(of, math.Sqrt(r.Eps), guess)
	}
	if n := r.N; r.found.N != n && n > longCount && abs(r.found.N-n) == 1 {
		r.found.At, r.found.Before = of(n), of(n-1)
	}
}

func abs(n int) int { return max(n, -n) }

// tableOf returns the rows of a table; more returns the fields that not all tables have.
func tableOf(rows []*countRow, more func(*countRow) object) list {
	out := list{}
	for _, r := range rows {
		row := more(r)
		row["d"], row["eps"], row["gamma"], row["N"] = given{}, given{}, gamma3(r.D, r.Eps), r.found.N
		out = append(out, row)
	}
	return out
}

// fitValues returns the exponents of N/T, over rows with d ≥ 100 and ε ≤ 1e-3 and over all rows,
// and of N itself at the best T.
func fitValues(in theorem3Inputs) (object, error) {
	out := object{}
	any := func(*countRow) bool { return true }
	large := func(r *countRow) bool { return r.D >= 100 && r.Eps <= 1e-3*(1+1e-12) }
	for _, f := range []struct {
		name   string
		rows   []*countRow
		of     string
		keep   func(*countRow) bool
		divide bool
	}{
		{"point", in.Needed, "point", large, true},
		{"pairs", in.Needed, "pairs", large, true},
		{"point_all", in.Needed, "point", any, true},
		{"pairs_all", in.Needed, "pairs", any, true},
		{"theorem1_frozen", in.Sufficient, "", any, true},
		{"point_best_T_no_division", in.Best, "point", any, false},
		{"pairs_best_T_no_division", in.Best, "pairs", any, false},
	} {
		var d []int
		var eps, y []float64
		for _, r := range f.rows {
			if r.Construction != f.of || !f.keep(r) {
				continue
			}
			n := float64(r.N)
			if f.divide {
				n /= r.T
			}
			d, eps, y = append(d, r.D), append(eps, r.Eps), append(y, n)
		}
		p, err := fitPower(d, eps, y)
		if err != nil {
			return nil, err
		}
		out[f.name] = object{
			"constant": p.Constant, "exponent_d": p.D, "exponent_inverse_eps": p.InverseEps,
			"max_abs_residual_log": p.MaxResidual,
		}
	}
	return out, nil
}
