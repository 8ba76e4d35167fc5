package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestCertificates checks that all modes with samplers report the same certificates, not below the
// exact distances.
func TestCertificates(t *testing.T) {
	ctx := context.Background()
	file, e := openWorld(t, "xor3-mixed")
	cases := []Case{
		asked(t, catalog.Options{Sampler: "tweedie", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}), asked(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2}),
		asked(t, catalog.Options{Sampler: "ordered"}), // has no certificate
	}
	ts := sequences(file)
	text := reftest.Must(Text(ctx, file, e, ts, nil, Config{Cases: cases, Seed: 2}))(t)
	long := reftest.Must(Text(ctx, file, e, ts, nil, Config{Cases: cases, Plans: 2, Seed: 3}))(t)
	chain := reftest.Must(Chain(ctx, file, e, likelihood.Whole(make([]int, file.Facts().Length)), Config{Cases: cases[:2], Draws: 300, Seed: 4}))(t)
	w := reftest.Must(laws.New(file))(t)
	for _, c := range cases[:2] {
		law := reftest.Must(w.SamplerLaw(c.Sampler))(t)
		is := laws.TV(w.FHSLaw(), w.OnSequences(law))
		want := find(t, text, "certificate_tv "+c.String()).Right
		if !(is <= want.Mean+4*want.SE && is <= want.Hi) {
			t.Errorf("%s: TV is %v, bounded by %+v", c, is, want)
		}
		for _, r := range []Report{long, chain} {
			l := find(t, r, "certificate_tv "+c.String())
			if l.Right.Bound != "upper" || math.Abs(l.Right.Mean-want.Mean) > 5*math.Hypot(l.Right.SE, want.SE) || l.Right.Lo != 0 {
				t.Errorf("%s: %+v, want %v", r.Mode, l.Right, want)
			}
			if r.Mode == "chain" && (l.Gap.Mean < -4*l.Gap.SE || math.Abs(l.Left.Mean-is) > 5*l.Left.SE) {
				t.Errorf("chain: %+v, exact is %v", l, is)
			}
		}
	}
	for _, r := range []Report{text, long} {
		for _, l := range r.Lines {
			if strings.HasPrefix(l.Name, "certificate") && strings.Contains(l.Name, "ordered") {
				t.Errorf("%s: %s", r.Mode, l.Name)
			}
		}
	}
}

// TestCertificatesInside checks that windows inside texts have canvases of their own, and that the
// runs of one window are one unit.
func TestCertificatesInside(t *testing.T) {
	file, e := openWorld(t, "markov4-sharp")
	ts := sequences(file)[:5]
	for i := range ts {
		ts[i].Free = []int{i % 2, 2, 3}
	}
	c := asked(t, catalog.Options{Sampler: "parallel-fhs", Steps: 1})
	r := reftest.Must(Text(context.Background(), file, e, ts, nil, Config{Cases: []Case{c}, Seed: 2}))(t)
	if l := find(t, r, "certificate_tv parallel-fhs 1"); l.Right.N != 5*26 || l.Right.Units != 5 || !(l.Right.Mean > 0 && l.Right.Mean < 1) {
		t.Errorf("%+v", l.Right)
	}
}
