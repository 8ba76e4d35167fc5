package quality_test

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

const mask = 99

// TestDescribe compares with values counted by hand.
func TestDescribe(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		ids      []int
		masks    int
		entropy  float64
		distinct [4]float64
	}{
		{"nothing", nil, 0, 0, [4]float64{nan, nan, nan, nan}},
		{"one token", []int{5}, 0, 0, [4]float64{1, nan, nan, nan}},
		{"one token for ever", []int{5, 5, 5, 5, 5}, 0, 0, [4]float64{1. / 5, 1. / 4, 1. / 3, 1. / 2}},
		{"no repeat", []int{1, 2, 3, 4}, 0, math.Log(4), [4]float64{1, 1, 1, 1}},
		{"a phrase twice", []int{1, 2, 3, 1, 2, 3, 7}, 0, -3*2./7*math.Log(2./7) - 1./7*math.Log(1./7), [4]float64{4. / 7, 4. / 6, 4. / 5, 1}},
		{"masks part", []int{1, 2, mask, 1, 2, mask}, 2, math.Log(2), [4]float64{2. / 4, 1. / 2, nan, nan}},
		{"only masks", []int{mask, mask}, 2, 0, [4]float64{nan, nan, nan, nan}},
	} {
		got := quality.Describe(c.ids, mask)
		if got.Length != len(c.ids) || got.Masks != c.masks || math.Abs(got.Entropy-c.entropy) > 1e-14 {
			t.Errorf("%s: %+v", c.name, got)
		}
		for n, want := range c.distinct {
			if math.Abs(got.Distinct[n]-want) > 1e-15 || math.IsNaN(want) != math.IsNaN(got.Distinct[n]) {
				t.Errorf("%s: distinct-%d is %v, want %v", c.name, n+1, got.Distinct[n], want)
			}
		}
		if want := 1 - c.distinct[3]; got.Repeated != want && !math.IsNaN(want) {
			t.Errorf("%s: repeated %v, want %v", c.name, got.Repeated, want)
		}
	}
}

// TestDescribeAll checks means.
func TestDescribeAll(t *testing.T) {
	got := quality.DescribeAll([][]int{{1, 1, 2, 2}, {1, 1, 1, mask}}, mask, 0)
	if math.Abs(got.Entropy.Mean-math.Log(2)/2) > 1e-15 || math.Abs(got.Distinct[0].Mean-(2./4+1./3)/2) > 1e-15 || got.Distinct[3].N != 1 {
		t.Errorf("%+v", got)
	}
	reftest.Must(json.Marshal(got))(t)
	if empty := quality.DescribeAll(nil, mask, 0); !math.IsNaN(empty.Entropy.Mean) || !math.IsInf(empty.Entropy.SE, 1) {
		t.Errorf("nothing: %+v", empty.Entropy)
	}
}

// TestSelf compares with the exact NELBO of a world's sequences.
func TestSelf(t *testing.T) {
	w, _, e := openWorld(t, "xor3-mixed")
	texts, _, err := e.Sample(context.Background(), blank(3), newSampler(t, catalog.Options{}, w), 1, 0, 40)
	reftest.OK(t, err)
	var ts []likelihood.Target
	var exact float64
	for _, ids := range texts {
		ts = append(ts, likelihood.Whole(ids))
		table := reftest.Must(e.Table(context.Background(), ts[len(ts)-1], false))(t)
		exact += table.NELBO()
	}
	cfg := likelihood.Config{Draws: 300, Seed: 1}
	all := reftest.Must(quality.Self(context.Background(), e, ts, cfg))(t)
	sum := likelihood.Summarize(all, false, 0)
	if got := sum.NatsPerToken.Mean; math.Abs(got-exact/120) > 4**sum.MonteCarloSE {
		t.Errorf("NELBO a token %v ± %v, want %v", got, *sum.MonteCarloSE, exact/120)
	}
	// A text with a mask is omitted and does not change others.
	ts[20].IDs = []int{0, w.Facts().MaskID, 0}
	rest, err := quality.Self(context.Background(), e, ts, cfg)
	if err != nil || !reflect.DeepEqual(rest, slices.Delete(all, 20, 21)) {
		t.Errorf("%d texts, %v", len(rest), err)
	}
}
