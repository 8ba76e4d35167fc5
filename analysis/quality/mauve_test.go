package quality

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCurve compares with the areas that the formula of MAUVE's code gives in numpy; of equal
// histograms, where its order of points is left to chance, the area is 1.
func TestCurve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p, q []float64
		want float64
	}{
		{[]float64{0.5, 0.5}, []float64{0.5, 0.5}, 1},
		{[]float64{1, 0}, []float64{0, 1}, 0.0040720962619612555},
		{[]float64{0.5, 0.5}, []float64{0.9, 0.1}, 0.6710958126174331},
		{[]float64{0.2, 0.3, 0.5, 0}, []float64{0.1, 0.4, 0.2, 0.3}, 0.4681811687969357},
	} {
		if got := curve(c.p, c.q); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, %v: %v, want %v", c.p, c.q, got, c.want)
		}
	}
}

// cloud draws n points about one of three places, the last with the given probability.
func cloud(r *rand.Rand, n int, far float64) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		at := r.IntN(2)
		if r.Float64() < far {
			at = 2
		}
		out[i] = make([]float64, 6)
		for l := range out[i] {
			out[i][l] = 0.1 * r.NormFloat64()
		}
		out[i][at] += 3
	}
	return out
}

// TestKMeans finds clusters that lie apart.
func TestKMeans(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	points := cloud(r, 90, 0.3)
	labels := kMeans(points, 3, r)
	seen := make(map[int]int)
	for i, x := range points {
		place := 0
		for l := range 3 {
			if x[l] > 1.5 {
				place = l
			}
		}
		if c, ok := seen[place]; ok && c != labels[i] {
			t.Fatalf("a point of place %d is in the clusters %d and %d", place, c, labels[i])
		}
		seen[place] = labels[i]
	}
	if len(seen) != 3 || seen[0] == seen[1] || seen[1] == seen[2] || seen[0] == seen[2] {
		t.Errorf("places have the clusters %v", seen)
	}
}

// TestCompare: samples of the reference's own law get what its halves get of each other, others
// less; small sizes have a bias, which the halves show.
func TestCompare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	get := func(n int, far float64) Likeness {
		x, err := Compare(cloud(r, n, far), cloud(r, 2*n, 0.2), 7)
		if err != nil || x.Texts != n || x.Clusters != max(2, n/10) {
			t.Fatal(x, err)
		}
		return x
	}
	same, other, small := get(200, 0.2), get(200, 0.7), get(20, 0.2)
	if s := same; math.Abs(s.Samples.Mean-s.Reference.Mean) > 0.1 || s.Reference.Mean < 0.85 {
		t.Errorf("the same law: %v, the reference's halves %v", s.Samples, s.Reference)
	}
	if o := other; o.Samples.Mean > o.Reference.Mean-0.2 || o.Samples.Hi > o.Reference.Lo {
		t.Errorf("another law: %v, the reference's halves %v", o.Samples, o.Reference)
	}
	if e := small.Reference; e.Lo > e.Mean || e.Hi < e.Mean || e.SE <= same.Reference.SE {
		t.Errorf("20 texts: %+v", e)
	}
	again, err := Compare(cloud(rand.New(rand.NewPCG(3, 3)), 20, 0.2), cloud(rand.New(rand.NewPCG(4, 4)), 40, 0.2), 7)
	once, err2 := Compare(cloud(rand.New(rand.NewPCG(3, 3)), 20, 0.2), cloud(rand.New(rand.NewPCG(4, 4)), 40, 0.2), 7)
	if err != nil || err2 != nil || again.Samples.Mean != once.Samples.Mean {
		t.Errorf("the same seed: %v and %v", again, once)
	}
	if _, err := Compare(cloud(r, 19, 0), cloud(r, 40, 0), 1); err == nil || !strings.Contains(err.Error(), "at least 20 and 40") {
		t.Errorf("too few: %v", err)
	}
}

// TestProject: features have length 1, do not depend on what all logits have in common, and
// are as far apart as the rows are, nearly.
func TestProject(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	a, b, shifted := make([]float32, 1000), make([]float32, 1000), make([]float32, 1000)
	for c := range a {
		a[c], b[c] = float32(r.NormFloat64()), float32(r.NormFloat64())
		shifted[c] = a[c] + 5
	}
	x, y, z := project(a), project(b), project(shifted)
	if d := distance(x, y); math.Abs(distance(x, make([]float64, featureSize))-1) > 1e-12 || math.Abs(d-2) > 0.6 {
		t.Errorf("independent rows are %v apart, want about 2", d)
	}
	if d := distance(x, z); d > 1e-10 {
		t.Errorf("a shift of all logits moves the feature by %v", d)
	}
}
