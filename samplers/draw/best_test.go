package draw_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// TestBestOfARow compares Best with the probabilities of a row: the entropy, the most probable
// tokens, the lowest first among equals, and the token that Token draws.
func TestBestOfARow(t *testing.T) {
	v := draw.Vocabulary{Columns: 700, Mask: 699, Excluded: []int{0, 300}}
	row := randomRow(700)
	row[5], row[600], row[17] = 12, 12, float32(math.Inf(-1))
	for _, d := range []draw.Settings{{}, {Temperature: new(0.6)}, {TopK: 3}, {TopP: 0.9, Temperature: new(2.0)}, {Temperature: new(0.0)}} {
		c := categorical(t, v, d)
		settings := d
		if d.Temperature != nil && *d.Temperature == 0 {
			settings = draw.Settings{}
		}
		p := make([]float64, v.Columns)
		reftest.OK(t, categorical(t, v, settings).Probabilities(p, draw.Single(row)))
		var entropy float64
		order := make([]int, 0, len(p))
		for a, x := range p {
			if x > 0 {
				entropy -= x * math.Log(x)
				order = append(order, a)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case p[a] > p[b]:
				return -1
			case p[a] < p[b]:
				return 1
			}
			return a - b
		})
		for _, top := range []int{1, 4, 1000} {
			got := reftest.Must(c.Best(draw.Single(row), 0.4, top))(t)
			token, logP, _ := c.TokenLog(draw.Single(row), 0.4)
			if got.Token != token || got.LogP != logP || math.Abs(got.Entropy-entropy) > 1e-12 || len(got.Top) != min(top, len(order)) {
				t.Errorf("%+v: token %d, log p %v, entropy %v, %d best: want %d, %v, %v, %d", d, got.Token, got.LogP, got.Entropy, len(got.Top), token, logP, entropy, min(top, len(order)))
			}
			for i, x := range got.Top {
				if a := order[i]; x.Token != a || math.Abs(x.LogP-math.Log(p[a])) > 1e-12 {
					t.Fatalf("%+v: best token %d is %+v, want %d with %v", d, i, x, a, math.Log(p[a]))
				}
			}
		}
		if got, err := c.Best(draw.Single(row), 0.4, 0); err != nil || got.Top != nil || got.Entropy != 0 {
			t.Errorf("%+v: %+v, %v: nothing but a token was asked for", d, got, err)
		}
	}
}
