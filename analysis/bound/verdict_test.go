package bound

import (
	"math"
	"testing"

	"mdmgen/analysis/report"
)

// TestVerdicts checks the verdicts on numbers, and that there is none without numbers.
func TestVerdicts(t *testing.T) {
	out := newDraft("text", 0).over(nil)
	oneSided := func(m, se float64, units int) func() report.Judgement {
		return func() report.Judgement { return out.oneSided(around(m, se, units)) }
	}
	same := func(m, se float64, units int) func() report.Judgement {
		return func() report.Judgement { return out.same(around(m, se, units)) }
	}
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		got  func() report.Judgement
		want string
		ok   bool
	}{
		{"exact", func() report.Judgement { return exactly([]float64{0, 1, inf, -1e-11}, 1e-10) }, "holds (exact): D_i ≥ −1e-10 on all 4", true},
		{"exactly below", func() report.Judgement { return exactly([]float64{0, -2e-10}, 1e-10) }, "violated: D_i < −1e-10 on 1 of 2, the least is -2e-10, please report", false},
		{"no number", func() report.Judgement { return exactly([]float64{math.NaN(), 1}, 1e-10) }, "violated: D_i < −1e-10 on 1 of 2, the least is NaN, please report", false},
		{"one", func() report.Judgement { return exactly([]float64{1}, 1e-10) }, "holds (exact): D ≥ −1e-10", true},
		{"equal", func() report.Judgement { return equally([]float64{1e-10, -5e-10}, 1e-9) }, "equal within 1e-09 on all 2, the greatest |D_i| is 5e-10", true},
		{"unequal", func() report.Judgement { return equally([]float64{0, inf}, 1e-9) }, "violated: |D_i| > 1e-09 on 1 of 2, the greatest is +Inf, please report", false},
		{"above", oneSided(1, 0.1, 1000), "holds, one-sided 99.9 %", true},
		{"in doubt", oneSided(1, 1, 1000), "not resolved: needs n ≈ (3.30·sd/|mean|)² = 1.1e+04", true},
		{"below in doubt", oneSided(-1, 1, 1000), "not resolved: needs n ≈ (3.30·sd/|mean|)² = 1.1e+04", true},
		{"below", oneSided(-1, 0.1, 1000), "violated: mean + 3.30 se < 0, please report", false},
		{"few units", oneSided(1, 0.1, 2), "not resolved: needs n ≈ (636.62·sd/|mean|)² = 8.1e+03", true},
		{"same", same(0.1, 0.1, 1000), "equal within 0.45, the error of both estimates at 99.9 %", true},
		{"the same below", same(-0.3, 0.1, 1000), "equal within 0.65, the error of both estimates at 99.9 %", true},
		{"more", same(0.4, 0.1, 1000), "violated: |mean| > 3.49 se, please report", false},
		{"less", same(-0.4, 0.1, 1000), "violated: |mean| > 3.49 se, please report", false},
		{"not the same among few", same(0.4, 0.1, 4), "equal within 2, the error of both estimates at 99.9 %", true},
		{"same up to rounding", same(1e-11, 0, 10), "equal within 1e-11, the error of both estimates at 99.9 %", true},
		{"same of one", same(1, 0, 1), "not resolved: 1 independent unit has no standard error: at least 2 are needed", true},
		{"no error", oneSided(1, 0, 1), "not resolved: 1 independent unit has no standard error: at least 2 are needed", true},
	} {
		if got := test.got(); got.Verdict != test.want || got.OK != test.ok {
			t.Errorf("%s: %q, %t, want %q, %t", test.name, got.Verdict, got.OK, test.want, test.ok)
		}
	}
}

// around returns units values with mean m and, if units is even, standard error se.
func around(m, se float64, units int) []float64 {
	x := make([]float64, units)
	for i := range x {
		x[i] = m + se*math.Sqrt(float64(units-1))*float64(1-2*(i%2))
	}
	return x
}

// TestDraft checks that one violation makes the report fail.
func TestDraft(t *testing.T) {
	for _, ok := range []bool{false, true} {
		d := newDraft("text", 0)
		d.add(report.Line{Name: "plain"}).OK = ok
		d.add(report.Line{Name: "other"})
		if r := d.finish(); r.Holds != ok || len(r.Lines) != 2 {
			t.Errorf("report %+v", r)
		}
	}
}
