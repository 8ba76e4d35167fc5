package draw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

// racingOver prepares draws by gumbel.
func racingOver(t testing.TB, v Vocabulary, d Settings) *Categorical {
	t.Helper()
	c := reftest.Must(NewCategorical(v, d))(t)
	c.by = ByGumbel
	return c
}

// spreadRow returns a row of normal logits with a standard deviation.
func spreadRow(r *rand.Rand, n int, deviation float64) []float32 {
	row := make([]float32, n)
	for i := range row {
		row[i] = float32(r.NormFloat64() * deviation)
	}
	return row
}

// exponential returns the noise of a token in the race of w, computed separately.
func exponential(w float64, token int) float64 {
	x := (float64(splitMix(math.Float64bits(w)+uint64(token+1)*0x9e3779b97f4a7c15)>>1) + 0.5) * 0x1p-63
	return -math.Log1p(-x)
}

// TestRaceOfAll checks that the race skips no token that would have won: its result is the argmax
// of log p + Gumbel noise over all tokens, computed one by one, for rows of any shape, with
// excluded columns, temperatures and truncations, and over explicit weights.
func TestRaceOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, columns := range []int{1, 2, 63, 64, 65, 1000} {
		for _, deviation := range []float64{0, 1, 4, 30, 300} {
			for _, d := range []Settings{{}, {Temperature: new(0.5)}, {TopK: 3}, {TopP: 0.9, Temperature: new(1.5)}} {
				v := Vocabulary{Columns: columns + 2, Mask: columns + 1, Excluded: []int{columns / 2}}
				c, other := racingOver(t, v, d), racingOver(t, v, Settings{})
				row := spreadRow(r, columns+2, deviation)
				row[r.IntN(len(row))] = float32(math.Inf(-1))
				p := make([]float64, len(row))
				if c.Probabilities(p, Single(row)) != nil {
					continue // all remaining tokens have probability 0
				}
				for range 50 {
					w := (float64(r.Uint64()>>11) + 0.5) * 0x1p-53
					want, best := -1, math.Inf(-1)
					for a, q := range p {
						if g := math.Log(q) - math.Log(exponential(w, a)); g > best {
							want, best = a, g
						}
					}
					if got, logP, err := c.TokenLog(Single(row), w); err != nil || got != want || math.Abs(logP-math.Log(p[want])) > 1e-12*(1-math.Log(p[want])) {
						t.Fatalf("%d columns, deviation %v, %+v: token %d with %v, %v, want %d with %v", columns, deviation, d, got, logP, err, want, math.Log(p[want]))
					}
					if got, _ := other.Pick(p, w); got != want {
						t.Fatalf("%d columns, deviation %v, %+v: token %d of the weights, want %d", columns, deviation, d, got, want)
					}
				}
			}
		}
	}
}

// TestRaceIsFair checks that tokens win with their probabilities, including rare ones, at any place
// in the row. The second place, the winner without the first token, has probability p_j/(1−p_i)
// only if the noise of tokens is independent; it is checked too.
func TestRaceIsFair(t *testing.T) {
	reftest.Long(t)
	const n, rare = 200_000, 1e-4
	p := make([]float64, 200) // several stretches
	for i, x := range map[int]float64{0: rare, 3: 0.1, 60: 0.3, 64: 0.05, 130: 2 * rare, 199: 0.25, 198: 0.3 - 3*rare} {
		p[i] = x
	}
	c := racingOver(t, Vocabulary{Columns: 200, Mask: 200}, Settings{})
	first, both := make([]int, 200), make([]int, 200*200)
	joint := make([]float64, len(both))
	rest := slices.Clone(p)
	for i := range uint64(n) {
		w := NewNumbers(11, i).Token(0)
		a, logP := c.Pick(p, w)
		if math.Abs(logP-math.Log(p[a])) > 1e-12 {
			t.Fatalf("token %d with log p %v", a, logP)
		}
		rest[a] = 0
		b, _ := c.Pick(rest, w)
		rest[a] = p[a]
		first[a]++
		both[a*200+b]++
	}
	for a := range p {
		for b := range p {
			if a != b {
				joint[a*200+b] = p[a] * p[b] / (1 - p[a])
			}
		}
	}
	for name, x := range map[string]struct {
		counts []int
		law    []float64
	}{"winners": {first, p}, "winners and seconds": {both, joint}} {
		var counts []int
		var law []float64
		for i, q := range x.law {
			if q*n >= 5 {
				counts, law = append(counts, x.counts[i]), append(law, q)
			} else if q == 0 && x.counts[i] > 0 {
				t.Errorf("%s: what has probability 0 won", name)
			}
		}
		if got := reftest.Goodness(counts, law); got < 1e-4 {
			t.Errorf("%s: chi-square p = %.3g", name, got)
		}
	}
}

