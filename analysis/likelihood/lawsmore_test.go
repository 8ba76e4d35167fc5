package likelihood_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// moreLaw is a law of the reference files of further samplers.
type moreLaw struct {
	Sampler  string
	Settings struct {
		ForwardTimes []float64 `json:"forward_times"`
		Refined      []float64
		Theta        float64
		Floor        float64
		Sizes        []int
		Weights      []float64
	}
	Law         []float64
	LawDenoised []float64 `json:"law_denoised"`
}

// moreLaws returns a world with its laws of further samplers.
func moreLaws(t *testing.T, name string) (*world.World, []moreLaw) {
	t.Helper()
	data, err := os.ReadFile(reftest.Shared(t, "reference", "laws-more", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Laws []moreLaw }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	w, err := world.Open(reftest.Shared(t, "reference", "laws", name))
	if err != nil {
		t.Fatal(err)
	}
	return w, file.Laws
}

// gridOf is a grid of given −log α.
func gridOf(theta []float64) samplers.Grid {
	g := samplers.Grid{Theta: theta}
	for _, t := range theta {
		g.Lambda = append(g.Lambda, -math.Expm1(-t))
	}
	return g
}

// refined is the Tweedie law on masked fractions.
func refined(t *testing.T, lambda []float64) samplers.Steps {
	g := samplers.Grid{Lambda: lambda}
	for _, x := range lambda {
		g.Theta = append(g.Theta, -math.Log1p(-x))
	}
	s, err := samplers.NewSteps(samplers.RuleTweedie, samplers.Exp, g)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// extrapolated are the weights r/L of a block of L positions before.
func extrapolated(sizes []int) (out [][]float64) {
	for n, size := range sizes {
		w := make([]float64, size)
		for r := range w {
			if n > 0 {
				w[r] = float64(r) / float64(sizes[n-1])
			}
		}
		out = append(out, w)
	}
	return out
}

// paired are constant weights, one a block.
func paired(sizes []int, weights []float64) (out [][]float64) {
	for n, size := range sizes {
		w := make([]float64, size)
		for r := range w {
			w[r] = weights[n]
		}
		out = append(out, w)
	}
	return out
}

// TestMoreLaws compares laws of further samplers on a world without time with
// reference laws, for every text.
func TestMoreLaws(t *testing.T) {
	w, laws := moreLaws(t, "markov4-sharp.json")
	e := evaluator(t, w)
	f := w.Facts()
	checked := make(map[string]int)
	for i := range laws[0].LawDenoised {
		target := likelihood.Whole(sequence(i, f.Length, f.Columns))
		table, err := e.RowTable(context.Background(), target, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range laws {
			set := l.Settings
			denoise := -math.Log(l.LawDenoised[i])
			got := likelihood.GridLaw{Leave: denoise}
			want := likelihood.GridLaw{Leave: denoise, Denoise: denoise}
			if l.Law != nil {
				want.Leave = -math.Log(l.Law[w.State(target.IDs)])
			}
			switch l.Sampler {
			case "uniformization", "matu":
				g := gridOf(set.ForwardTimes)
				got = table.OneByOne(g.Lambda[len(g.Lambda)-1] / g.Lambda[0])
			case "dmpm":
				s, err := samplers.NewSteps(samplers.RuleTauAny, samplers.Exp, gridOf(set.ForwardTimes))
				if err != nil {
					t.Fatal(err)
				}
				got = table.OneByOne(s.Left())
			case "trapezoid_plan":
				got = table.Trapezoidal(refined(t, set.Refined), 1, set.Floor)
				want.Leave = denoise
			case "fhs_extrapolated_count":
				got.Denoise = table.Blocks(likelihood.Shape{Sizes: set.Sizes, Weights: extrapolated(set.Sizes), Floor: set.Floor})
			case "fhs_paired":
				got.Denoise = table.Blocks(likelihood.Shape{Sizes: set.Sizes, Weights: paired(set.Sizes, set.Weights), Floor: set.Floor})
			default:
				continue
			}
			checked[l.Sampler]++
			if !near(got.Leave, want.Leave) || !near(got.Denoise, want.Denoise) {
				t.Errorf("text %d: %s %+v: %v, want %v", i, l.Sampler, set, got, want)
			}
		}
	}
	for _, name := range []string{"uniformization", "matu", "dmpm", "trapezoid_plan", "fhs_extrapolated_count", "fhs_paired"} {
		if checked[name] < 100 {
			t.Errorf("%s: %d values compared", name, checked[name])
		}
	}
}
