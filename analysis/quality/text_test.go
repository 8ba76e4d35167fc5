package quality_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
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
		longest  int
	}{
		{"nothing", nil, 0, 0, [4]float64{nan, nan, nan, nan}, 0},
		{"one token", []int{5}, 0, 0, [4]float64{1, nan, nan, nan}, 0},
		{"one token for ever", []int{5, 5, 5, 5, 5}, 0, 0, [4]float64{1. / 5, 1. / 4, 1. / 3, 1. / 2}, 4},
		{"no repeat", []int{1, 2, 3, 4}, 0, math.Log(4), [4]float64{1, 1, 1, 1}, 0},
		{"a phrase twice", []int{1, 2, 3, 1, 2, 3, 7}, 0, -3*2./7*math.Log(2./7) - 1./7*math.Log(1./7), [4]float64{4. / 7, 4. / 6, 4. / 5, 1}, 3},
		{"masks part", []int{1, 2, mask, 1, 2, mask}, 2, math.Log(2), [4]float64{2. / 4, 1. / 2, nan, nan}, 2},
		{"only masks", []int{mask, mask}, 2, 0, [4]float64{nan, nan, nan, nan}, 0},
	} {
		got := quality.Describe(c.ids, mask)
		if got.Length != len(c.ids) || got.Masks != c.masks || math.Abs(got.Entropy-c.entropy) > 1e-14 || got.LongestRepeat != c.longest {
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

// TestLongestRepeat compares with a search through all pairs of places.
func TestLongestRepeat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		ids := make([]int, r.IntN(40))
		for i := range ids {
			ids[i] = r.IntN(3)
		}
		want := 0
		for i := range ids {
			for j := range i {
				n := 0
				for i+n < len(ids) && ids[i+n] == ids[j+n] {
					n++
				}
				want = max(want, n)
			}
		}
		if got := quality.Describe(ids, mask).LongestRepeat; got != want {
			t.Fatalf("%v: %d, want %d", ids, got, want)
		}
	}
}

// TestDescribeAll checks means, pools and errors.
func TestDescribeAll(t *testing.T) {
	got := quality.DescribeAll([][]int{{1, 1, 2, 2}, {1, 1, 1, mask}}, mask, 0)
	h := -5./7*math.Log(5./7) - 2./7*math.Log(2./7)
	if math.Abs(got.MasksLeft.Mean-1./8) > 1e-15 || math.Abs(got.Entropy.Mean-math.Log(2)/2) > 1e-15 ||
		math.Abs(got.PooledEntropy.Mean-h) > 1e-14 || math.Abs(got.Distinct[0].Mean-(2./4+1./3)/2) > 1e-15 ||
		got.Distinct[3].N != 1 || got.LongestRepeat.Mean != 1.5 {
		t.Errorf("%+v", got)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
	if empty := quality.DescribeAll(nil, mask, 0); !math.IsNaN(empty.Entropy.Mean) || !math.IsInf(empty.Entropy.SE, 1) {
		t.Errorf("nothing: %+v", empty.Entropy)
	}
	// The error of the pooled entropy against its spread over repetitions: 200 of them tell a
	// standard deviation to 5 %.
	r := rand.New(rand.NewPCG(2, 2))
	var sum, squares, stated float64
	const repeats = 200
	for range repeats {
		texts := make([][]int, 40)
		for i := range texts {
			bias := r.IntN(2)
			for range 20 + r.IntN(20) {
				texts[i] = append(texts[i], bias*r.IntN(4)+r.IntN(3))
			}
		}
		x := quality.DescribeAll(texts, mask, 0).PooledEntropy
		sum, squares, stated = sum+x.Mean/repeats, squares+x.Mean*x.Mean/repeats, stated+x.SE/repeats
	}
	if spread := math.Sqrt(squares - sum*sum); math.Abs(stated/spread-1) > 0.2 {
		t.Errorf("stated error %v, spread %v", stated, spread)
	}
}

// TestSelf compares with the exact NELBO of a world's sequences.
func TestSelf(t *testing.T) {
	w, e := openWorld(t, "xor3-mixed")
	texts, _, err := e.Sample(context.Background(), blank(3), newSampler(t, catalog.Options{}, w), 1, indices(40))
	if err != nil {
		t.Fatal(err)
	}
	var ts []likelihood.Target
	var exact float64
	for _, ids := range texts {
		ts = append(ts, likelihood.Whole(ids))
		table, err := e.Table(context.Background(), ts[len(ts)-1], false)
		if err != nil {
			t.Fatal(err)
		}
		exact += table.NELBO()
	}
	cfg := likelihood.Config{Draws: 300, Seed: 1}
	all, err := quality.Self(context.Background(), e, ts, 0, cfg)
	if err != nil {
		t.Fatal(err)
	}
	sum := likelihood.Summarize(quality.Scorable(all), false, 0)
	if got := sum.NatsPerToken.Mean; math.Abs(got-exact/120) > 4**sum.MonteCarloSE {
		t.Errorf("NELBO a token %v ± %v, want %v", got, *sum.MonteCarloSE, exact/120)
	}
	// Taken up in the middle, with a text that has a mask.
	ts[20].IDs = []int{0, w.Facts().MaskID, 0}
	rest, err := quality.Self(context.Background(), e, ts[10:], 10, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range rest {
		if i == 10 {
			if x.Tokens != 0 {
				t.Errorf("a text with a mask: %+v", x)
			}
		} else if !reflect.DeepEqual(x.Nats, all[10+i].Nats) {
			t.Errorf("text %d: %v, before %v", 10+i, x.Nats, all[10+i].Nats)
		}
	}
	if n := len(quality.Scorable(rest)); n != 29 {
		t.Errorf("%d texts of 29", n)
	}
}