// TestRaceNoise checks that tokens drawn from one row with numbers that differ in one argument,
// seed, sequence, position or number of the draw, are uniform and independent of their neighbours,
// and so is the noise of neighbouring tokens.
func TestRaceNoise(t *testing.T) {
	reftest.Long(t)
	const n, cells = 1 << 16, 16
	equal := slices.Repeat([]float64{1}, 160)
	c := racingOver(t, Vocabulary{Columns: 160, Mask: 160}, Settings{})
	drawn := func(w float64) int {
		token, _ := c.Pick(equal, w)
		return token % cells
	}
	for name, at := range map[string]func(i uint64) int{
		"seed":     func(i uint64) int { return drawn(NewNumbers(i, 3).Token(5)) },
		"index":    func(i uint64) int { return drawn(NewNumbers(3, i).Token(5)) },
		"position": func(i uint64) int { return drawn(NewNumbers(3, 4).Token(int(i))) },
		"number":   func(i uint64) int { return drawn(NewNumbers(3, 4).uniform(forTokens, 5, i)) },
		"token":    func(i uint64) int { return int(-math.Expm1(-exponential(0.3, int(i))) * cells) },
	} {
		pairs, last := make([]int, cells*cells), at(n)
		for i := range uint64(n) {
			x := at(i)
			pairs[last*cells+x]++
			last = x
		}
		if p := reftest.Goodness(pairs, slices.Repeat([]float64{1.0 / cells / cells}, cells*cells)); p < 1e-4 {
			t.Errorf("along the %s: chi-square of pairs has p = %.3g", name, p)
		}
	}
}

// TestRaceCouples checks that the noise of a token does not depend on the row. A token that wins also
// wins if others are excluded, and similar rows nearly always give the same token: with Gumbel noise
// they differ with probability at most twice the distance of the distributions, and with inversion more often.
func TestRaceCouples(t *testing.T) {
	reftest.Long(t)
	const columns, n = 2000, 4000
	v := Vocabulary{Columns: columns, Mask: columns}
	all, few := racingOver(t, v, Settings{}), racingOver(t, v, Settings{TopK: 40})
	inverse, _ := NewCategorical(v, Settings{})
	r := rand.New(rand.NewPCG(5, 5))
	row := spreadRow(r, columns, 2)
	near := slices.Clone(row)
	for i := range near {
		near[i] += float32(0.1 * r.NormFloat64())
	}
	p, q, kept := make([]float64, columns), make([]float64, columns), make([]float64, columns)
	for dst, from := range map[*[]float64][]float32{&p: row, &q: near} {
		reftest.OK(t, all.Probabilities(*dst, Single(from)))
	}
	reftest.OK(t, few.Probabilities(kept, Single(row)))
	var tv float64
	for i := range p {
		tv += math.Abs(p[i]-q[i]) / 2
	}
	token := func(c *Categorical, row []float32, w float64) int {
		return reftest.Must(c.Token(Single(row), w))(t)
	}
	inside, apart, apartInverse := 0, 0, 0
	for i := range uint64(n) {
		w := NewNumbers(2, i).Token(0)
		a := token(all, row, w)
		if kept[a] > 0 {
			if inside++; token(few, row, w) != a {
				t.Fatalf("token %d wins among all, and not among the likeliest", a)
			}
		}
		if token(all, near, w) != a {
			apart++
		}
		if token(inverse, near, w) != token(inverse, row, w) {
			apartInverse++
		}
	}
	if most := 2 * tv / (1 + tv) * n; float64(apart) > most+5*math.Sqrt(most) || apartInverse < 2*apart || inside < n/10 {
		t.Errorf("of %d draws %d differ, at most %.0f by the distance %.3g; inverse %d; %d among the likeliest", n, apart, most, tv, apartInverse, inside)
	}
}

// TestRaceEnds checks that skipped tokens could not have won, at any limit, and that at temperature
// 0 the greatest logit is drawn.
func TestRaceEnds(t *testing.T) {
	c := racingOver(t, Vocabulary{Columns: 3, Mask: 3}, Settings{Temperature: new(0.0)})
	if token, logP, err := c.TokenLog(Single([]float32{1, 3, 3}), 0.5); token != 1 || logP != 0 || err != nil {
		t.Errorf("at temperature 0: token %d, %v, %v", token, logP, err)
	}
	for _, limit := range []float64{0, 0x1p-70, 0x1p-40, 0.3, 1 - 0x1p-53, 1, 7, math.Inf(1), math.NaN()} {
		if got, least := reach(limit), min(limit, 1)*0x1p63; float64(got) < math.Floor(least) {
			t.Errorf("reach(%v) is %d", limit, got)
		}
	}
}
