package bound

import (
	"fmt"
	"strings"

	"mdmgen/analysis/laws"
)

// Law is a probability law over sequences: outcome i has the probability P[i].
type Law struct {
	Name     string    `json:"name"`
	Outcomes []string  `json:"outcomes"`
	P        []float64 `json:"p"`
}

// lawOver is a law over sequences, or over states with MASK where p has one for each.
func lawOver(s laws.Space, name string, p []float64) Law {
	out := Law{Name: name, P: p}
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

// Table puts laws beside each other: rows are the sequences without MASK, P has a
// probability for each law in each row, Masked each law's probability of being left with
// a mask.
func Table(list []Law) (rows []string, p [][]float64, masked []float64) {
	at := make(map[string]int)
	masked = make([]float64, len(list))
	for i, law := range list {
		for j, outcome := range law.Outcomes {
			if strings.Contains(outcome, "M") {
				masked[i] += law.P[j]
				continue
			}
			row, ok := at[outcome]
			if !ok {
				row = len(rows)
				at[outcome] = row
				rows, p = append(rows, outcome), append(p, make([]float64, len(list)))
			}
			p[row][i] = law.P[j]
		}
	}
	return rows, p, masked
}
