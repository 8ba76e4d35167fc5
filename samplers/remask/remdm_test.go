package remask_test

import (
	"math"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/remask"
)

// TestRemaskedFractions checks that for any network the masked fraction of every position after
// each of ReMDM's steps is that of ancestral sampling, whatever is masked again, except after the
// last step of forward-backward.
func TestRemaskedFractions(t *testing.T) {
	for _, kind := range []remask.Remask{remask.RemaskCap, remask.RemaskRescale, remask.RemaskForwardBackward} {
		for _, n := range []int{1, 2, 7, 100} {
			m := 1.0
			for k, s := range remask.RemaskProbabilities(catalog.RemaskOptions{Remask: kind, Eta: 0.3}, n) {
				if !(s.Reveal >= 0 && s.Reveal <= 1+1e-12 && s.Remask >= 0 && s.Remask <= 1) {
					t.Fatalf("%s: step %d of %d: %+v", kind, k, n, s)
				}
				m = m*(1-s.Reveal) + (1-m)*s.Remask
				if want := 1 - float64(k+1)*(1-1e-5)/float64(n); math.Abs(m-want) > 1e-12 && (kind != remask.RemaskForwardBackward || k < n-1) {
					t.Fatalf("%s: masked fraction %v after step %d of %d, want %v", kind, m, k, n, want)
				}
			}
		}
	}
	on, off := 0.55, 0.05
	for _, set := range []catalog.RemaskOptions{{Remask: remask.RemaskLoop, Eta: 0.02, TOn: &on, TOff: &off, AlphaOn: 0.9}, {Remask: remask.RemaskDFM}, {Remask: remask.RemaskConf}} {
		for n := 1; n < 200; n++ {
			for k, s := range remask.RemaskProbabilities(set, n) {
				if !(s.Reveal >= 0 && s.Reveal <= 1+1e-9 && s.Remask >= 0 && s.Remask <= 1+1e-9) {
					t.Fatalf("%s: step %d of %d: %+v", set.Remask, k, n, s)
				}
			}
		}
	}
}

// TestForwardBackwardEnd checks that the last step of forward-backward would reveal with
// probability 2, and masks 1/N of the positions again, which the finishing call fills. The
// sampler's description states both.
func TestForwardBackwardEnd(t *testing.T) {
	reftest.Long(t)
	const n, d, draws = 4, 3, 20_000
	o := catalog.Options{Sampler: "remdm", Steps: n, RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskForwardBackward}}
	masked := 1.0
	steps := remask.RemaskProbabilities(o.RemaskOptions, n)
	for _, s := range steps {
		masked += (1-masked)*s.Remask - masked*s.Reveal
	}
	if last := steps[n-1]; last.Reveal != 1 || math.Abs(masked-1./n) > 1e-4 {
		t.Errorf("the last step is %+v, and leaves %v masked", last, masked)
	}
	w, _ := lawstest.Open(t, "markov3-exact")
	want := 1 - math.Pow(1-1./n, d)
	if got := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, draws).Finish.Sum / draws; math.Abs(got-want) > 0.02 {
		t.Errorf("%v of the samples take a finishing call, want %v", got, want)
	}
	if about, _ := catalog.Describe("remdm"); !strings.Contains(about.Law, "1/N of the positions is left masked") {
		t.Errorf("the description is silent: %s", about.Law)
	}
}
