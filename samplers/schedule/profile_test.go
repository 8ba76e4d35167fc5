package schedule

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

// profileReference is the loss profile of a world in the reference files.
type profileReference struct {
	Profile struct {
		Loss  []float64 `json:"loss_by_visible_count"`
		Sizes []struct {
			N     int
			Sizes []int
			Cost  float64 `json:"plan_nelbo"`
		} `json:"best_sizes"`
		Curve []struct {
			Lambda float64 `json:"masked_fraction"`
			Loss   float64
		} `json:"loss_curve"`
		Grids []struct {
			N      int
			Lambda []float64 `json:"masked_fractions"`
			Cost   float64   `json:"plan_nelbo"`
		} `json:"best_grids"`
	}
}

// TestProfileReference compares with schedules found by enumeration.
func TestProfileReference(t *testing.T) {
	// The network of the other world is time-conditioned: its loss at a masked fraction is not a
	// mixture of its losses at counts.
	for world, timeFree := range map[string]bool{"markov4-sharp": true, "timed3": false} {
		text := reftest.Must(os.ReadFile(reftest.Shared(t, "reference", "laws-more", world+".json")))(t)
		var ref profileReference
		reftest.OK(t, json.Unmarshal(text, &ref))
		c := ref.Profile.Loss
		for _, want := range ref.Profile.Sizes {
			if sizes, cost := BestSizes(c, want.N); !slices.Equal(sizes, want.Sizes) || !near(cost, want.Cost, 1e-12) {
				t.Errorf("%s: %d blocks %v cost %v, want %v and %v", world, want.N, sizes, cost, want.Sizes, want.Cost)
			}
		}
		if !timeFree {
			continue
		}
		for _, want := range ref.Profile.Curve {
			if f := LossCurve(c, want.Lambda); !near(f, want.Loss, 1e-12) {
				t.Errorf("%s: loss %v at %v, want %v", world, f, want.Lambda, want.Loss)
			}
		}
		for _, want := range ref.Profile.Grids {
			lambda := BestGrid(c, want.N)
			if !slices.EqualFunc(lambda, want.Lambda, func(a, b float64) bool { return near(a, b, 1e-12) }) || !near(gridCost(c, lambda), want.Cost, 1e-12) {
				t.Errorf("%s: grid of %d %v costs %v, want %v and %v", world, want.N, lambda, gridCost(c, lambda), want.Lambda, want.Cost)
			}
		}
	}
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// randomProfile returns d values, non-increasing or not.
func randomProfile(r *rand.Rand, d int, fall bool) []float64 {
	c := make([]float64, d)
	for j := range c {
		c[j] = r.ExpFloat64()
	}
	if fall {
		slices.Sort(c)
		slices.Reverse(c)
	}
	return c
}

// TestBestSizesPlain compares with straightforward dynamic programming.
func TestBestSizesPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := 1 + r.IntN(40)
		n := 1 + r.IntN(d+3)
		fall := r.IntN(2) == 0
		c := randomProfile(r, d, fall)
		if r.IntN(4) == 0 {
			c = Monotone(c, nil) // with equal values
			fall = true
		}
		// least[k][b] over exactly k blocks.
		least := [][]float64{make([]float64, d+1)}
		for b := 1; b <= d; b++ {
			least[0][b] = math.Inf(1)
		}
		for k := 1; k <= min(n, d); k++ {
			row := make([]float64, d+1)
			for b := range row {
				row[b] = math.Inf(1)
				for a := range b {
					row[b] = min(row[b], least[k-1][a]+float64(b-a)*c[a])
				}
			}
			least = append(least, row)
		}
		want := math.Inf(1)
		for _, row := range least {
			want = min(want, row[d])
		}
		sizes, cost := BestSizes(c, n)
		if !near(cost, want, 1e-12*(1+want)) || cost != SizesCost(c, sizes) {
			t.Fatalf("%d blocks over %v: %v costs %v, want %v", n, c, sizes, cost, want)
		}
		if fall && len(sizes) != min(n, d) {
			t.Errorf("%d blocks over a falling profile of %d: got %d", n, d, len(sizes))
		}
	}
}

