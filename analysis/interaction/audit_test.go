package interaction

import (
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// paths calls do for every text that a plan's groups can produce, with its probability p, the
// probability of revealing the same tokens one by one, and Σ KL of the rows.
func paths(w *world.World, canvas []int, groups [][]int, p, single, kl float64, do func(canvas []int, p, single, kl float64)) {
	if len(groups) == 0 {
		do(canvas, p, single, kl)
		return
	}
	var fill func(at []int, i int, p, single, kl float64)
	fill = func(at []int, i int, p, single, kl float64) {
		if i == len(groups[0]) {
			paths(w, at, groups[1:], p, single, kl, do)
			return
		}
		l := groups[0][i]
		together, apart := row(w, canvas, l), row(w, at, l)
		lost, _ := distance(logsOf(together), logsOf(apart))
		for a, q := range together {
			if q > 0 {
				next := slices.Clone(at)
				next[l] = a
				fill(next, i+1, p*q, single*apart[a], kl+lost)
			}
		}
	}
	fill(canvas, 0, p, single, kl)
}

// logsOf returns the logarithm of each element.
func logsOf(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = math.Log(x)
	}
	return out
}

// TestDistance checks that the KL of two distributions is finite where probabilities underflow.
func TestDistance(t *testing.T) {
	t.Parallel()
	if kl, tv := distance([]float64{0, -1200}, []float64{-1200, 0}); math.Abs(kl-1200) > 1e-9 || tv != 1 {
		t.Errorf("KL %v, TV %v; want 1200 and 1", kl, tv)
	}
}

// TestAuditWorlds checks that an audit estimates the mean of Σ KL, which is at least KL(P̃ ‖ P).
func TestAuditWorlds(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov3-exact"} {
		w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
		f := w.Facts()
		canvas := slices.Repeat([]int{f.MaskID}, f.Length)
		for _, o := range []catalog.Options{{Sampler: "spread", Steps: 1}} {
			s := reftest.Must(catalog.New(o, w.Spec()))(t)
			free := make([]int, f.Length)
			for l := range free {
				free[l] = l
			}
			together, apart := make(map[int]float64), make(map[int]float64)
			var want, path float64
			law := s.Law().(samplers.ByList)
			plans := int(law.Plans(f.Length))
			for i := range plans {
				groups := reftest.Must(law.Groups(free, i))(t)
				paths(w, canvas, groups, 1/float64(plans), 1/float64(plans), 0, func(canvas []int, p, single, kl float64) {
					together[w.State(canvas)] += p
					apart[w.State(canvas)] += single
					want += p * kl
					path += max(0, p-single)
				})
			}
			var kl, tv float64
			for x, p := range together {
				kl += p * math.Log(p/apart[x])
				tv += max(0, p-apart[x])
			}
			if kl > want+1e-12 || want == 0 {
				t.Errorf("%s, %v: KL %v above its bound %v", name, s, kl, want)
			}
			got := reftest.Must(Audit(context.Background(), w, canvas, s, Config{Sequences: 3000, Seed: 2}))(t)
			if n := float64(f.Length); math.Abs(got.KL.Mean*n-want) > 4.5*got.KL.SE*n+1e-6 || float64(got.Worst)*n < want {
				t.Errorf("%s, %v: %v ± %v a sequence, worst %v, want %v", name, s, got.KL.Mean*n, got.KL.SE*n, got.Worst, want)
			}
			if math.Abs(got.Path.Mean-path) > 4.5*got.Path.SE+1e-9 || got.Limit < tv || got.Limit > path+0.1 {
				t.Errorf("%s, %v: TV along the path %v, limit %v, want %v, of texts %v", name, s, got.Path, got.Limit, path, tv)
			}
		}
	}
}

// TestAuditInterval: 95 % intervals of KL over 32 texts hold its mean, on a world whose texts lose little but for some, and
// are of values that KL can have.
func TestAuditInterval(t *testing.T) {
	w := reftest.Must(world.Open(reftest.Law(t, "markov4-sharp")))(t)
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: 2}, w.Spec()))(t)
	canvas := slices.Repeat([]int{w.Facts().MaskID}, w.Facts().Length)
	const n = 200
	var audits []Audited
	mean := 0.0
	for seed := range uint64(n) {
		a := reftest.Must(Audit(context.Background(), w, canvas, s, Config{Sequences: 32, Seed: seed}))(t)
		audits, mean = append(audits, a), mean+a.KL.Mean/n
	}
	held := 0
	for _, a := range audits {
		if a.KL.Lo <= mean && mean <= a.KL.Hi {
			held++
		}
		if a.KL.Lo < 0 || a.TV.Lo < 0 || math.IsInf(a.KL.Hi, 1) || a.Path.Lo >= a.Path.Hi {
			t.Errorf("KL %v to %v, TV from %v, of texts %v", a.KL.Lo, a.KL.Hi, a.TV.Lo, a.Path.Interval())
		}
	}
	if held < 0.95*n {
		t.Errorf("%d of %d intervals of KL hold %v", held, n, mean)
	}
}

// TestAuditText checks that auditing sampled texts equals auditing the tokens that the audit draws
// itself, and that some of the groups have some of the tokens.
func TestAuditText(t *testing.T) {
	w := reftest.Must(world.Open(reftest.Law(t, "markov3-exact")))(t)
	s := reftest.Must(catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: 2}, w.Spec()))(t)
	canvas := slices.Repeat([]int{w.Facts().MaskID}, w.Facts().Length)
	const seed, n = 8, 40
	var own, of []Terms
	tokens := 0
	reftest.Must(samplers.Sample(context.Background(), w, samplers.Copies(canvas, 0, n), samplers.Config{Method: s, Seed: seed}, func(r samplers.Result) error {
		for k, text := range [][]int{nil, r.IDs, r.IDs} {
			x, err := AuditText(context.Background(), w, s, canvas, text, draw.NewNumbers(seed, r.Index), func() bool { return k < 2 || r.Index%2 == 0 })
			if err != nil {
				return err
			}
			switch x.Rows = 0; k {
			case 0:
				own = append(own, x)
			case 1:
				of = append(of, x)
			default:
				tokens += x.Tokens
			}
		}
		return nil
	}))(t)
	if !slices.Equal(own, of) || tokens != n*len(canvas)/2 {
		t.Errorf("audits %v of texts, %v drawn; %d tokens of a part", of, own, tokens)
	}
}
