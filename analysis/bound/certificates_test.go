package bound

import (
	"context"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestCertificates: all modes with samplers state the same certificates, above what is exact.
func TestCertificates(t *testing.T) {
	ctx := context.Background()
	file, e := openWorld(t, "xor3-mixed")
	cases := []Case{
		asked(t, catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 4}), asked(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2}),
		asked(t, catalog.Options{Sampler: "ordered"}), // has no certificate
	}
	world, err := World(ctx, reftest.Data(t, "reference", "laws", "xor3-mixed.json"), cases)
	if err != nil {
		t.Fatal(err)
	}
	ts := sequences(file)
	text, err := Text(ctx, file, e, ts, nil, Config{Cases: cases, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	long, err := Text(ctx, file, e, ts, nil, Config{Cases: cases, Plans: 2, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := Chain(ctx, file, e, likelihood.Whole(make([]int, file.Facts().Length)), Config{Cases: cases[:2], Draws: 300, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases[:2] {
		for _, what := range []string{"tv", "kl"} {
			want := find(t, world, "certificate."+c.Name+".N="+map[string]string{"tweedie": "4", "parallel-fhs": "2"}[c.Name]+"."+what)
			if !strings.HasPrefix(want.Verdict, "holds") && !strings.HasPrefix(want.Verdict, "not resolved") || want.Right.Mean < want.Left.Mean-4*want.Right.SE || want.Right.Bound != "upper" {
				t.Errorf("world: %+v", want)
			}
			for _, r := range []Report{text, long, chain} {
				l := find(t, r, "certificate_"+what+" "+c.String())
				if l.Right.Bound != "upper" || math.Abs(l.Right.Mean-want.Right.Mean) > 5*math.Hypot(l.Right.SE, want.Right.SE) {
					t.Errorf("%s: %+v, want %v", r.Mode, l.Right, want.Right)
				}
				if r.Mode == "chain" && (l.Gap.Mean < -4*l.Gap.SE || math.Abs(l.Left.Mean-want.Left.Mean) > 5*l.Left.SE) {
					t.Errorf("chain: %+v, exact is %v", l, want.Left.Mean)
				}
			}
		}
	}
	for _, r := range []Report{world, text, long} {
		for _, l := range r.Lines {
			if strings.HasPrefix(l.Name, "certificate") && strings.Contains(l.Name, "ordered") {
				t.Errorf("%s: %s", r.Mode, l.Name)
			}
		}
	}
}

// TestCertificatesInside: windows inside texts have canvases of their own, and runs of one
// window count together.
func TestCertificatesInside(t *testing.T) {
	file, e := openWorld(t, "markov4-sharp")
	ts := sequences(file)[:5]
	for i := range ts {
		ts[i].Free = []int{i % 2, 2, 3}
	}
	c := asked(t, catalog.Options{Sampler: "parallel-fhs", Steps: 1})
	r, err := Text(context.Background(), file, e, ts, nil, Config{Cases: []Case{c}, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if l := find(t, r, "certificate_tv parallel-fhs 1"); l.Right.N != 5*26 || l.Right.Units != 5 || !(l.Right.Mean > 0 && l.Right.Mean < 1) {
		t.Errorf("%+v", l.Right)
	}
}
