package bound

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/theory"
	"mdmgen/internal/plainjson"
)

// The files of tables. Their reference values are compared by package verify; here only
// what a table is asked for is read, and the answers are put beside what the paper
// says.
const (
	theorem3Schema = "mdm-laws-theorem3/1"
	scalingSchema  = "mdm-laws-scaling/1"
	gumbelSchema   = "mdm-laws-gumbel/1"
)

// maxRows bounds the rows of a table.
const maxRows = 10000

// tableReport works out a table.
func tableReport(ctx context.Context, schema string, data []byte, dir string) (Report, error) {
	var l worldLines
	var notes []string
	var plots []Plot
	var err error
	switch schema {
	case theorem3Schema:
		notes, err = l.theorem3Table(ctx, data)
	case scalingSchema:
		notes, plots, err = l.scalingTable(ctx, data, dir)
	default:
		notes, err = l.gumbelTable(ctx, data)
	}
	if err == nil && len(l) == 0 {
		err = errors.New("the table has no rows")
	}
	r := l.report(append([]string{"Every number is worked out from the table's own settings; its values are not read. mdmgen verify compares them."}, notes...))
	r.Plots = plots
	return r, err
}

// inRange says why a number of a table's row cannot be used.
func inRange(field string, i int, name string, x, least, most float64) error {
	if x >= least && x <= most {
		return nil
	}
	return fmt.Errorf("field %q: row %d: %s is %v: must be in %v..%v", field, i, name, x, least, most)
}

// theorem3Table is the file of Theorem 3's counts.
func (l *worldLines) theorem3Table(ctx context.Context, data []byte) ([]string, error) {
	type row struct {
		Construction string
		D            int
		Eps, T       float64
	}
	var f struct {
		PM []struct {
			Gamma, T float64
			N        int
		} `json:"p_M"`
		Needed     []row `json:"steps_needed"`
		Best       []row `json:"steps_needed_best_T"`
		Sufficient []row `json:"steps_sufficient_theorem1_frozen"`
	}
	if err := plainjson.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	var all []count3
	var ends [3]int
	for k, list := range [][]row{f.Needed, f.Best, f.Sufficient} {
		field := []string{"steps_needed", "steps_needed_best_T", "steps_sufficient_theorem1_frozen"}[k]
		for i, r := range list {
			if k == 2 {
				r.Construction = "frozen"
			} else if r.Construction != "point" && r.Construction != "pairs" {
				return nil, fmt.Errorf("field %q: row %d: construction is %.40q: must be point or pairs", field, i, r.Construction)
			}
			if err := errors.Join(inRange(field, i, "d", float64(r.D), 2, 1e5), inRange(field, i, "eps", r.Eps, 1e-8, 0.5), inRange(field, i, "T", r.T, 0.1, 100)); err != nil {
				return nil, oneLine(err)
			}
			all = append(all, count3{construction: r.Construction, d: r.D, eps: r.Eps, t: r.T})
		}
		ends[k] = len(all)
	}
	if len(all) > maxRows || len(f.PM) > maxRows {
		return nil, fmt.Errorf("more than %d rows", maxRows)
	}
	for i, r := range f.PM {
		if err := errors.Join(inRange("p_M", i, "gamma", r.Gamma, 1e-12, 100), inRange("p_M", i, "T", r.T, 1e-6, 100), inRange("p_M", i, "N", float64(r.N), 1, 1e8)); err != nil {
			return nil, oneLine(err)
		}
	}
	if err := inParallel(ctx, len(all), func(i int) { all[i].work() }); err != nil {
		return nil, err
	}
	for _, r := range all[:ends[0]] {
		l.count3("theorem3."+r.construction, r)
	}
	large := func(rows []count3) (out []count3) {
		for _, r := range rows {
			if r.d >= 100 && r.eps <= 1e-3*(1+1e-12) {
				out = append(out, r)
			}
		}
		return out
	}
	overT := func(r count3) float64 { return float64(r.found.N) / r.t }
	l.fit3("theorem3.", "N/T, d ≥ 100 and ε ≤ 1e-3", large(all[:ends[0]]), overT)
	for _, r := range all[ends[0]:ends[1]] {
		l.count3(fmt.Sprintf("best-T.%s.T=%.4g", r.construction, r.t), r)
	}
	l.fit3("best-T.", "N", all[ends[0]:ends[1]], func(r count3) float64 { return float64(r.found.N) })
	for _, r := range all[ends[1]:] {
		l.count3("frozen", r)
	}
	l.fit3("theorem3.", "N/T", all[ends[1]:], overT)
	for _, r := range f.PM {
		p, exact := theory.ConstantSteps(r.T+r.Gamma, r.Gamma, r.N).Left, theory.ExactMask(r.T, r.Gamma)
		l.reported(fmt.Sprintf("mask.gamma=%.3g.T=%.4g.N=%d", r.Gamma, r.T, r.N),
			"p_M/p_exact − 1 of constant Euler steps beside (κ/2)·log(1/p_exact), its first order in κ (E7: larger terms of the proof cancel)", "ratio",
			p/exact-1, -r.T/float64(r.N)/2*math.Log(exact))
	}
	return []string{
		"Theorem 3's statement holds on pairs of equal tokens, noised for γ = ε^(1/4)/d; its own construction, a point mass, needs about T·√(d/2)·ε^(−1/4) steps.",
		"The lower bound on pairs holds for every grid sampler that reveals each masked position independently with a common probability a step, at finite d and ε. It counts steps, not calls, and does not bind first-hitting, which is exact on pairs in d calls.",
		"Powers of logarithms are not settled by tables.",
	}, nil
}

// oneLine keeps the first line of joined errors.
func oneLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
