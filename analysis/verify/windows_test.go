package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestWindows recomputes exact likelihoods on real windows with the real network, in
// both layouts of its weights.
func TestWindows(t *testing.T) {
	for _, test := range []struct{ model, file, weights string }{
		{"mdlm", "reference-d8.json", "the same weights"},
		{"mdlm", "reference-d10.json", "the same weights"},
		{"radd", "reference-d8.json", "other weights"},
	} {
		t.Run(test.model+"/"+test.file, func(t *testing.T) {
			path := reftest.Shared(t, "model", test.file)
			m := openShared(t, "model", test.model)
			begin := time.Now()
			report, err := File(context.Background(), m, path, -1)
			if err != nil {
				t.Fatal(err)
			}
			items := report.Items
			t.Logf("%.1f s", time.Since(begin).Seconds())
			if len(items) != 8 {
				t.Errorf("%d items, want 7 quantities and the weights", len(items))
			}
			for _, it := range items {
				if !it.OK {
					t.Errorf("%s: %+v", it.Name, it)
				}
				t.Logf("%s: %d values, %.3g", it.Name, it.Count, float64(it.MaxDiff))
			}
			if last := items[len(items)-1].Name; !strings.Contains(last, test.weights) {
				t.Errorf("weights: %s, want %s", last, test.weights)
			}
		})
	}
}

func openShared(t *testing.T, elem ...string) model.Model {
	t.Helper()
	return openModel(t, reftest.Shared(t, elem...))
}
