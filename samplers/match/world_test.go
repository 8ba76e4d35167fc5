package match_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
)

// worldLaw computes laws on a world whose tokens are letters.
type worldLaw struct {
	t    *testing.T
	w    *world.World
	law  *draw.Categorical
	want *regexp.Regexp // nil for every text
	mask int
}

func (w worldLaw) can(canvas []int) bool {
	l := slices.Index(canvas, w.mask)
	if l < 0 {
		text := ""
		for _, id := range canvas {
			text += string(rune('a' + id))
		}
		return w.want == nil || w.want.MatchString(text)
	}
	return slices.ContainsFunc([]int{0, 1, 2}, func(a int) bool { return w.can(slices.Concat(canvas[:l], []int{a}, canvas[l+1:])) })
}

// fill adds to out the law of groups of the given sizes, of uniform positions, each drawn from the
// product of its rows restricted to tokens with which the rest can match.
func (w worldLaw) fill(canvas []int, sizes []int, p float64, out map[string]float64) {
	if len(sizes) == 0 {
		out[fmt.Sprint(canvas)] += p
		return
	}
	var free []int
	for l, id := range canvas {
		if id == w.mask {
			free = append(free, l)
		}
	}
	var groups [][]int
	for set := range 1 << len(free) {
		var group []int
		for i, l := range free {
			if set>>i&1 == 1 {
				group = append(group, l)
			}
		}
		if len(group) == sizes[0] {
			groups = append(groups, group)
		}
	}
	for _, group := range groups {
		ids := make([]int64, len(canvas))
		for l, id := range canvas {
			ids[l] = int64(id)
		}
		var c samplers.Call
		spec := w.w.Spec()
		c.Add(&spec, ids, samplers.AskRow{Positions: group})
		rows := reftest.Must(samplers.RowsOf(w.t.Context(), w.w, c))(w.t)
		laws := make([][]float64, len(group))
		for i := range group {
			laws[i] = make([]float64, spec.Columns)
			reftest.OK(w.t, w.law.Probabilities(laws[i], rows.Slice(i*spec.Columns, (i+1)*spec.Columns)))
		}
		var nexts [][]int
		var ps []float64
		total := 0.0
		var each func(i int, next []int, q float64)
		each = func(i int, next []int, q float64) {
			if i == len(group) {
				if w.can(next) {
					nexts, ps, total = append(nexts, slices.Clone(next)), append(ps, q), total+q
				}
				return
			}
			for a, r := range laws[i] {
				if a != w.mask {
					next[group[i]] = a
					each(i+1, next, q*r)
				}
			}
			next[group[i]] = w.mask
		}
		each(0, slices.Clone(canvas), 1)
		for i, next := range nexts {
			w.fill(next, sizes[1:], p*ps[i]/total/float64(len(groups)), out)
		}
	}
}

