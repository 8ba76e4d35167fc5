package match

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// small is a vocabulary with tokens of several bytes, one in no text, an end, and a mask.
var small = []string{"a", "b", "ab", "c", "bc", "", "<end>", "<mask>"}

const (
	smallEnd  = 6
	smallMask = 7
)

func smallLanguage(t testing.TB, pattern string, end int) *Language {
	texts := make([][]byte, smallMask)
	for i := range texts[:6] {
		texts[i] = []byte(small[i])
	}
	return reftest.Must(NewVocabulary(texts, end).Language(t.Context(), pattern))(t)
}

// inLanguage reports whether a canvas without masks is in the language: whether its text up to the
// end matches.
func inLanguage(want *regexp.Regexp, ids []int64, end int) bool {
	var text strings.Builder
	for i, id := range ids {
		if end >= 0 && int(id) == end {
			return want.MatchString(text.String()) && !slices.ContainsFunc(ids[i:], func(x int64) bool { return int(x) != end })
		}
		if int(id) >= len(small) || small[id] == "" || small[id][0] == '<' {
			return false
		}
		text.WriteString(small[id])
	}
	return want.MatchString(text.String())
}

// completes reports whether some completion of all masks is in the language.
func completes(want *regexp.Regexp, ids []int64, end int) bool {
	l := slices.Index(ids, smallMask)
	if l < 0 {
		return inLanguage(want, ids, end)
	}
	ids = slices.Clone(ids)
	for a := range int64(smallMask) {
		if ids[l] = a; completes(want, ids, end) {
			return true
		}
	}
	return false
}

// enumerate returns the law of the tokens of a group: the product of their rows restricted to
// tokens with which the rest can be filled.
func enumerate(want *regexp.Regexp, ids []int64, group []int, rows [][]float64, end int) (law map[string]float64, marginals []map[int]float64) {
	law = make(map[string]float64)
	marginals = make([]map[int]float64, len(group))
	for i := range marginals {
		marginals[i] = make(map[int]float64)
	}
	total := 0.0
	var fill func(i int, ids []int64, p float64)
	fill = func(i int, ids []int64, p float64) {
		if i == len(group) {
			if p > 0 && completes(want, ids, end) {
				law[fmt.Sprint(ids)] += p
				for k, l := range group {
					marginals[k][int(ids[l])] += p
				}
				total += p
			}
			return
		}
		for a, q := range rows[i] {
			next := slices.Clone(ids)
			next[group[i]] = int64(a)
			fill(i+1, next, p*q)
		}
	}
	fill(0, slices.Clone(ids), 1)
	for k := range law {
		law[k] /= total
	}
	for _, m := range marginals {
		for a := range m {
			m[a] /= total
		}
	}
	return law, marginals
}

type jointCase struct {
	pattern string
	end     int
	canvas  []int64
	group   []int
}

const m = smallMask

var jointCases = []jointCase{
	{`a(b|c)*`, -1, []int64{m, m, m}, []int{0, 1, 2}},
	{`(ab|c)*`, -1, []int64{m, m, m, m}, []int{0, 3}}, // a gap, after which several states are possible
	{`(ab)*c?`, smallEnd, []int64{m, m, m, m}, []int{0, 1, 2, 3}},
	{`(ab)*c?`, smallEnd, []int64{m, m, m, m}, []int{2}},
	{`[ab]{3,5}c`, -1, []int64{m, 1, m, m}, []int{0, 2}},
	{`a.*c`, smallEnd, []int64{m, m, 3, m, m}, []int{1, 4}},
	{`(a|b)*abb(a|b)*`, -1, []int64{m, m, m, m}, []int{1, 3}},
	{`abcabc|cbacba`, smallEnd, []int64{m, m, m, m, m, m}, []int{0, 2, 5}},
	{`a*`, smallEnd, []int64{0, m, m}, []int{1, 2}},
	{`.*`, -1, []int64{m, m}, []int{0, 1}},
}

// newJoint returns a joint with rows of random logits.
func newJoint(t testing.TB, c jointCase, how draw.Settings, by draw.By, r *rand.Rand) (*joint, []draw.Row, [][]float64) {
	all := reftest.Must(draw.NewCategorical(draw.Vocabulary{Columns: smallMask, Mask: smallMask}, draw.Settings{}))(t)
	law := reftest.Must(all.With(how, by))(t)
	j := &joint{sets: newSets(smallLanguage(t, c.pattern, c.end)), law: &law, plain: all, mask: smallMask, to: len(c.canvas), cold: how.AtTemperature() == 0}
	var rows []draw.Row
	var ps [][]float64
	for range c.group {
		x, p := make([]float64, smallMask), make([]float64, smallMask)
		for a := range x {
			x[a] = r.NormFloat64()
		}
		rows = append(rows, draw.Double(x))
		reftest.OK(t, law.Probabilities(p, rows[len(rows)-1]))
		ps = append(ps, p)
	}
	return j, rows, ps
}

