package report

import "strings"

// Law is a probability law over sequences: outcome i has probability P[i].
type Law struct {
	Name     string    `json:"name"`
	Outcomes []string  `json:"outcomes"`
	P        []float64 `json:"p"`
}

// LawTable tabulates laws: rows are the sequences without MASK, p has a probability for each law in
// each row, and masked each law's probability of a remaining mask.
func LawTable(list []Law) (rows []string, p [][]float64, masked []float64) {
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