// TestWorldLaw compares samples on a world with the enumerated law of restricted reveals. The distance of
// that law to the sampler's law conditioned on a match is positive except for one group of all positions.
func TestWorldLaw(t *testing.T) {
	t.Parallel()
	const pattern = `(a|b)*c|ab.|c+`
	net := reftest.Must(world.Open(reftest.Law(t, "markov3-exact")))(t)
	spec := net.Spec()
	v := match.NewVocabulary([][]byte{[]byte("a"), []byte("b"), []byte("c")}, -1)
	language := reftest.Must(v.Language(t.Context(), pattern))(t)
	for _, c := range []struct {
		name  string
		o     catalog.Options
		sizes []int
		apart float64 // the value in docs/howto/match.md
	}{
		{"one by one", catalog.Options{}, []int{1, 1, 1}, 0.4768}, {"two, then one", catalog.Options{Sampler: "parallel-fhs", Sizes: "2,1"}, []int{2, 1}, 0.1625},
		{"all at once", catalog.Options{Sampler: "parallel-fhs", Sizes: "3"}, []int{3}, 0}, {"looking ahead", catalog.Options{Lookahead: 3}, []int{1, 1, 1}, 0.4768},
	} {
		w := worldLaw{t, net, reftest.Must(draw.NewCategorical(spec.Vocabulary, draw.Settings{}))(t), regexp.MustCompile(`\A(?:` + pattern + `)\z`), spec.Mask}
		canvas := slices.Repeat([]int{spec.Mask}, 3)
		restricted, free, conditioned := make(map[string]float64), make(map[string]float64), make(map[string]float64)
		w.fill(canvas, c.sizes, 1, restricted)
		matching := w
		w.want = nil
		w.fill(canvas, c.sizes, 1, free)
		total, tv := 0.0, 0.0
		for a := range 27 {
			ids := []int{a / 9, a / 3 % 3, a % 3}
			if matching.can(ids) {
				conditioned[fmt.Sprint(ids)] = free[fmt.Sprint(ids)]
				total += free[fmt.Sprint(ids)]
			}
		}
		for text, p := range conditioned {
			tv += math.Abs(p/total-restricted[text]) / 2
		}
		t.Logf("%s: TV to the conditioned law %.4f, which has %.4f of the sampler's", c.name, tv, total)
		if math.Abs(tv-c.apart) > 1e-4 {
			t.Errorf("%s: TV to the conditioned law is %v", c.name, tv)
		}
		c.o.Match = []match.Rule{{Language: language}}
		s := reftest.Must(catalog.New(c.o, spec))(t)
		if !s.Settings().ChangesLaw || s.Planned() {
			t.Errorf("%s: %+v", c.name, s.Settings())
		}
		var seqs []samplers.Sequence
		for i := range 5000 {
			seqs = append(seqs, samplers.Sequence{Index: uint64(i), Canvas: canvas})
		}
		counts := make(map[string]int)
		_, err := samplers.Sample(t.Context(), net, slices.Values(seqs), samplers.Config{Method: s, Seed: 3, Batch: 64}, func(r samplers.Result) error {
			counts[fmt.Sprint(r.IDs)]++
			if len(c.sizes) == 1 && math.Abs(r.LogP-math.Log(restricted[fmt.Sprint(r.IDs)])) > 1e-9 {
				t.Errorf("log p of %v is %v, want %v", r.IDs, r.LogP, math.Log(restricted[fmt.Sprint(r.IDs)]))
			}
			return nil
		})
		reftest.OK(t, err)
		var seen []int
		var law []float64
		for text, p := range restricted {
			seen, law = append(seen, counts[text]), append(law, p)
		}
		if p := reftest.Goodness(seen, law); p < 1e-4 {
			t.Errorf("%s: p = %v", c.name, p)
		}
	}
}

// TestNotWith checks that options that cannot be combined with a pattern are rejected by name, and
// so are canvases without a text.
func TestNotWith(t *testing.T) {
	t.Parallel()
	v := match.NewVocabulary([][]byte{[]byte("a"), []byte("bc")}, -1)
	spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 2, Mask: 2}}
	rules := []match.Rule{{Language: reftest.Must(v.Language(t.Context(), `a*|a{9}bc`))(t)}}
	for want, o := range map[string]catalog.Options{
		"p2": {Sampler: "p2"}, "trapezoidal": {Sampler: "trapezoidal"}, "stop": {RankOptions: catalog.RankOptions{BlockLength: 2, Stop: new(int)}}, "masks": {Sampler: "tweedie", Finish: "leave"},
		"banned words": {LayerOptions: catalog.LayerOptions{BadWordsIDs: "1"}},
	} {
		o.Match = rules
		_, err := catalog.New(o, spec)
		reftest.Fails(t, err, want)
	}
	for _, c := range []struct {
		pattern, want string
		canvas        []int
	}{{`bc`, "matches no text of 3 tokens", []int{2, 2, 2}}, {`(bc){4}`, "needs at least 4 tokens", []int{2, 2, 2}}, {`a*`, "matches no text of 3 tokens that keeps the given tokens", []int{2, 1, 2}}} {
		s := reftest.Must(catalog.New(catalog.Options{Match: []match.Rule{{Language: reftest.Must(v.Language(t.Context(), c.pattern))(t)}}}, spec))(t)
		reftest.Fails(t, s.Check(spec, c.canvas), c.want)
	}
}

