package bench_test

import (
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
)

// TestGains: a difference is that of the two distances, its interval is narrower than that
// of unpaired ones, a pair turned round has the other sign, and times are divided.
func TestGains(t *testing.T) {
	names := []string{"tweedie noise=exp steps=4", "tweedie noise=exp steps=8"}
	r := study(t, 3, names...)
	m := open(t, "xor3-mixed")
	all := cells(t, m, names...)
	e := bench.GroupErrors(all, 3)
	if _, err := e.Measure(t.Context(), errorConfig(m, 200, 3)); err != nil {
		t.Fatal(err)
	}
	ids := []string{all[0].ID, all[1].ID}
	gains := bench.Gains(r, all, e, [][2]string{{ids[0], ids[1]}, {ids[1], ids[0]}})
	if len(gains) != 2 {
		t.Fatalf("%+v", gains)
	}
	g, back := gains[0], gains[1]
	var tv, se [2]float64
	for i := range all {
		q, _ := e.Quality(&all[i])
		tv[i], se[i] = q.Metrics[0].Value.Mean, q.Metrics[0].Value.SE
	}
	if math.Abs(g.TV.Mean-(tv[0]-tv[1])) > 1e-12 || g.TV.Mean <= 0 || back.TV.Mean != -g.TV.Mean {
		t.Errorf("difference %v and back %v of %v", g.TV, back.TV, tv)
	}
	if g.TV.SE >= math.Hypot(se[0], se[1]) {
		t.Errorf("pairs have the error %v, apart they would have %v", g.TV.SE, math.Hypot(se[0], se[1]))
	}
	if p := g.Seconds.Mean * back.Seconds.Mean; math.Abs(p-1) > 1e-9 || g.Calls == nil || g.Calls[0] >= g.Calls[1] {
		t.Errorf("times %v and back %v, calls %v", g.Seconds, back.Seconds, g.Calls)
	}
	r.Gains = gains
	var b strings.Builder
	if err := bench.Markdown(&b, r, false); err != nil || !strings.Contains(b.String(), "ΔKL (A − B)") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

func TestParsePair(t *testing.T) {
	ids := []string{"fhs", "tweedie steps=4", "tweedie steps=8", "euler grid=paper steps=4 length=3", "euler steps=4 length=3"}
	if a, b, err := bench.ParsePair("euler grid=paper steps=4 vs euler steps=4", ids); a != ids[3] || b != ids[4] || err != nil {
		t.Errorf("%q, %q, %v", a, b, err)
	}
	if a, b, err := bench.ParsePair("tweedie steps=8 vs fhs", ids); a != ids[2] || b != ids[0] || err != nil {
		t.Errorf("%q, %q, %v", a, b, err)
	}
	for _, text := range []string{"", "fhs", "fhs vs fhs", "fhs vs tweedie", "fhs vs nobody", "fhs vs tweedie steps=4 vs tweedie steps=8", " vs "} {
		if a, b, err := bench.ParsePair(text, ids); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q gives %q, %q, %v", text, a, b, err)
		}
	}
}
