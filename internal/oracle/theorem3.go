package oracle

import (
	"context"
	"math"
	"runtime"
	"sync"

	"mdmgen/analysis/theory"
)

// theorem3File recomputes a file of the layout mdm-laws-theorem3/1: mask probabilities and
// step counts of Theorem 3's constructions.
func theorem3File(ctx context.Context, f file, m *matcher) error {
	in := inputs{ctx: ctx}
	want := object{"p_M": maskProbabilities(f.doc, &in)}
	needed := readCounts(f.doc, "steps_needed", &in, true)
	best := readCounts(f.doc, "steps_needed_best_T", &in, true)
	sufficient := readCounts(f.doc, "steps_sufficient_theorem1_frozen", &in, false)
	for i := range needed {
		needed[i].t = theory.Horizon3(needed[i].d, needed[i].eps)
	}
	for i := range sufficient {
		sufficient[i].t = math.Log(2 * float64(sufficient[i].d) / math.Sqrt(sufficient[i].eps))
	}
	if in.err != nil {
		return in.err
	}
	all := make([]*countRow, 0, len(needed)+len(best)+len(sufficient))
	for _, rows := range [][]countRow{needed, best, sufficient} {
		for i := range rows {
			all = append(all, &rows[i])
		}
	}
	inParallel(len(all), func(i int) {
		if ctx.Err() == nil {
			all[i].count()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}

	want["steps_needed"] = tableOf(needed, func(r countRow) object {
		return object{"T": r.t, "kappa": r.t / float64(r.tabled), "tv_at_N": r.found.At, "tv_at_N_minus_1": r.found.Before}
	})
	want["steps_needed_best_T"] = tableOf(best, func(r countRow) object { return object{"T": given{}, "tv_at_N": r.found.At} })
	want["steps_sufficient_theorem1_frozen"] = tableOf(sufficient, func(r countRow) object { return object{"T": r.t} })
	fits, err := fitValues(needed, best, sufficient)
	if err != nil {
		return err
	}
	want["fits"] = fits
	return m.match("", f.doc, want)
}

// maskProbabilities is the table of p_M.
func maskProbabilities(doc *node, in *inputs) list {
	out := list{}
	rows := in.list(doc, "p_M")
	if len(rows) == 0 {
		in.fail("field \"p_M\": has no rows to compare")
	}
	for _, n := range rows {
		gamma, t := in.number(n, "gamma", 1e-12, 100), in.number(n, "T", 1e-6, 100)
		steps := in.integer(n, "N", 1, 1e8)
		if in.err != nil {
			return nil
		}
		p := theory.ConstantSteps(t+gamma, gamma, steps)
		exact, kappa := exactMask(t, gamma), t/float64(steps)
		out = append(out, object{
			"gamma": given{}, "T": given{}, "N": given{},
			"kappa": kappa, "p_M": p.Left, "same_step_probability": p.SameStep,
			"mask_exact_ctmc_from_all_mask": exact, "mask_q_gamma": -math.Expm1(-gamma),
			"relative_error":             p.Left/exact - 1,
			"first_order_relative_error": kappa / 2 * -math.Log(exact),
		})
	}
	return out
}

// countRow is a row of a table of step counts.
type countRow struct {
	construction string
	d            int
	eps, t       float64
	// found is the count, and tabled the file's: they may differ by one above longCount. What else the row and the fits say
	// is about tabled, which is checked by itself.
	found  theory.Count
	tabled int
}

func readCounts(doc *node, name string, in *inputs, constructed bool) []countRow {
	var out []countRow
	for _, n := range in.list(doc, name) {
		r := countRow{construction: "frozen", d: in.integer(n, "d", 2, 1e5), eps: in.number(n, "eps", 1e-8, 0.5), tabled: in.integer(n, "N", 1, 1e9)}
		if constructed {
			r.construction = in.text(n, "construction")
			if r.construction != "point" && r.construction != "pairs" {
				in.fail("field %q: construction %.40q is not known", name, r.construction)
			}
		}
		r.t = in.number(n, "T", 0.1, 100)
		out = append(out, r)
	}
	return out
}

func (r *countRow) count() {
	var of func(n int) float64
	switch r.construction {
	case "point":
		distance := theory.PointDistance(r.d, r.eps, r.t)
		r.found, of = distance.Steps(), distance.Of
	case "pairs":
		distance := theory.PairsDistance(r.d, 2, r.eps, r.t)
		r.found, of = distance.Steps(), distance.Of
	default:
		var guess int
		of, guess = frozenDistance(r.d, r.eps, r.t)
		r.found = theory.LeastSteps(of, math.Sqrt(r.eps), guess)
	}
	if n := r.tabled; r.found.N != n && n > longCount && abs(r.found.N-n) == 1 {
		r.found.At, r.found.Before = of(n), of(n-1)
	}
}

func abs(n int) int { return max(n, -n) }

// tableOf are the rows of a table; more has what not all tables have.
func tableOf(rows []countRow, more func(countRow) object) list {
	out := list{}
	for _, r := range rows {
		row := more(r)
		row["d"], row["eps"], row["gamma"], row["N"] = given{}, given{}, theory.Gamma3(r.d, r.eps), r.found.N
		out = append(out, row)
	}
	return out
}

// fitValues are the exponents of N/T, over rows with d ≥ 100 and ε ≤ 1e-3 and over all,
// and of N itself at the best T.
func fitValues(needed, best, sufficient []countRow) (object, error) {
	out := object{}
	any := func(countRow) bool { return true }
	large := func(r countRow) bool { return r.d >= 100 && r.eps <= 1e-3*(1+1e-12) }
	for _, f := range []struct {
		name   string
		rows   []countRow
		of     string
		keep   func(countRow) bool
		divide bool
	}{
		{"point", needed, "point", large, true},
		{"pairs", needed, "pairs", large, true},
		{"point_all", needed, "point", any, true},
		{"pairs_all", needed, "pairs", any, true},
		{"theorem1_frozen", sufficient, "frozen", any, true},
		{"point_best_T_no_division", best, "point", any, false},
		{"pairs_best_T_no_division", best, "pairs", any, false},
	} {
		var d []int
		var eps, y []float64
		for _, r := range f.rows {
			if r.construction != f.of || !f.keep(r) {
				continue
			}
			n := float64(r.tabled)
			if f.divide {
				n /= r.t
			}
			d, eps, y = append(d, r.d), append(eps, r.eps), append(y, n)
		}
		p, err := theory.FitPower(d, eps, y)
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

// inParallel calls do for 0..n−1, the last first, on all processors.
func inParallel(n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := n - 1; i >= 0; i-- {
		next <- i
	}
	close(next)
	wg.Wait()
}
