package app

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/reftest"
)

// TestBoundDocuments checks that lines of five equal windows have the same errors, in all that a
// table shows, as the same number of lines of one window, so that 95 % intervals over 12 of them
// cover at least 90 times in 100.
func TestBoundDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := worldFile(t, "xor3-mixed")
	type line struct {
		Name string
		Left struct{ Mean, SE, Lo, Hi estimate.Number }
	}
	jensen := func(text string, windows int) line {
		t.Helper()
		path := filepath.Join(dir, "text.jsonl")
		writeFile(t, path, text)
		out := mustRun(t, "", "bound", path, "--model", world, "--length", "3", "--limit", fmt.Sprint(windows), "--sampler", "fhs",
			"--reference", "masked:"+world, "--seed", "1", "--json")
		var record struct{ Lines []line }
		reftest.OK(t, json.Unmarshal([]byte(out), &record))
		errors := make(map[estimate.Number]estimate.Number)
		for _, l := range record.Lines {
			if l.Name == "jensen" || strings.HasPrefix(l.Name, "reference_") {
				if se, ok := errors[l.Left.Mean]; ok && math.Abs(float64(se-l.Left.SE)) > 1e-12 {
					t.Errorf("%v has the errors %v and %v", l.Left.Mean, se, l.Left.SE)
				}
				errors[l.Left.Mean] = l.Left.SE
			}
		}
		return record.Lines[0]
	}
	r := rand.New(rand.NewPCG(3, 4))
	document := func(times int) string {
		ids := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d,%d,%d,", r.IntN(2), r.IntN(2), r.IntN(2)), times), ",")
		return fmt.Sprintf("{\"ids\":[%s]}\n", ids)
	}
	// Texts of three tokens are uniform: the mean is over all eight.
	all := ""
	for i := range 8 {
		all += fmt.Sprintf("{\"ids\":[%d,%d,%d]}\n", i/4, i/2%2, i%2)
	}
	want := jensen(all, 8).Left.Mean
	covered := 0
	for range 100 {
		text := ""
		for range 12 {
			text += document(5)
		}
		if got := jensen(text, 60).Left; got.Lo <= want && want <= got.Hi {
			covered++
		}
	}
	if t.Logf("%d of 100 intervals cover", covered); covered < 90 {
		t.Errorf("%d of 100 intervals cover", covered)
	}
}
