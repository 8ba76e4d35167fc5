package bench_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/laws"
)

// TestDecoderErrors: distances of decoders without a plan from first-hitting are those of their
// outcomes within 4 standard errors; the others have a note that says why there are none.
func TestDecoderErrors(t *testing.T) {
	t.Parallel()
	m := open(t, "markov4-sharp")
	w, err := laws.New(m.World)
	if err != nil {
		t.Fatal(err)
	}
	all := cells(t, m, "fhs", "confidence steps=2 score=confidence,margin,random", "threshold threshold=0.7", "entropy-bounded gamma=0.3", "remdm steps=3")
	e := bench.GroupErrors(all, m.Facts().Length)
	if len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "remdm") || !strings.Contains(e.Notes[0], "masks again") {
		t.Errorf("notes %q", e.Notes)
	}
	if err := e.Measure(context.Background(), errorConfig(m, 300, 2)); err != nil {
		t.Fatal(err)
	}
	fhs, told := w.FHSLaw(), 0
	for i := range all {
		q, ok := e.Quality(&all[i])
		if !ok {
			continue
		}
		law, err := w.SamplerLaw(all[i].Sampler)
		if err != nil {
			t.Fatal(err)
		}
		p := w.OnSequences(law)
		want := map[string]float64{"tv": laws.TV(fhs, p), "kl": laws.KL(fhs, p)}
		for _, metric := range q.Metrics {
			if x, known := want[metric.Name]; known {
				told++
				if v := metric.Value; math.Abs(v.Mean-x) > 4*v.SE+1e-9 {
					t.Errorf("%s: %s %v, exact %v", all[i].ID, metric.Name, v, x)
				}
			}
		}
	}
	if told != 12 {
		t.Errorf("%d distances, want 12", told)
	}
}
