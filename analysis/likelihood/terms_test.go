package likelihood

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestTermsReference checks that the mean over q0 of the terms is the reference's loss profile:
// exactly, or on a network with time by draws, within 5 standard errors.
func TestTermsReference(t *testing.T) {
	for _, name := range []string{"markov4-sharp", "timed3"} {
		text := reftest.Must(os.ReadFile(reftest.Data(t, "reference", "laws-more", name+".json")))(t)
		var ref struct {
			Profile struct {
				Loss []float64 `json:"loss_by_visible_count"`
			}
		}
		reftest.OK(t, json.Unmarshal(text, &ref))
		w := openWorld(t, reftest.Law(t, name))
		e := mustNew(t, w)
		f := w.Facts()
		d, v := f.Length, f.Columns
		got, tolerance := make([]float64, d), make([]float64, d)
		for index, p := range w.Q0() {
			if p == 0 {
				continue
			}
			ids := make([]int, d)
			for l, rest := d-1, index; l >= 0; l, rest = l-1, rest/v { // position 0 the most significant digit
				ids[l] = rest % v
			}
			if f.TimeConditioned {
				const draws = 600
				for form, n := range map[Form]int{Subsets: d * draws, Orders: draws} { // draws for each count
					r := one(t, e, Whole(ids), uint64(index), Config{Form: form, Draws: n, Seed: 4})
					for i, j := range r.Terms.Visible {
						got[j] += p / 2 * r.Terms.Sums[i] / float64(r.Terms.Draws[i])
						// Losses of this world's rows differ by at most 5.1 nats.
						tolerance[j] += p * p / 4 * 2.55 * 2.55 / draws
					}
				}
				continue
			}
			values := reftest.Must(e.Values(context.Background(), []Target{Whole(ids)}, mustSampler(t, catalog.Options{})))(t)
			var sum float64
			for j, c := range values[0].Terms.Sums {
				got[j] += p * c
				sum += c
			}
			if math.Abs(sum-float64(*values[0].NELBO)) > 1e-12*sum {
				t.Errorf("%s: terms sum to %v, the NELBO is %v", name, sum, *values[0].NELBO)
			}
		}
		for j, want := range ref.Profile.Loss {
			if within := 5*math.Sqrt(tolerance[j]) + 1e-9; math.Abs(got[j]-want) > within {
				t.Errorf("%s: loss %v with %d visible, want %v ± %.2g", name, got[j], j, want, within)
			}
		}
	}
}

// TestTerms checks that the mean of the terms of draws is the exact ones, for each form.
func TestTerms(t *testing.T) {
	w := noisy(t)
	e := mustNew(t, w)
	target := Whole([]int{1, 0, 2})
	exact := mustTable(t, e, target).Terms()
	for _, form := range []Form{Subsets, Orders, "", Lambda, Plans} {
		r := one(t, e, target, 3, Config{Form: form, Draws: 6000, Seed: 5})
		if (r.Terms != nil) != form.HasTerms() {
			t.Fatalf("%q: terms %v", form, r.Terms)
		}
		if r.Terms == nil {
			continue
		}
		for i, j := range r.Terms.Visible {
			mean := r.Terms.Sums[i] / float64(r.Terms.Draws[i])
			// Losses of this world's rows differ by less than 3 nats: ± 5 standard errors.
			if tolerance := 5 * 1.5 / math.Sqrt(float64(r.Terms.Draws[i])); math.Abs(mean-exact.Sums[j]) > tolerance {
				t.Errorf("%q: loss %v with %d visible, want %v ± %v", form, mean, j, exact.Sums[j], tolerance)
			}
		}
	}
	// With a draw per position, a window has each count once.
	if r := one(t, e, target, 0, Config{Draws: 3, Seed: 1}); len(r.Terms.Visible) != 3 {
		t.Errorf("3 draws over 3 positions: counts %v", r.Terms.Visible)
	}
}
