package likelihood_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// moreLaw is a law in the reference files of additional samplers.
type moreLaw struct {
	Sampler  string
	Settings struct {
		ForwardTimes    []float64 `json:"forward_times"`
		MaskedFractions []float64 `json:"masked_fractions"`
		Floor           float64
		Sizes           []int
	}
	Law         []float64
	LawDenoised []float64 `json:"law_denoised"`
}

// moreLaws returns a world with its laws of additional samplers.
func moreLaws(t *testing.T, name string) (*world.World, []moreLaw) {
	t.Helper()
	data := reftest.Must(os.ReadFile(reftest.Data(t, "reference", "laws-more", name+".json")))(t)
	var file struct{ Laws []moreLaw }
	reftest.OK(t, json.Unmarshal(data, &file))
	w, _ := lawstest.Open(t, name)
	return w, file.Laws
}

// options returns the sampler's options for a reference law, false for samplers without a plan.
func (l moreLaw) options() (o catalog.Options, ok bool) {
	list := func(kind string, values []float64) string {
		var out []string
		for _, x := range values {
			out = append(out, strconv.FormatFloat(x, 'g', -1, 64))
		}
		return kind + strings.Join(out, ",")
	}
	var sizes []string
	for _, n := range l.Settings.Sizes {
		sizes = append(sizes, strconv.Itoa(n))
	}
	floor := l.Settings.Floor
	switch l.Sampler {
	case "uniformization", "matu", "dmpm":
		return catalog.Options{Sampler: l.Sampler, Grid: list("theta:", l.Settings.ForwardTimes), Finish: "leave"}, true
	case "tweedie":
		return catalog.Options{Sampler: l.Sampler, Grid: list("lambda:", l.Settings.MaskedFractions)}, true
	case "trapezoid_plan":
		return catalog.Options{Sampler: "trapezoidal", Grid: list("lambda:", l.Settings.MaskedFractions), Floor: &floor}, true
	case "fhs_parallel":
		return catalog.Options{Sampler: "parallel-fhs", Sizes: strings.Join(sizes, ",")}, true
	case "fhs_paired":
		return catalog.Options{Sampler: "paired-fhs", Sizes: strings.Join(sizes, ","), Floor: &floor}, true
	}
	return o, false
}

// TestMoreLaws compares the laws of samplers built from a user's options with reference laws, for
// every text of worlds with and without time, all samplers of a text together.
func TestMoreLaws(t *testing.T) {
	for _, name := range []string{"markov4-sharp", "timed3"} {
		w, laws := moreLaws(t, name)
		e, f := evaluator(t, w), w.Facts()
		var ss []*catalog.Sampler
		var of []moreLaw
		checked := make(map[string]int)
		for _, l := range laws {
			o, ok := l.options()
			if !ok {
				continue
			}
			s := reftest.Must(catalog.New(o, samplers.Spec{Noise: "exp", TimeConditioned: f.TimeConditioned, InfiniteSigma: true}))(t)
			ss, of = append(ss, s), append(of, l)
			checked[l.Sampler]++
		}
		sums := make([]float64, len(ss))
		for i := range laws[0].LawDenoised {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			got := reftest.Must(e.Laws(context.Background(), target, ss))(t)
			for k, l := range of {
				denoise, leave := got[k].NegLog, got[k].NegLog
				if g := got[k].Grid; g != nil {
					denoise, leave = g.Denoise, g.Leave
				}
				sums[k] += math.Exp(-denoise)
				if want := -math.Log(l.LawDenoised[i]); !near(denoise, want) || got[k].QuadratureError > 1e-9 {
					t.Errorf("%s: text %d: %s %+v: %v, want %v", name, i, l.Sampler, l.Settings, got[k], want)
				}
				if l.Law == nil {
					continue
				}
				if want := -math.Log(l.Law[w.State(target.IDs)]); !near(leave, want) {
					t.Errorf("%s: text %d: %s %+v with masks left: %v, want %v", name, i, l.Sampler, l.Settings, leave, want)
				}
			}
		}
		for k, sum := range sums {
			if math.Abs(sum-1) > 1e-10 {
				t.Errorf("%s: %s %+v: probabilities sum to %v", name, of[k].Sampler, of[k].Settings, sum)
			}
		}
		for _, sampler := range []string{"uniformization", "matu", "dmpm", "tweedie", "trapezoid_plan", "fhs_parallel", "fhs_paired"} {
			if checked[sampler] < 2 {
				t.Errorf("%s: %d laws of %s", name, checked[sampler], sampler)
			}
		}
	}
}
