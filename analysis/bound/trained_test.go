package bound

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestTextOfTrained checks all that must hold on windows of a text, with a trained network
// and reference values of every mean.
func TestTextOfTrained(t *testing.T) {
	data, err := os.ReadFile(reftest.Shared(t, "model", "reference-d8.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		T, Delta float64
		Windows  []struct {
			IDs        []int
			NELBO, FHS float64
			Grid       []struct {
				Sampler string
				N       int
				Denoise float64
			}
		}
	}
	if err := json.Unmarshal(data, &reference); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	m, err := model.Open(ctx, reftest.Shared(t, "model", "mdlm"), model.Options{Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for _, name := range []string{"euler", "tweedie"} {
		for _, n := range []int{1, 2, 4, 8, 16, 64} {
			s, err := catalog.New(catalog.Options{Sampler: name, Steps: n, Noise: "exp", T: (*catalog.Theta)(&reference.T), Delta: (*catalog.Theta)(&reference.Delta)}, samplers.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, Case{name, n, s})
		}
	}
	const n = 2
	var ts []likelihood.Target
	want := make(map[string]float64)
	for _, w := range reference.Windows[:n] {
		ts = append(ts, likelihood.Whole(w.IDs))
		want["fhs"] += w.FHS / n
		want["nelbo"] += w.NELBO / n
		for _, g := range w.Grid {
			want[Case{g.Sampler, g.N, nil}.String()] += g.Denoise / n
		}
	}
	r, err := Text(ctx, m, e, ts, nil, Config{Cases: cases, Draws: leastDraws, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkForm(t, r)
	for _, l := range r.Lines {
		if !l.OK {
			t.Errorf("%s: %s", l.Name, l.Verdict)
		}
	}
	check := func(name string, got float64) {
		if w, ok := want[name]; !ok || math.Abs(got-w) > 2e-5*w {
			t.Errorf("%s: %v, want %v", name, got, w)
		}
	}
	check("fhs", find(t, r, "jensen").Left.Mean)
	check("nelbo", find(t, r, "jensen").Right.Mean)
	for _, c := range cases {
		check(c.String(), find(t, r, "excess "+c.String()).Right.Mean)
	}
}
