package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
)

// verdicts are how verdicts begin, and what they mean.
var verdicts = []Fact{
	{"holds (exact)", "every number is exact up to rounding, and right − left, D, is not below the named limit; D_i are those of windows or sequences"},
	{"holds (quadrature)", "the same, but for the named error of an integral"},
	{"holds, one-sided", "both sides are estimates, and the interval of right − left is above 0; the probability is for all such lines of the page together"},
	{"equal within", "both sides are the same number, computed in two ways"},
	{"not resolved", "the samples cannot tell; the line names how many would, or what they show all the same"},
	{"violated", "the numbers contradict the statement; for a theorem that is a defect of the program"},
}

// lineWords explain what lines have: the signs of their values and their verdicts.
func lineWords(lines []Line) (out []Fact) {
	word := func(name, text string, has func(Line) bool) {
		if slices.ContainsFunc(lines, has) {
			out = append(out, Fact{name, text})
		}
	}
	some := func(is func(Value) bool) func(Line) bool {
		return func(l Line) bool { return is(l.Left) || is(l.Right) || is(l.Gap) }
	}
	confidence := estimate.DefaultConfidence
	for _, l := range lines {
		if c := l.Left.Confidence; c > 0 {
			confidence = c
		}
	}
	word("[a, b]", fmt.Sprintf("a %s %% interval of the number before it", label(100*confidence)), some(func(v Value) bool { return !v.Exact && strings.Contains(v.String(), "[") }))
	word("≤, ≥", "the number is itself a bound on what is named", some(func(v Value) bool { return v.Bound != "" && !math.IsNaN(v.Mean) }))
	for _, v := range verdicts {
		word(v.Name, v.Text, func(l Line) bool { return strings.HasPrefix(l.Verdict, v.Name) })
	}
	word("no verdict", "for information: the statement hides a constant, holds in a limit only, or is no theorem for this sampler", func(l Line) bool { return l.OK && l.Verdict == "" })
	return out
}