// drawn draws a group, each token by a uniform.
func (j *joint) drawn(t testing.TB, c jointCase, rows []draw.Row, uniform func() float64) ([]int64, []draw.Result) {
	t.Helper()
	ids, got := slices.Clone(c.canvas), make([]draw.Result, len(c.group))
	var group []*wanted
	for i, l := range c.group {
		group = append(group, &wanted{position: l, row: rows[i], uniform: uniform(), to: &got[i]})
	}
	reftest.OK(t, j.draw(ids, group), c.pattern)
	return ids, got
}

// TestJointLaw compares groups with their enumerated laws: counts by chi-square, and the joint and
// marginal log-probabilities of draws up to rounding.
func TestJointLaw(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for i, c := range jointCases {
		for _, by := range []draw.By{draw.ByInverse, draw.ByGumbel} {
			for _, temperature := range []float64{1, 0.6} {
				name := fmt.Sprintf("%d: %s %s at %v", i, c.pattern, by, temperature)
				j, rows, ps := newJoint(t, c, draw.Settings{Temperature: &temperature}, by, r)
				want := regexp.MustCompile(`\A(?:` + c.pattern + `)\z`)
				law, marginals := enumerate(want, c.canvas, c.group, ps, c.end)
				counts := make(map[string]int)
				const n = 2000
				for k := range n {
					j.marginal, j.top = k%2 == 1, k%3
					ids, got := j.drawn(t, c, rows, r.Float64)
					logP := 0.0
					for i, g := range got {
						logP += g.LogP
						if own := math.Log(marginals[i][g.Token]); j.marginal && math.Abs(own-g.LogP) > 1e-12*(1-own) {
							t.Fatalf("%s: log p of token %d at %d is %v, want %v", name, g.Token, c.group[i], g.LogP, own)
						}
					}
					if p := math.Log(law[fmt.Sprint(ids)]); !j.marginal && math.Abs(p-logP) > 1e-12*(1-p) {
						t.Fatalf("%s: log p of %v is %v, want %v", name, ids, logP, p)
					}
					counts[fmt.Sprint(ids)]++
				}
				var seen []int
				var p []float64
				for text, q := range law {
					seen, p = append(seen, counts[text]), append(p, q)
				}
				if x := reftest.Goodness(seen, p); x < 1e-4 {
					t.Errorf("%s: p = %v", name, x)
				}
			}
		}
	}
}

// TestJointCold checks that temperature 0 selects the jointly likeliest tokens, and that the
// marginals are of temperature 1.
func TestJointCold(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range jointCases {
		for range 20 {
			j, rows, ps := newJoint(t, c, draw.Settings{}, draw.ByInverse, r)
			j.cold, j.top = true, 2
			ids, got := j.drawn(t, c, rows, func() float64 { return 0 })
			law, marginals := enumerate(regexp.MustCompile(`\A(?:`+c.pattern+`)\z`), c.canvas, c.group, ps, c.end)
			for text, p := range law {
				if p > law[fmt.Sprint(ids)]*(1+1e-12) {
					t.Errorf("%s: %v has %v, and %s %v", c.pattern, ids, law[fmt.Sprint(ids)], text, p)
				}
			}
			for i, g := range got {
				for _, x := range g.Top {
					if p := marginals[i][x.Token]; math.Abs(math.Exp(x.LogP)-p) > 1e-12 {
						t.Errorf("%s: token %d at %d has %v, want %v", c.pattern, x.Token, c.group[i], math.Exp(x.LogP), p)
					}
				}
				if g.LogP != 0 || g.Top[0].Token != g.Token {
					t.Errorf("%s: %+v", c.pattern, g)
				}
			}
		}
	}
}

// TestFarLogits checks draws whose weights underflow float64: at a low temperature only a token 8
// nats below the best has a continuation.
func TestFarLogits(t *testing.T) {
	t.Parallel()
	cold := 0.01
	c := jointCase{`ac|bb`, -1, []int64{m, m}, []int{0, 1}}
	j, _, _ := newJoint(t, c, draw.Settings{Temperature: &cold}, draw.ByInverse, rand.New(rand.NewPCG(1, 1)))
	// log p is 0 − 1900 for a c and −800 + 0 for b b, after the temperature; the total is 1100 greater.
	rows := []draw.Row{draw.Double([]float64{0, -8, -50, -50, -50, 0, 0}), draw.Double([]float64{-50, 0, -50, -19, -50, 0, 0})}
	for k := range 5 {
		j.marginal, j.top = k%2 == 1, 2
		u := 0.0
		ids, got := j.drawn(t, c, rows, func() float64 { u += 0.3; return u })
		if ids[0] != 1 || ids[1] != 1 || math.Abs(got[0].LogP) > 1e-9 || math.Abs(got[1].LogP) > 1e-9 {
			t.Errorf("drew %v with %+v", ids, got)
		}
	}
}

// TestTruncatedGroups checks that truncation applies to the possible tokens, and that a group whose
// truncated rows exclude each other still ends in a match.
func TestTruncatedGroups(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range jointCases {
		want := regexp.MustCompile(`\A(?:` + c.pattern + `)\z`)
		for range 50 {
			j, rows, _ := newJoint(t, c, draw.Settings{TopK: 1}, draw.ByInverse, r)
			ids, _ := j.drawn(t, c, rows, r.Float64)
			if !completes(want, ids, c.end) {
				t.Errorf("%s: %v cannot be completed", c.pattern, ids)
			}
		}
	}
}
