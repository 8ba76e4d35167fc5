package bound

import (
	"fmt"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
)

// lawOver is a law over sequences, or over states with MASK where p has one for each.
func lawOver(s laws.Space, name string, p []float64) report.Law {
	out := report.Law{Name: name, P: p}
	if len(p) == s.States {
		for x := range p {
			out.Outcomes = append(out.Outcomes, outcome(s, x))
		}
		return out
	}
	for i := range p {
		out.Outcomes = append(out.Outcomes, strings.Trim(fmt.Sprint(s.Sequence(i)), "[]"))
	}
	return out
}

// outcome writes a state, MASK as M.
func outcome(s laws.Space, x int) string {
	tokens := make([]string, s.D)
	for l := range tokens {
		if tokens[l] = fmt.Sprint(s.Token(x, l)); s.Token(x, l) == s.V {
			tokens[l] = "M"
		}
	}
	return strings.Join(tokens, " ")
}
