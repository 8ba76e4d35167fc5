package plan

import (
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// raceLaw is the law of a race with b-bit uniforms by running over all of them: the last
// entry is MASK's.
func raceLaw(q []float64, bits int) []float64 {
	law := make([]float64, len(q))
	values := 1<<bits - 1
	u := make([]int, len(q))
	total := math.Pow(float64(values), float64(len(q)))
	for range int(total) {
		// The least column wins among equals, MASK before all of them.
		best, least := len(q)-1, -math.Log(float64(u[len(q)-1]+1)/float64(values+1))/q[len(q)-1]
		for a := range len(q) - 1 {
			if key := -math.Log(float64(u[a]+1)/float64(values+1)) / q[a]; key < least {
				best, least = a, key
			}
		}
		law[best] += 1 / total
		for i := range u {
			if u[i]++; u[i] < values {
				break
			}
			u[i] = 0
		}
	}
	return law
}

// TestRaceOfFewBits compares races with 5 bits with the law by enumeration, and shows
// that it is not the exact one; with 53 bits it is.
func TestRaceOfFewBits(t *testing.T) {
	mu := []float64{0.1, 0, 0.7, 0.2}
	const jump, n = 0.2, 200_000
	exact := []float64{jump * mu[0], jump * mu[2], jump * mu[3], 1 - jump}
	for _, c := range []struct {
		bits     int
		law      []float64
		far      bool
		category string
	}{
		{5, raceLaw(exact, 5), true, "5 bits"},
		{53, exact, false, "53 bits"},
	} {
		g := gumbelKernel{bits: c.bits}
		counts := make([]int, 4)
		for i := range n {
			switch g.race(mu, jump, draw.NewNumbers(7, 0).Race(0, i)) {
			case 0:
				counts[0]++
			case 2:
				counts[1]++
			case 3:
				counts[2]++
			case -1:
				counts[3]++
			default:
				t.Fatal("a token of probability 0 won")
			}
		}
		if p := reftest.Goodness(counts, c.law); p < 1e-3 {
			t.Errorf("%s: chi-square p = %.3g: counts %v, law %v", c.category, p, counts, c.law)
		}
		if p := reftest.Goodness(counts, exact); c.far && p > 1e-6 {
			t.Errorf("%s: chi-square p = %.3g under the exact law: the loss of rare tokens is not seen", c.category, p)
		}
	}
	// Rare tokens lose by the factor x/(e^x−1), x = 2^−b/q.
	law, x := raceLaw(exact, 5), 1.0/32/exact[0]
	if got, want := law[0]/exact[0], x/math.Expm1(x); math.Abs(got-want) > 0.1*want {
		t.Errorf("a token of probability %v keeps %.3g of it, the formula says %.3g", exact[0], got, want)
	}
}

// TestRaceWithoutMask draws in a last step, where MASK has probability 0.
func TestRaceWithoutMask(t *testing.T) {
	mu := []float64{0.5, 0.5}
	counts := make([]int, 2)
	for i := range 10_000 {
		counts[(gumbelKernel{bits: 24}).race(mu, 1, draw.NewNumbers(1, 0).Race(i, 0))]++
	}
	if p := reftest.Goodness(counts, mu); p < 1e-3 {
		t.Errorf("chi-square p = %.3g: counts %v", p, counts)
	}
}
