package samplers_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// particleCases are a target at half the temperature and one under rules.
var particleCases = []struct {
	world   string
	options catalog.Options
	allowed func(l, token int) bool
}{
	{"markov4-sharp", catalog.Options{Draw: draw.Settings{Temperature: new(0.5)}}, func(int, int) bool { return true }},
	{"xor3-mixed", catalog.Options{Draw: draw.Settings{Temperature: new(0.25)}}, func(int, int) bool { return true }},
	{"markov3-exact", catalog.Options{LayerOptions: catalog.LayerOptions{MinLength: 2}, RankOptions: catalog.RankOptions{Stop: new(0)}}, func(l, token int) bool { return l >= 2 || token != 0 }},
	{"markov4-sharp", catalog.Options{Sampler: "ordered", Order: "random", Draw: draw.Settings{SuppressTokens: "1", Temperature: new(0.7)}}, func(_, token int) bool { return token != 1 }},
}

// TestParticles checks that samples of N particles approach the target as N grows, by the total
// variation on a world, and that the mean of their estimates is its sum for any N.
func TestParticles(t *testing.T) {
	t.Parallel()
	const draws = 10_000
	for _, test := range particleCases {
		w := openWorld(t, slices.Index(worldNames, test.world))
		law := oneByOne(w, func(canvas []int, l int) []float64 { // the target, whose weights do not sum to 1
			row := plainRow(w)(canvas, l)
			for a, q := range row {
				if row[a] = math.Pow(q, 1/test.options.AtTemperature()); !test.allowed(l, a) {
					row[a] = 0
				}
			}
			return row
		}, allMask(w))
		var z, noise float64
		for _, p := range law {
			z += p
		}
		for i := range law {
			law[i] /= z
			noise += math.Sqrt(law[i] / draws / (2 * math.Pi)) // the mean TV of as many draws from the target
		}
		var apart []float64
		for _, n := range []int{1, 2, 4, 8} {
			o := test.options
			if o.Particles = n; n == 1 {
				o.Particles = 0
			}
			s := newSampler(t, w, o)
			counts, estimates, squares := make([]float64, len(law)), 0.0, 0.0
			if _, err := samplers.Sample(t.Context(), w, repeat(allMask(w), draws), config(w, s, 7), func(r samplers.Result) error {
				counts[w.State(r.IDs)]++
				if r.LogZ != nil {
					estimates, squares = estimates+math.Exp(*r.LogZ), squares+math.Exp(2**r.LogZ)
				}
				if n > 1 && (r.LogZ == nil || r.Rows != n*r.Calls) {
					t.Fatalf("%s, %d particles: %+v", test.world, n, r)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			var tv float64
			for i, p := range law {
				tv += math.Abs(counts[i]/draws-p) / 2
			}
			apart = append(apart, tv)
			if n == 1 {
				continue
			}
			mean := estimates / draws
			sd := math.Sqrt(max(squares/draws-mean*mean, 0) / draws)
			if math.Abs(mean-z) > 4.5*sd+1e-12 {
				t.Errorf("%s %v: %d particles estimate Z %.6f ± %.6f, want %.6f", test.world, s, n, mean, sd, z)
			}
		}
		t.Logf("%s %+v: Z %.4f, noise %.4f, TV %.4f", test.world, test.options.AtTemperature(), z, noise, apart)
		last := len(apart) - 1
		if apart[0] < 3*noise {
			t.Errorf("%s: one particle is at %.4f already: the test shows nothing", test.world, apart[0])
		}
		// An error of order 1/N is halved by twice as many particles, up to the noise of the draws.
		for i := range last {
			if apart[i+1] > 0.75*apart[i]+1.5*noise {
				t.Errorf("%s: TV %.4f does not fall", test.world, apart)
			}
		}
		if apart[last] > apart[0]/8+1.5*noise {
			t.Errorf("%s: 8 particles are at %.4f of %.4f, noise %.4f", test.world, apart[last], apart[0], noise)
		}
	}
}

// TestParticlesInCompany checks that a sample does not depend on its batch, that Z is 1 if all
// weights are 1, and that options without weights are rejected.
func TestParticlesInCompany(t *testing.T) {
	shaped := catalog.LayerOptions{BadWordsIDs: "1 2,3 3,5", MinLength: 3}
	for _, o := range []catalog.Options{{}, {Draw: draw.Settings{TopK: 2}}, {Sampler: "tweedie", Noise: "loglinear", Steps: 4}, {Sampler: "uniformization", Steps: 5}, {Sampler: "parallel-fhs", Steps: 3, By: draw.ByGumbel, Draw: draw.Settings{Temperature: new(0.5)}},
		{LayerOptions: shaped, RankOptions: catalog.RankOptions{Stop: new(0)}}} {
		o.Particles = 5
		for _, timed := range []bool{false, true} {
			net := newHashNet(timed)
			s := made(t, o, net.Spec())
			want, _ := collect(t, net, slices.Values(mixed()), net.config(s, 1))
			got, _ := collect(t, net, slices.Values(mixed()), net.config(s, 7))
			if !sameIDs(got, want) {
				t.Errorf("%v: other samples in batches", s)
			}
			for _, r := range want {
				if o.Sampler == "uniformization" && r.Events < r.Calls {
					t.Errorf("%v: %d events in %d calls", s, r.Events, r.Calls)
				}
				weightless := o.TopK == 0 && o.Temperature == nil && o.BadWordsIDs == ""
				if r.Left > 0 || r.LogZ == nil || weightless && math.Abs(*r.LogZ) > 1e-5 {
					t.Errorf("%v: %+v", s, r)
				}
			}
		}
	}
	for _, o := range []catalog.Options{{Sampler: "confidence"}, {Sampler: "trapezoidal"}, {Lookahead: 4}, {RankOptions: catalog.RankOptions{BlockLength: 4}}, {RankOptions: catalog.RankOptions{Guidance: 1}}, {Draw: draw.Settings{Temperature: new(0.0)}},
		{Sampler: "parallel-fhs", LayerOptions: shaped, RankOptions: catalog.RankOptions{Stop: new(0)}}, {Cache: "window:1"}} {
		o.Particles = 2
		reftest.Fails(t, reftest.Err(catalog.New(o, samplers.Spec{})), "particles: not with", o)
	}
}
