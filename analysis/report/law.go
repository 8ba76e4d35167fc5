package report

import (
	"slices"
	"strings"
)

// Law is a probability law over sequences: outcome i has the probability P[i].
type Law struct {
	Name     string    `json:"name"`
	Outcomes []string  `json:"outcomes"`
	P        []float64 `json:"p"`
}

// LawTable puts laws beside each other: rows are the sequences without MASK, P has a
// probability for each law in each row, Masked each law's probability of being left with
// a mask.
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

// shownOutcomes is how many sequences of laws have a row on the page.
const shownOutcomes = 256

// lawTable is laws beside each other, a column each.
type lawTable struct {
	Names []string
	Rows  []lawRow
	// More counts the sequences without a row.
	More int
}

type lawRow struct {
	Outcome string
	P       []float64
}

func lawsOf(list []Law) lawTable {
	var out lawTable
	outcomes, p, masked := LawTable(list)
	for _, l := range list {
		out.Names = append(out.Names, l.Name)
	}
	for i, o := range outcomes {
		if i == shownOutcomes {
			out.More = len(outcomes) - i
			break
		}
		out.Rows = append(out.Rows, lawRow{o, p[i]})
	}
	if slices.ContainsFunc(masked, func(x float64) bool { return x != 0 }) {
		out.Rows = append(out.Rows, lawRow{"with masks", masked})
	}
	return out
}
