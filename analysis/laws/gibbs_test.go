package laws_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// consistentWorlds are the reference worlds whose rows are the conditionals of q0, otherWorlds the
// others. The first of each are in the module.
var (
	consistentWorlds = []string{"markov3-exact", "nested3-exact", "pairs4-exact", "parity4-exact"}
	otherWorlds      = []string{"xor3-mixed", "markov4-sharp", "timed3", "dirichlet3-noisy"}
)

// corrected returns a sampler with corrections and its law.
func corrected(t *testing.T, file *world.World, w *laws.World, sampler string, steps, positions, calls int) (*catalog.Sampler, []float64) {
	t.Helper()
	o := catalog.Options{Sampler: sampler, Steps: steps, LayerOptions: catalog.LayerOptions{Correct: fmt.Sprintf("gibbs:%dx%d", positions, calls)}}
	s := reftest.Must(catalog.New(o, file.Spec()))(t)
	return s, reftest.Must(w.SamplerLaw(s))(t)
}

// goodness draws n samples and returns the p-value of their counts under a law over states.
func goodness(t *testing.T, file *world.World, w *laws.World, s *catalog.Sampler, law []float64, n int) float64 {
	t.Helper()
	return reftest.Goodness(drawn(t, file, w, s, n), law)
}

// drawn counts the states of n samples.
func drawn(t *testing.T, file *world.World, w *laws.World, s *catalog.Sampler, n int) []int {
	t.Helper()
	counts, canvas := make([]int, w.States), slices.Repeat([]int{w.V}, w.D)
	reftest.Must(samplers.Sample(t.Context(), file, samplers.Copies(canvas, 0, n), samplers.Config{Method: s, Seed: 3, Batch: 256}, func(r samplers.Result) error {
		counts[file.State(r.IDs)]++
		if spec := file.Spec(); s.Settings().Correct != "" && s.Settings().Sampler == "fhs" && r.Calls != s.MostCalls(spec, canvas) {
			return fmt.Errorf("%d calls, want %d", r.Calls, s.MostCalls(spec, canvas))
		}
		return nil
	}))(t)
	return counts
}

// TestGibbsLeavesLaw checks that corrections of one position a call preserve q0 exactly if a
// world's rows are consistent, that more positions a call do not, and that samples follow the
// computed laws.
func TestGibbsLeavesLaw(t *testing.T) {
	t.Parallel()
	for i, name := range slices.Concat(consistentWorlds, otherWorlds) {
		consistent := i < len(consistentWorlds)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, w := lawstest.Open(t, name)
			q0 := w.OnStates(w.Q0)
			s, law := corrected(t, file, w, "fhs", 0, 1, 5)
			if leaves := laws.TV(law, q0) < 1e-12; leaves != consistent {
				t.Errorf("one position a call leaves q0: %t: TV %v", leaves, laws.TV(law, q0))
			}
			if p := goodness(t, file, w, s, law, 4000); p < 1e-3/24 {
				t.Errorf("gibbs:1x5: p = %.3g", p)
			}
			for _, positions := range []int{2, w.D, 9} {
				s, law := corrected(t, file, w, "fhs", 0, positions, 3)
				if consistent && laws.TV(law, q0) < 0.01 {
					t.Errorf("%d positions a call leave q0: TV %v", positions, laws.TV(law, q0))
				}
				if p := goodness(t, file, w, s, law, 4000); p < 1e-3/24 {
					t.Errorf("gibbs:%dx3: p = %.3g", positions, p)
				}
			}
		})
	}
}

// TestGibbsConverges checks that, if every text is possible, corrections of one position converge
// to the same law from two starts, to q0 if rows are consistent. The law of tempered posteriors is
// q0 tempered, though first-hitting's is not. On parity corrections do not converge.
func TestGibbsConverges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		forgets bool
		law     func(w *laws.World) []float64 // nil if it is not known independently
	}{
		{"markov3-exact", true, func(w *laws.World) []float64 { return w.Q0 }},
		{"markov4-sharp", true, func(w *laws.World) []float64 {
			out, sum := make([]float64, len(w.Q0)), 0.0
			for i, p := range w.Q0 {
				out[i] = math.Pow(p, 1/0.7)
				sum += out[i]
			}
			for i := range out {
				out[i] /= sum
			}
			return out
		}},
		{"xor3-mixed", true, nil},
		{"parity4-exact", false, nil},
	} {
		file, w := lawstest.Open(t, test.name)
		_, one := corrected(t, file, w, "fhs", 0, 1, 3000)
		_, two := corrected(t, file, w, "parallel-fhs", 1, 1, 3000)
		if tv := laws.TV(one, two); (tv < 1e-9) != test.forgets {
			t.Errorf("%s: from two beginnings corrections come within TV %v", test.name, tv)
		}
		if test.law == nil {
			continue
		}
		if tv := laws.TV(w.OnSequences(one), test.law(w)); tv > 1e-9 {
			t.Errorf("%s: TV %v from what it converges to", test.name, tv)
		}
	}
}

// TestGibbsKernel checks that rows sum to 1, and that an even number of steps by squaring equals
// the same number of single steps.
func TestGibbsKernel(t *testing.T) {
	t.Parallel()
	file, w := lawstest.Open(t, "timed3")
	for positions := 1; positions <= 4; positions++ {
		for x, row := range w.Gibbs(positions) {
			var sum float64
			for _, p := range row {
				sum += p
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%d positions: state %d leads somewhere with probability %v", positions, x, sum)
			}
		}
	}
	_, law := corrected(t, file, w, "fhs", 0, 2, 13)
	_, want := corrected(t, file, w, "fhs", 0, 2, 1)
	kernel := w.Gibbs(2)
	for range 12 {
		next := make([]float64, len(want))
		for x, p := range want {
			for y, q := range kernel[x] {
				next[y] += p * q
			}
		}
		want = next
	}
	if tv := laws.TV(law, want); tv > 1e-12 {
		t.Errorf("13 steps differ by TV %v", tv)
	}
	// Positions that a sampler leaves masked stay masked.
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}, LayerOptions: catalog.LayerOptions{Correct: "gibbs:2x5"}}, file.Spec()))(t)
	left := reftest.Must(w.SamplerLaw(s))(t)
	if p := goodness(t, file, w, s, left, 8000); p < 1e-3 {
		t.Errorf("with masks left: p = %.3g", p)
	}
}