func TestMonotone(t *testing.T) {
	got := Monotone([]float64{3, 1, 2, 5, 0}, []float64{1, 1, 3, 1, 1})
	want := []float64{3, 2.4, 2.4, 2.4, 0}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return near(a, b, 1e-15) }) {
		t.Errorf("got %v, want %v", got, want)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		c := randomProfile(r, 1+r.IntN(30), false)
		w := randomProfile(r, len(c), false)
		m := Monotone(c, w)
		if !falls(m) || !slices.Equal(Monotone(m, w), m) {
			t.Fatalf("Monotone(%v) = %v", c, m)
		}
		// m is the projection onto a cone: the residual is orthogonal to it, and its product with
		// any non-increasing sequence is not positive. Steps generate these.
		var product, upTo float64
		for j := range c {
			product += w[j] * (c[j] - m[j]) * m[j]
			upTo += w[j] * (c[j] - m[j])
			if upTo > 1e-12 {
				t.Fatalf("Monotone(%v): a step at %d is nearer", c, j)
			}
		}
		if !near(product, 0, 1e-10) || !near(upTo, 0, 1e-10) {
			t.Fatalf("Monotone(%v): the residual's product is %v, its sum %v", c, product, upTo)
		}
	}
}

// TestLossCurve checks that d·∫f = Σ c, and that long sequences neither overflow nor underflow.
func TestLossCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{1, 2, 7, 100, 5000} {
		c := randomProfile(r, d, true)
		var sum, integral float64
		for _, v := range c {
			sum += v
		}
		const n = 4000 // Simpson
		for i := range n + 1 {
			w := 2.0
			if i%2 == 1 {
				w = 4
			}
			if i == 0 || i == n {
				w = 1
			}
			integral += w / (3 * n) * LossCurve(c, float64(i)/n)
		}
		if got := float64(d) * integral; !near(got, sum, 1e-5*sum) {
			t.Errorf("d = %d: d∫f = %v, want %v", d, got, sum)
		}
		flat := slices.Repeat([]float64{2}, d)
		for _, lambda := range []float64{0, 1e-300, 1e-9, 0.3, 1 - 1e-16, 1} {
			if f := LossCurve(flat, lambda); !near(f, 2, 1e-12) {
				t.Errorf("d = %d: a flat profile of 2 has the loss %v at %v", d, f, lambda)
			}
		}
	}
}

// gridCost returns the cost of a grid: see [BestGrid].
func gridCost(c, lambda []float64) float64 {
	var sum float64
	for k, v := range lambda[:len(lambda)-1] {
		sum += (v - lambda[k+1]) * LossCurve(c, v)
	}
	return float64(len(c)) * sum
}

// TestBestGrid checks that the grid is never worse than the named grids, that fewer steps cost
// more, and that the long grids of the √-rule continue where the search ends.
func TestBestGrid(t *testing.T) {
	c := make([]float64, 128)
	for j := range c {
		c[j] = 2 + 3*math.Exp(-float64(j)/10)
	}
	last := math.Inf(1)
	for _, n := range []int{1, 2, 8, 64, maxGridSteps, maxGridSteps + 1} {
		lambda := BestGrid(c, n)
		cost := gridCost(c, lambda)
		if len(lambda) != n+1 || lambda[0] != 1 || lambda[n] != 0 {
			t.Fatalf("%d steps: a grid of %d from %v to %v", n, len(lambda)-1, lambda[0], lambda[n])
		}
		if n <= maxGridSteps && cost > last || !near(cost, last, 1e-5*cost) && n > maxGridSteps {
			t.Errorf("%d steps cost %v, fewer %v", n, cost, last)
		}
		last = cost
		for _, kind := range []GridKind{GridLambda, GridCos2, GridCosine} {
			if n == 1 {
				break
			}
			other := make([]float64, n+1)
			for k := range other {
				other[k] = curve(kind, k, n)
			}
			if g := gridCost(c, other); cost > g+1e-3 {
				t.Errorf("%d steps: best costs %v, %s %v", n, cost, kind, g)
			}
		}
	}
	for _, flat := range []float64{0, 1} {
		c := slices.Repeat([]float64{flat}, 4)
		if lambda := BestGrid(c, maxGridSteps+5); len(lambda) != maxGridSteps+6 || !near(gridCost(c, lambda), 4*flat, 1e-9) {
			t.Errorf("a flat profile: %d steps cost %v", len(lambda)-1, gridCost(c, lambda))
		}
	}
}
