package bench

import (
	"fmt"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
)

// Gain sets a cell beside another: sampling errors on the same texts of first-hitting and
// times of the same rounds are subtracted, or divided, pair by pair, so that what both share
// is in no interval.
type Gain struct {
	// Cell and Than are the cells' IDs.
	Cell string `json:"cell"`
	Than string `json:"than"`
	// Calls are the expected network calls of Cell and of Than over the window of the
	// sampling errors, finishing calls included; nil where no plan tells them.
	Calls *[2]float64 `json:"calls,omitempty"`
	// TV and KL are those of Cell less those of Than, nil where they were not measured.
	TV *estimate.Estimate `json:"tv,omitempty"`
	KL *estimate.Estimate `json:"kl,omitempty"`
	// Seconds is the ratio of times, the geometric mean over rounds, nil before the first.
	Seconds *estimate.Estimate `json:"seconds_ratio,omitempty"`
}

// between is what separates the two cells of a pair.
const between = " vs "

// ParsePair reads "CELL vs CELL", both as [Match] reads them, and returns their IDs.
func ParsePair(text string, ids []string) (cell, than string, err error) {
	a, b, ok := strings.Cut(text, between)
	if !ok || strings.Contains(b, between) {
		return "", "", fault.Errorf("bench", "pair %.60q: must be two cells, such as %q", text, "tweedie steps=4 vs parallel-fhs steps=4")
	}
	for i, x := range []string{a, b} {
		id, err := Match(x, ids)
		if err != nil {
			return "", "", fault.Errorf("bench", "pair %.60q: %s", text, fault.Plain(err))
		}
		if i == 0 {
			cell = id
		} else {
			than = id
		}
	}
	if cell == than {
		return "", "", fault.Errorf("bench", "pair %.60q: is one cell", text)
	}
	return cell, than, nil
}

// Gains sets pairs of IDs beside each other. errs may be nil.
func Gains(r *Report, cells []Cell, errs *Errors, pairs [][2]string) []Gain {
	var out []Gain
	for _, p := range pairs {
		g := Gain{Cell: p[0], Than: p[1]}
		var of [2]*Cell
		var reports [2]*CellReport
		for i := range cells {
			for j, id := range p {
				if cells[i].ID == id {
					of[j], reports[j] = &cells[i], &r.Cells[i]
				}
			}
		}
		if of[0] == nil || of[1] == nil {
			continue
		}
		g.Seconds = ratio(reports[0].Repetitions, reports[1].Repetitions, r.Settings.Confidence)
		if errs != nil {
			errs.gain(&g, of)
		}
		out = append(out, g)
	}
	return out
}

// gain fills in what the texts of first-hitting tell, where both cells are in one study.
func (e *Errors) gain(g *Gain, of [2]*Cell) {
	st, i, ok := e.of(of[0])
	other, j, also := e.of(of[1])
	if !ok || !also || st != other {
		return
	}
	tv, kl := st.Difference(quality.TV, i, j), st.Difference(quality.KL, i, j)
	g.TV, g.KL = &tv, &kl
	var calls [2]float64
	for k, c := range of {
		law, err := NewLaw(c.Sampler, e.d)
		if err != nil {
			return
		}
		calls[k] = law.All()
	}
	g.Calls = &calls
}

// gainTable is the gains as a table for readers.
func gainTable(gains []Gain) report.Table {
	t := report.Table{Title: "Pair by pair", Head: []string{"A", "B", "calls (A)", "calls (B)", "ΔTV (A − B)", "ΔKL (A − B) (nats)", "× seconds"}, Numbers: 2}
	for _, g := range gains {
		row := []string{g.Cell, g.Than, "–", "–", "–", "–", "–"}
		if g.Calls != nil {
			row[2], row[3] = fmt.Sprintf("%.4g", g.Calls[0]), fmt.Sprintf("%.4g", g.Calls[1])
		}
		for i, e := range []*estimate.Estimate{g.TV, g.KL, g.Seconds} {
			if e != nil {
				row[4+i] = estimated(*e).String()
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
