package samplers_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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

// p2Law adds the law of P2 from a canvas on after the given number of n calls, by its definition.
func p2Law(w *world.World, canvas []int, call, n int, eta, p float64, law []float64) {
	if p == 0 || call == n {
		law[w.State(canvas)] += p
		return
	}
	mask, d := w.Facts().MaskID, len(canvas)
	texts := map[string][]int{"": {}}
	chance := map[string]float64{"": p}
	scores := map[string][]float64{"": {}}
	for l, id := range canvas {
		given := slices.Clone(canvas)
		given[l] = mask
		row := make([]float64, w.Facts().Columns)
		w.Mu(row, w.State(given), l, 0)
		nextTexts, nextChance, nextScores := map[string][]int{}, map[string]float64{}, map[string][]float64{}
		for key, text := range texts {
			for a, q := range row {
				score := math.Log(q)
				if id != mask {
					if a != id {
						continue
					}
					q, score = 1, score*eta
				} else if q == 0 {
					continue
				}
				name := fmt.Sprint(key, a)
				nextTexts[name] = append(slices.Clone(text), a)
				nextChance[name] = chance[key] * q
				nextScores[name] = append(slices.Clone(scores[key]), math.Round(score*0x1p40))
			}
		}
		texts, chance, scores = nextTexts, nextChance, nextScores
	}
	for key, text := range texts {
		order := make([]int, d)
		for l := range order {
			order[l] = l
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[key][j], scores[key][i]) })
		for _, l := range order[d-int(math.Floor(float64(d)*float64(n-call-1)/float64(n)+1e-9)):] {
			text[l] = mask
		}
		p2Law(w, text, call+1, n, eta, chance[key], law)
	}
}

// TestPathPlanning checks that samples of P2, and its enumerated outcomes, have the law of its
// definition, on a network with distributions at positions that have a token.
func TestPathPlanning(t *testing.T) {
	t.Parallel()
	again := 0
	for _, name := range []string{"markov3-exact", "xor3-mixed"} {
		w := openWorld(t, slices.Index(worldNames, name))
		for _, test := range []struct {
			steps int
			eta   float64
		}{{1, 1}, {2, 1}, {3, 1}, {5, 1}, {3, 4}, {4, 0.2}} {
			s := newSampler(t, w, catalog.Options{Sampler: "p2", Steps: test.steps, RemaskOptions: catalog.RemaskOptions{Eta: test.eta}})
			law := make([]float64, len(sampleMany(t, w, nil, 0, 0).states))
			p2Law(w, allMask(w), 0, test.steps, test.eta, 1, law)
			outcomes, calls, err := s.Outcomes(t.Context(), seeing{w}, allMask(w), 1e6)
			if err != nil || math.Abs(calls-float64(test.steps)) > 1e-9 {
				t.Fatalf("%s: %v calls, %v", s, calls, err)
			}
			outcomesFit(t, w, outcomes, law, name, test)
			cfg := config(w, s, 7)
			cfg.OnStep = func(s samplers.Step) { again += len(s.Masked) }
			fits(t, sampleFrom(t, seeing{w}, w, allMask(w), cfg, fewerDraws).states, law, familyLevel/12, name, test)
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
	w := openWorld(t, slices.Index(worldNames, "markov3-exact"))
	s := newSampler(t, w, catalog.Options{Sampler: "p2", Steps: 3})
	cfg := config(w, s, 7)
	cfg.OnStep = func(s samplers.Step) {
		if s.Filled != 1 || len(s.Masked) > 0 {
			t.Errorf("%+v", s)
		}
	}
	reftest.OK(t, reftest.Err(samplers.Sample(t.Context(), w, repeat(allMask(w), 50), cfg, func(samplers.Result) error { return nil })))
}

// p2Program returns a sample of P2's program: it draws a token with Gumbel noise at every position,
// masked or not, and scores it by the greatest logarithm of the softmax of the noisy logits.
func p2Program(w *world.World, n int, r *rand.Rand) []int {
	canvas, mask := allMask(w), w.Facts().MaskID
	d := len(canvas)
	row := make([]float64, w.Facts().Columns)
	for call := 1; call <= n; call++ {
		drawn, scores, order := make([]int, d), make([]float64, d), make([]int, d)
		for l := range canvas {
			given := slices.Clone(canvas)
			given[l] = mask
			w.Mu(row, w.State(given), l, 0)
			var sum, best float64
			for a, q := range row {
				noisy := q / r.ExpFloat64() // e^(log q + Gumbel noise)
				if sum += noisy; noisy > best {
					best, drawn[l] = noisy, a
				}
			}
			order[l], scores[l] = l, best/sum
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
		for i, l := range order {
			if i < d*(n-call)/n {
				canvas[l] = mask
			} else if canvas[l] == mask {
				canvas[l] = drawn[l]
			}
		}
	}
	return canvas
}

// TestPathPlanningProgram checks the distance of the law of P2's program from the paper's form,
// given in docs/decoders.md.
func TestPathPlanningProgram(t *testing.T) {
	t.Parallel()
	const draws = 50_000
	r := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct {
		world string
		tv    float64
	}{{"markov3-exact", 0.36}, {"xor3-mixed", 0.38}, {"markov4-sharp", 0.30}} {
		w := openWorld(t, slices.Index(worldNames, test.world))
		d := w.Facts().Length
		law := make([]float64, len(sampleMany(t, w, nil, 0, 0).states))
		p2Law(w, allMask(w), 0, d, 1, 1, law)
		for range draws {
			law[w.State(p2Program(w, d, r))] -= 1. / draws
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
