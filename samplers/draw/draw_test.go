package draw_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// row returns float32 logits of probabilities, shifted so that they are not normalised.
func row(p ...float64) []float32 {
	out := make([]float32, len(p))
	for i, x := range p {
		out[i] = float32(math.Log(x) + 3)
	}
	return out
}

func categorical(t testing.TB, v draw.Vocabulary, d draw.Settings) *draw.Categorical {
	t.Helper()
	return reftest.Must(draw.NewCategorical(v, d))(t)
}

// TestProbabilities checks exclusion, temperature, top-k and top-p on small rows with known probabilities.
func TestProbabilities(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		v    draw.Vocabulary
		d    draw.Settings
		row  []float32
		want []float64
	}{
		{"plain", draw.Vocabulary{Columns: 3, Mask: 3}, draw.Settings{}, row(0.2, 0.5, 0.3), []float64{0.2, 0.5, 0.3}},
		{"mask and padding", draw.Vocabulary{Columns: 5, Mask: 3, Excluded: []int{0}}, draw.Settings{}, row(0.4, 0.1, 0.1, 0.2, 0.2), []float64{0, 0.25, 0.25, 0, 0.5}},
		{"a zero", draw.Vocabulary{Columns: 3, Mask: 3}, draw.Settings{}, row(0, 0.25, 0.75), []float64{0, 0.25, 0.75}},
		{"an excluded NaN", draw.Vocabulary{Columns: 2, Mask: 0}, draw.Settings{}, []float32{float32(math.NaN()), 2}, []float64{0, 1}},
		{"an excluded infinity", draw.Vocabulary{Columns: 2, Mask: 0}, draw.Settings{}, []float32{float32(inf), 2}, []float64{0, 1}},
		{"temperature 2", draw.Vocabulary{Columns: 2, Mask: 2}, draw.Settings{Temperature: new(2.0)}, row(0.2, 0.8), []float64{1.0 / 3, 2.0 / 3}},
		{"temperature ½", draw.Vocabulary{Columns: 2, Mask: 2}, draw.Settings{Temperature: new(0.5)}, row(0.25, 0.75), []float64{0.1, 0.9}},
		{"temperature 0", draw.Vocabulary{Columns: 3, Mask: 3}, draw.Settings{Temperature: new(0.0)}, row(0.2, 0.5, 0.3), []float64{0, 1, 0}},
		{"temperature 0, equal logits", draw.Vocabulary{Columns: 4, Mask: 0}, draw.Settings{Temperature: new(0.0)}, row(0.4, 0.1, 0.25, 0.25), []float64{0, 0, 1, 0}},
		{"a tiny temperature", draw.Vocabulary{Columns: 2, Mask: 2}, draw.Settings{Temperature: new(1e-300)}, row(0.2, 0.8), []float64{0, 1}},
		{"top-k", draw.Vocabulary{Columns: 4, Mask: 4}, draw.Settings{TopK: 2}, row(0.1, 0.3, 0.2, 0.4), []float64{0, 3.0 / 7, 0, 4.0 / 7}},
		{"top-k of equals keeps the lower ids", draw.Vocabulary{Columns: 4, Mask: 4}, draw.Settings{TopK: 2}, row(0.25, 0.25, 0.25, 0.25), []float64{0.5, 0.5, 0, 0}},
		{"top-k above the number of tokens", draw.Vocabulary{Columns: 2, Mask: 2}, draw.Settings{TopK: 9}, row(0.25, 0.75), []float64{0.25, 0.75}},
		{"top-p includes the crossing token", draw.Vocabulary{Columns: 4, Mask: 4}, draw.Settings{TopP: 0.6}, row(0.1, 0.3, 0.2, 0.4), []float64{0, 3.0 / 7, 0, 4.0 / 7}},
		{"top-p below the greatest", draw.Vocabulary{Columns: 3, Mask: 3}, draw.Settings{TopP: 0.01}, row(0.2, 0.5, 0.3), []float64{0, 1, 0}},
		{"top-p 1", draw.Vocabulary{Columns: 2, Mask: 2}, draw.Settings{TopP: 1}, row(0.25, 0.75), []float64{0.25, 0.75}},
		{"top-p of what top-k left", draw.Vocabulary{Columns: 4, Mask: 4}, draw.Settings{TopK: 3, TopP: 0.6}, row(0.1, 0.3, 0.2, 0.4), []float64{0, 3.0 / 7, 0, 4.0 / 7}},
		{"top-p of what top-k left, fewer", draw.Vocabulary{Columns: 4, Mask: 4}, draw.Settings{TopK: 2, TopP: 0.55}, row(0.1, 0.3, 0.2, 0.4), []float64{0, 0, 0, 1}},
		{"top-p after temperature", draw.Vocabulary{Columns: 3, Mask: 3}, draw.Settings{Temperature: new(0.5), TopP: 0.6}, row(0.2, 0.5, 0.3), []float64{0, 1, 0}},
	} {
		c := categorical(t, test.v, test.d)
		got := make([]float64, len(test.row))
		if err := c.Probabilities(got, draw.Single(test.row)); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for i := range got {
			// Logits are float32.
			if math.Abs(got[i]-test.want[i]) > 1e-6 || got[i] == 0 != (test.want[i] == 0) {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
				break
			}
		}
		// Token inverts the cumulative sums: test w just below and above each.
		var cumulative float64
		for i, p := range got {
			if p == 0 {
				continue
			}
			for _, w := range []float64{cumulative + p*1e-9, cumulative + p*(1-1e-9)} {
				if token, err := c.Token(draw.Single(test.row), min(max(w, 0x1p-53), 1-0x1p-53)); err != nil || token != i {
					t.Errorf("%s: w = %v gives %d, %v, want %d", test.name, w, token, err, i)
				}
			}
			cumulative += p
		}
	}
}

func TestDrawErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	v := draw.Vocabulary{Columns: 3, Mask: 2}
	for _, test := range []struct {
		name string
		row  []float32
		want string
	}{
		{"no mass", []float32{-inf, -inf, 0}, "probability 0"},
		{"NaN", []float32{1, nan, 0}, "not a number"},
		{"NaN first", []float32{nan, 1, 0}, "not a number"},
		{"infinity", []float32{1, inf, 0}, "+Inf"},
	} {
		reftest.Fails(t, reftest.Err(categorical(t, v, draw.Settings{}).Token(draw.Single(test.row), 0.5)), test.want, test.name)
	}
	for _, d := range []draw.Settings{{Temperature: new(-1.0)}, {Temperature: new(math.NaN())}, {Temperature: new(math.Inf(1))}, {TopK: -1}, {TopP: -0.1}, {TopP: 1.1}, {TopP: math.NaN()}} {
		reftest.Fails(t, reftest.Err(draw.NewCategorical(v, d)), "", d, "was accepted")
	}
	for _, v := range []draw.Vocabulary{{}, {Columns: 1}, {Columns: 2, Mask: 3}, {Columns: 2, Mask: -1}, {Columns: 2, Mask: 0, Excluded: []int{1}}, {Columns: 2, Mask: 2, Excluded: []int{7}}, {Columns: 2, Mask: 2, Excluded: []int{-1}}} {
		reftest.Fails(t, reftest.Err(draw.NewCategorical(v, draw.Settings{})), "", v, "was accepted")
	}
}

// TestNoGumbelBias checks that the draw does not have the bias of float32 Gumbel noise: a token of
// probability 1e-7, which that noise draws with probability 5.5e-8, gets exactly its share of the
// uniforms. The closed form of the bias is tools/oracle's TruncatedGumbel.
func TestNoGumbelBias(t *testing.T) {
	p := []float64{1e-07, 0.6, 0.3, 0.0999, 9.99e-05}
	logits := row(p...)
	c := categorical(t, draw.Vocabulary{Columns: 5, Mask: 5}, draw.Settings{})
	// Token 0 has the uniforms below its share: find the edge by bisection.
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if token, err := c.Token(draw.Single(logits), mid); err != nil {
			t.Fatal(err)
		} else if token == 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	var sum float64
	for _, x := range logits {
		sum += math.Exp(float64(x))
	}
	if want := math.Exp(float64(logits[0])) / sum; math.Abs(lo/want-1) > 1e-9 {
		t.Errorf("a token of probability %v has a share %v of the uniforms", want, lo)
	}
}

// TestDrawAllocates checks that a draw allocates nothing.
func TestDrawAllocates(t *testing.T) {
	logits := randomRow(1000)
	for _, d := range []draw.Settings{{}, {TopK: 40, TopP: 0.9}, {TopP: 0.9, Temperature: new(0.7)}} {
		c := categorical(t, draw.Vocabulary{Columns: 1000, Mask: 999, Excluded: []int{5}}, d)
		draw := func() {
			reftest.OK(t, reftest.Err(c.Token(draw.Single(logits), 0.3)))
		}
		draw()
		if n := testing.AllocsPerRun(20, draw); n != 0 {
			t.Errorf("%+v: %v allocations a draw", d, n)
		}
	}
}

func randomRow(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * 3)
	}
	return out
}

// TestLogP checks that the logarithm of a probability does not underflow, and that truncated and
// excluded tokens have none.
func TestLogP(t *testing.T) {
	t.Parallel()
	row := draw.Double([]float64{0, -3, -6, 5})
	dst := make([]float64, 4)
	for _, c := range []struct {
		settings draw.Settings
		token    int
		want     float64
	}{
		{draw.Settings{Temperature: new(0.005)}, 1, -600}, {draw.Settings{Temperature: new(0.005)}, 2, -1200}, {draw.Settings{Temperature: new(0.5)}, 1, -6 - math.Log1p(math.Exp(-6)+math.Exp(-12))},
		{draw.Settings{Temperature: new(0.005), TopK: 1}, 1, math.Inf(-1)}, {draw.Settings{Temperature: new(0.0)}, 0, 0}, {draw.Settings{Temperature: new(0.0)}, 1, math.Inf(-1)}, {draw.Settings{Temperature: new(0.005)}, 3, math.Inf(-1)},
	} {
		law := reftest.Must(draw.NewCategorical(draw.Vocabulary{Columns: 4, Mask: 3}, c.settings))(t)
		if got := reftest.Must(law.LogP(dst, row, c.token))(t); got != c.want && !(math.Abs(got-c.want) < 1e-9) {
			t.Errorf("%+v: token %d has %v, want %v", c.settings, c.token, got, c.want)
		}
	}
}
