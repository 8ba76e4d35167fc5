package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/report"
)

// Tolerances of exact lines, times max(1, |value|): identities between sums and
// quadratures agree to 1e-12 or so, Theorem 5's equality is asked to 1e-9, and the
// integral of Euler's own rates has kinks that are located to 1e-9.
const (
	exactTolerance    = 1e-10
	theorem5Tolerance = 1e-9
	eulerTolerance    = 1e-9
	// rounding is what is shown as 0: it differs between machines.
	rounding = 1e-13
)

// worldLines collects the lines of a world, all of them exact.
type worldLines []report.Line

func (l *worldLines) add(name, statement, unit string, left, right float64) *report.Line {
	if math.Abs(left) <= rounding {
		left = 0
	}
	if math.Abs(right) <= rounding {
		right = 0
	}
	gap := right - left
	if left == right || math.Abs(gap) <= slack(left, right, rounding) {
		gap = 0 // also where both are infinite
	}
	*l = append(*l, report.Line{
		Name: name, Statement: statement, Unit: unit, OK: true,
		Left: report.Exact(left), Right: report.Exact(right), Gap: report.Exact(gap),
	})
	return &(*l)[len(*l)-1]
}

// reported adds a line without a verdict: what is asymptotic, or not claimed.
func (l *worldLines) reported(name, statement, unit string, left, right float64) {
	l.add(name, statement, unit, left, right)
}

// equal adds an identity.
func (l *worldLines) equal(name, statement, unit string, left, right, tolerance float64) {
	line := l.add(name, statement, unit, left, right)
	line.Verdict, line.OK = equally([]float64{line.Gap.Mean}, slack(left, right, tolerance))
	line.Verdict = single(line.Verdict)
}

// single is a verdict about one difference without its count.
func single(verdict string) string {
	verdict, _, _ = strings.Cut(verdict, ", the greatest |D")
	return strings.Replace(strings.Replace(verdict, " on all 1", "", 1), "D_i", "D", 1)
}

// below adds an inequality left ≤ right. Where it was checked on several cases, of which
// the sides are one, gaps are right − left of them all.
func (l *worldLines) below(name, statement, unit string, left, right, tolerance float64, gaps ...float64) {
	line := l.add(name, statement, unit, left, right)
	if len(gaps) == 0 {
		gaps = []float64{line.Gap.Mean}
	}
	limit := slack(left, right, tolerance)
	line.Verdict, line.OK = exactly(gaps, limit)
	if len(gaps) == 1 {
		line.Verdict = single(line.Verdict)
	}
	switch least := slices.Min(gaps); {
	case !line.OK:
	case least > limit:
		line.Verdict += ", strictly"
	case slices.Max(gaps) <= limit:
		line.Verdict += fmt.Sprintf(", equal within %.0e", limit)
	}
}

// slack is the tolerance times max(1, |value|).
func slack(left, right, tolerance float64) float64 {
	size := 1.0
	for _, x := range []float64{left, right} {
		if !math.IsInf(x, 0) {
			size = max(size, math.Abs(x))
		}
	}
	return tolerance * size
}

// hold says whether every line is OK.
func (l worldLines) hold() bool {
	for _, line := range l {
		if !line.OK {
			return false
		}
	}
	return true
}