// TestParticles checks that particles inside a language converge to the sampler's law conditioned
// on a match, whose distance to restricted reveals alone is 0.48, and estimate its probability
// without bias. Blocks cannot be combined with them.
func TestParticles(t *testing.T) {
	t.Parallel()
	const pattern, draws = `(a|b)*c|ab.|c+`, 2000
	net := reftest.Must(world.Open(reftest.Law(t, "markov3-exact")))(t)
	spec := net.Spec()
	free := worldLaw{t, net, reftest.Must(draw.NewCategorical(spec.Vocabulary, draw.Settings{}))(t), nil, spec.Mask}
	canvas, law, z := slices.Repeat([]int{spec.Mask}, 3), make(map[string]float64), 0.0
	free.fill(canvas, []int{1, 1, 1}, 1, law)
	matching := free
	matching.want = regexp.MustCompile(`\A(?:` + pattern + `)\z`)
	for a := range 27 {
		if ids := []int{a / 9, a / 3 % 3, a % 3}; matching.can(ids) {
			z += law[fmt.Sprint(ids)]
		} else {
			delete(law, fmt.Sprint(ids))
		}
	}
	noise := 0.0 // the mean TV of as many draws from the conditioned law
	for _, p := range law {
		noise += math.Sqrt(p / z * (1 - p/z) / draws / (2 * math.Pi))
	}
	v := match.NewVocabulary([][]byte{[]byte("a"), []byte("b"), []byte("c")}, -1)
	o := catalog.Options{Match: []match.Rule{{Language: reftest.Must(v.Language(t.Context(), pattern))(t)}}}
	last := 0.4768 // for one particle, see TestWorldLaw
	for _, n := range []int{2, 8, 32} {
		o.Particles = n
		counts, sum, squares := make(map[string]int), 0.0, 0.0
		_, err := samplers.Sample(t.Context(), net, func(yield func(samplers.Sequence) bool) {
			for i := 0; i < draws && yield(samplers.Sequence{Index: uint64(i), Canvas: canvas}); i++ {
			}
		}, samplers.Config{Method: reftest.Must(catalog.New(o, spec))(t), Seed: 3, Batch: 64}, func(r samplers.Result) error {
			counts[fmt.Sprint(r.IDs)]++
			sum, squares = sum+math.Exp(*r.LogZ), squares+math.Exp(2**r.LogZ)
			return nil
		})
		reftest.OK(t, err)
		tv := 0.0
		for text, p := range law {
			tv += math.Abs(float64(counts[text])/draws-p/z) / 2
			delete(counts, text)
		}
		if len(counts) > 0 {
			t.Errorf("%d particles made %v, which do not match", n, counts)
		}
		mean := sum / draws
		sd := math.Sqrt((squares/draws - mean*mean) / draws)
		t.Logf("%d particles: TV %.4f, noise %.4f, Z %.4f ± %.4f of %.4f", n, tv, noise, mean, sd, z)
		if math.Abs(mean-z) > 4.5*sd {
			t.Errorf("%d particles estimate Z %v ± %v, want %v", n, mean, sd, z)
		}
		if tv > 0.75*last+1.5*noise {
			t.Errorf("%d particles: TV is %v after %v", n, tv, last)
		}
		last = tv
	}
	o.BlockLength = 2
	_, err := catalog.New(o, spec)
	reftest.Fails(t, err, "particles: not with block-length")
}
