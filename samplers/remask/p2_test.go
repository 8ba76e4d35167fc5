package remask_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// seeing is a world whose rows at positions with a token are those of the masked position, like
// those of a network trained on such positions.
type seeing struct{ *world.World }

func (s seeing) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	n, rest := c.Length(), c.Positions
	var out draw.Row
	for i, k := range c.Counts {
		for _, l := range rest[:k] {
			ids := slices.Clone(c.IDs[i*n : (i+1)*n])
			ids[l] = int64(s.Facts().MaskID)
			row, err := s.World.Rows(ctx, samplers.Call{IDs: ids, Positions: []int64{l}, Counts: []int{1}})
			if err != nil {
				return out, err
			}
			out = out.Append(row)
		}
		rest = rest[k:]
	}
	return out, nil
}

// p2 fills a world by P2 in n calls. draw draws a token from a row, or keeps the one that stands, which is V for
// none, and scores it.
func p2(w *laws.World, n int, draw func(row []float64, stands int) (token int, score float64)) (state int) {
	state = w.AllMask()
	for call := 1; call <= n; call++ {
		tokens, scores, order := make([]int, w.D), make([]float64, w.D), lawstest.UpTo(w.D)
		for l := range w.D {
			tokens[l], scores[l] = draw(w.Row(w.Rows(0), w.Hide(state, l), l), w.Token(state, l))
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
		state = w.AllMask()
		for _, l := range order[:w.D-w.D*(n-call)/n] {
			state = w.Reveal(state, l, tokens[l])
		}
	}
	return state
}

// p2Law returns the law of P2 in n calls, by its definition.
func p2Law(w *laws.World, n int, eta float64) []float64 {
	return lawstest.Outcomes(w.States, func(pick func([]float64) int) int {
		return p2(w, n, func(row []float64, stands int) (int, float64) {
			token, factor := stands, eta
			if stands == w.V {
				token, factor = pick(row), 1
			}
			return token, math.Round(factor * math.Log(row[token]) * 0x1p40)
		})
	})
}

// TestPathPlanning checks that samples of P2, and its enumerated outcomes, have the law of its
// definition, on a network with distributions at positions that have a token.
func TestPathPlanning(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	again := 0
	for _, name := range []string{"markov3-exact", "xor3-mixed"} {
		w, theory := lawstest.Open(t, name)
		for _, test := range []struct {
			steps int
			eta   float64
		}{{1, 1}, {2, 1}, {3, 1}, {5, 1}, {3, 4}, {4, 0.2}} {
			s := lawstest.NewFor(t, catalog.Options{Sampler: "p2", Steps: test.steps, RemaskOptions: catalog.RemaskOptions{Eta: test.eta}}, w.Spec())
			calls, masked := lawstest.HasLaw(t, seeing{w}, w, s, p2Law(theory, test.steps, test.eta), lawstest.FamilyLevel/12, name, test)
			if again += masked; math.Abs(calls-float64(test.steps)) > 1e-9 {
				t.Errorf("%s: %v calls", s, calls)
			}
		}
	}
	if again == 0 {
		t.Error("nothing was ever masked again: the test shows nothing")
	}
}

// TestPathPlanningOfNothing checks that if positions with a token have no distribution, none is
// masked again, and the number of masks follows the schedule.
func TestPathPlanningOfNothing(t *testing.T) {
	t.Parallel()
	w, _ := lawstest.Open(t, "markov3-exact")
	s := lawstest.NewFor(t, catalog.Options{Sampler: "p2", Steps: 3}, w.Spec())
	cfg := samplers.Config{Method: s, Seed: 7, Batch: 64}
	cfg.OnStep = func(s samplers.Step) {
		if s.Filled != 1 || len(s.Masked) > 0 {
			t.Errorf("%+v", s)
		}
	}
	reftest.OK(t, reftest.Err(samplers.Sample(t.Context(), w, samplers.Copies(lawstest.AllMask(w), 0, 50), cfg, func(samplers.Result) error { return nil })))
}

// p2Program returns a state drawn by P2's program: it draws a token with Gumbel noise at every position,
// masked or not, and scores it by the greatest softmax of the noisy logits.
func p2Program(w *laws.World, n int, r *rand.Rand) int {
	return p2(w, n, func(row []float64, stands int) (token int, score float64) {
		var sum, best float64
		for a, q := range row {
			noisy := q / r.ExpFloat64() // e^(log q + Gumbel noise)
			if sum += noisy; noisy > best {
				best, token = noisy, a
			}
		}
		if stands < w.V {
			token = stands
		}
		return token, best / sum
	})
}

// TestPathPlanningProgram checks the distance of the law of P2's program from the paper's form,
// given in docs/decoders.md.
func TestPathPlanningProgram(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const draws = 50_000
	r := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct {
		world string
		tv    float64
	}{{"markov3-exact", 0.36}, {"xor3-mixed", 0.38}, {"markov4-sharp", 0.30}} {
		_, w := lawstest.Open(t, test.world)
		law := p2Law(w, w.D, 1)
		for range draws {
			law[p2Program(w, w.D, r)] -= 1. / draws
		}
		var tv float64
		for _, x := range law {
			tv += math.Abs(x) / 2
		}
		if math.Abs(tv-test.tv) > 0.01 {
			t.Errorf("%s: TV %.3f, want %v", test.world, tv, test.tv)
		}
	}
}
