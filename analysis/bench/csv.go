package bench

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// CSV writes one line per cell: its ID, every setting in force, then numbers. The name of a column
// contains its unit, and a column of standard errors follows where there are any. Unknown values
// are empty.
func CSV(w io.Writer, r *Report) error {
	out := csv.NewWriter(w)
	keys := settingKeys(r)
	cols := columns(r)
	head := append([]string{"id"}, keys...)
	for _, col := range cols {
		head = append(head, col.name)
		if hasError(r, col) {
			head = append(head, col.name+"_se")
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		line := []string{c.ID}
		for _, key := range keys {
			line = append(line, c.Settings.Get(key))
		}
		for _, col := range cols {
			q, ok := col.value(c)
			line = append(line, number64(q.mean, ok))
			if hasError(r, col) {
				line = append(line, number64(q.se, ok))
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// hasError reports whether some cell's number has a standard error.
func hasError(r *Report, col column) bool {
	for i := range r.Cells {
		if q, ok := col.value(&r.Cells[i]); ok && !math.IsNaN(q.se) {
			return true
		}
	}
	return false
}

func number64(x float64, ok bool) string {
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
