package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
)

// TestErrorTexts checks that after a timeout the note has the number of texts used, not the number
// asked for.
func TestErrorTexts(t *testing.T) {
	for want, groups := range map[string][]int{
		" at 3 texts ": {0, 0, 0, 1, 1, 1}, " at 1 of 3 texts ": {1}, " at 1 to 2 of 3 texts ": {0, 1, 0}, "": nil,
	} {
		r := &benching{look: qualities{errors: new(bench.Errors), certificates: new(bench.Certificates)}, options: &options{}}
		for _, g := range groups {
			r.log.Errors = append(r.log.Errors, bench.ErrorSample{Group: g})
		}
		report := bench.Report{Complete: true}
		report.Settings.Quality = &bench.QualitySettings{ErrorSamples: 3}
		r.notes(&report)
		if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, want) || strings.Contains(notes, "tv and kl") != (want != "") {
			t.Errorf("%v: %s, want %s", groups, notes, want)
		}
	}
}

// TestTooFew checks that tables show no number for a distance from one text.
func TestTooFew(t *testing.T) {
	report := bench.Report{Cells: []bench.CellReport{{}}}
	report.Cells[0].Quality = []bench.Quality{{Part: bench.PartError, Metrics: []bench.Metric{{Name: "tv", Unit: "probability", Value: estimate.Estimate{Mean: 0.1234, SE: math.Inf(1)}}}}}
	tables, _ := bench.Tables(&report)
	if got := fmt.Sprint(tables); !strings.Contains(got, "too few") || strings.Contains(got, "0.1234") {
		t.Error(got)
	}
}
