package bound

import (
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// TestVerdicts checks what is said of numbers, and that nothing is said without them.
func TestVerdicts(t *testing.T) {
	at := func(m, se float64, units int) sampled {
		return func(confidence float64) estimate.Estimate {
			x := make([]float64, units)
			for i := range x {
				// Mean m, standard error se for an even number of units.
				x[i] = m + se*math.Sqrt(float64(units-1))*float64(1-2*(i%2))
			}
			return estimate.Mean(x, confidence)
		}
	}
	few := func(confidence float64) estimate.Estimate { return estimate.Mean([]float64{1}, confidence) }
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		got  func() (string, bool)
		want string
		ok   bool
	}{
		{"exact", func() (string, bool) { return exactly([]float64{0, 1, inf, -1e-11}, 1e-10) }, "holds (exact): D_i ≥ −1e-10 on all 4", true},
		{"exactly below", func() (string, bool) { return exactly([]float64{0, -2e-10}, 1e-10) }, "violated: D_i < −1e-10 on 1 of 2, the least is -2e-10, please report", false},
		{"no number", func() (string, bool) { return exactly([]float64{math.NaN(), 1}, 1e-10) }, "violated: D_i < −1e-10 on 1 of 2, the least is NaN, please report", false},
		{"one", func() (string, bool) { return exactly([]float64{1}, 1e-10) }, "holds (exact): D ≥ −1e-10", true},
		{"equal", func() (string, bool) { return equally([]float64{1e-10, -5e-10}, 1e-9) }, "equal within 1e-09 on all 2, the greatest |D_i| is 5e-10", true},
		{"unequal", func() (string, bool) { return equally([]float64{0, inf}, 1e-9) }, "violated: |D_i| > 1e-09 on 1 of 2, the greatest is +Inf, please report", false},
		{"above", func() (string, bool) { return oneSided(0)(at(1, 0.1, 1000), 1) }, "holds, one-sided 99.9 %", true},
		{"above, of ten", func() (string, bool) { return oneSided(0)(at(1, 0.1, 1000), 10) }, "holds, one-sided 99.9 % over 10 lines", true},
		{"in doubt", func() (string, bool) { return oneSided(0)(at(1, 1, 1000), 1) }, "not resolved: needs n ≈ (3.10·sd/|mean|)² = 9.6e+03", true},
		{"in doubt only among many", func() (string, bool) { return oneSided(0)(at(1, 0.25, 1000), 100) }, "not resolved: needs n ≈ (4.29·sd/|mean|)² = 1.1e+03", true},
		{"below in doubt", func() (string, bool) { return oneSided(0)(at(-1, 1, 1000), 1) }, "not resolved: needs n ≈ (3.10·sd/|mean|)² = 9.6e+03", true},
		{"below", func() (string, bool) { return oneSided(0)(at(-1, 0.1, 1000), 1) }, "violated: mean + 3.10 se < 0, please report", false},
		{"few units", func() (string, bool) { return oneSided(0)(at(1, 0.1, 2), 1) }, "not resolved: needs n ≈ (318.31·sd/|mean|)² = 2e+03", true},
		{"no error", func() (string, bool) { return oneSided(0)(few, 1) }, "not resolved: 1 independent unit: no standard error", true},
		{"same", func() (string, bool) { return twoSided(0)(at(0.1, 0.1, 1000), 1) }, "equal within 0.43, two-sided 99.9 %", true},
		{"other", func() (string, bool) { return twoSided(0)(at(-1, 0.1, 1000), 1) }, "violated: |mean| > 3.30 se, please report", false},
		{"same without error", func() (string, bool) { return twoSided(0)(few, 1) }, "not resolved: 1 independent unit: no standard error", true},
	} {
		if got, ok := test.got(); got != test.want || ok != test.ok {
			t.Errorf("%s: %q, %t, want %q, %t", test.name, got, ok, test.want, test.ok)
		}
	}
}

// TestDraft checks that verdicts count the lines, and that one violation is the report's.
func TestDraft(t *testing.T) {
	for _, violated := range []bool{false, true} {
		d := newDraft("text", 0)
		d.add(report.Line{Name: "plain"}).OK = !violated
		x := []float64{1, 2, 3, 4, 5, 4, 3, 2}
		for _, name := range []string{"a", "b"} {
			d.estimated(d.over(nil).line(name, "", x, x, x), oneSided(0), d.over(nil).sampled(x))
		}
		r := d.finish()
		if r.Holds == violated || !strings.HasSuffix(r.Lines[1].Verdict, "over 2 lines") || r.Lines[0].Verdict != "" || len(r.estimated) != 2 {
			t.Errorf("report %+v", r)
		}
	}
}
