package certificate_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// settings returns options for every sampler with a plan and a uniform order, on many grids, for d
// positions.
func settings(d int) []catalog.Options {
	out := []catalog.Options{{}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}}
	for n := 1; n <= d; n++ {
		out = append(out, catalog.Options{Sampler: "parallel-fhs", Steps: n}, catalog.Options{Sampler: "random-sizes", Steps: n})
		for _, sizes := range []string{"cos2", "cosine"} {
			out = append(out, catalog.Options{Sampler: "parallel-fhs", Steps: n, PlanOptions: catalog.PlanOptions{Sizes: sizes}})
		}
	}
	for n := 1; n < d; n++ {
		out = append(out, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: fmt.Sprintf("%d,%d", n, d-n)}})
	}
	for _, finish := range []string{"denoise", "leave"} {
		for _, steps := range []int{1, 2, 6, 40} {
			for _, grid := range []string{"uniform", "lambda", "cos2", "cosine", "paper"} {
				for _, name := range []string{"euler", "tweedie", "tau-leaping", "dmpm", "matu"} {
					o := catalog.Options{Sampler: name, Steps: steps, PlanOptions: catalog.PlanOptions{Grid: grid, Finish: finish, T: new(catalog.Theta(4)), Delta: new(catalog.Theta(0.05))}}
					out = append(out, o)
					if name == "tau-leaping" {
						o.Tau = "one"
						out = append(out, o)
					}
				}
			}
			out = append(out, catalog.Options{Sampler: "uniformization", Steps: steps, PlanOptions: catalog.PlanOptions{Finish: finish, T: new(catalog.Theta(1)), Delta: new(catalog.Theta(0.3))}},
				catalog.Options{Sampler: "tweedie", Steps: steps, PlanOptions: catalog.PlanOptions{Grid: "lambda", Finish: finish}})
		}
	}
	return out
}

// patterns returns the ways in which a sampler may cut an order of d positions into blocks, by their
// sizes, with their probabilities, given that it leaves no mask unless a last call fills the rest.
// They are computed from the probabilities of its steps, not from plans.
func patterns(t testing.TB, s *catalog.Sampler, d int) map[string]float64 {
	t.Helper()
	var law samplers.ByGrid
	switch l := s.Law().(type) {
	case samplers.BySizes:
		out := make(map[string]float64)
		for sizes, p := range reftest.Must(l.Each(d))(t) {
			out[key(sizes...)] += p
		}
		return out
	default:
		law = l.(samplers.ByGrid)
	}
	// Sum over the counts per step of d!·Π w^n/n!, building up the pattern step by step.
	type state struct {
		pattern  string
		revealed int
	}
	states := map[state]float64{{}: factorial(d)}
	step := func(w float64, whole bool) {
		next := make(map[state]float64)
		for st, p := range states {
			for n := 0; st.revealed+n <= d; n++ {
				to := state{st.pattern, st.revealed + n}
				if n > 0 && law.OneByOne && !whole {
					to.pattern += key(slices.Repeat([]int{1}, n)...)
				} else if n > 0 {
					to.pattern += key(n)
				}
				next[to] += p * math.Pow(w, float64(n)) / factorial(n)
			}
		}
		states = next
	}
	for _, w := range law.Reveal {
		step(w, false)
	}
	left := law.Left()
	scale := 1.0
	if law.Denoise {
		step(left, true)
	} else {
		scale = math.Pow(1-left, -float64(d))
	}
	out := make(map[string]float64)
	for st, p := range states {
		if st.revealed == d {
			out[st.pattern] += p * scale
		}
	}
	return out
}

func key(sizes ...int) (s string) {
	for _, n := range sizes {
		s += fmt.Sprint(n, ";")
	}
	return s
}

func parse(t testing.TB, s string) (sizes []int) {
	t.Helper()
	for n := range strings.SplitSeq(strings.TrimSuffix(s, ";"), ";") {
		sizes = append(sizes, reftest.Must(strconv.Atoi(n))(t))
	}
	return sizes
}

func factorial(n int) float64 {
	f := 1.0
	for i := 2; i <= n; i++ {
		f *= float64(i)
	}
	return f
}

// exact holds the expectations of a sampler's bounds: given the order, given the plan, and block by
// block.
type exact struct{ order, plan, blocks pair }

// pair holds bounds on TV and on KL.
type pair struct{ tv, kl float64 }

// enumerator sums over patterns, orders and texts of a world without time. It caches the results
// for a pattern.
type enumerator struct {
	*laws.World
	rows   []float64
	orders [][]int
	known  map[string]terms
	// chance [orders·texts] is the probability of an order and a text of first-hitting.
	chance []float64
}

// terms [orders·texts] holds the terms of a pattern for an order and a text: the log of the
// probability minus first-hitting's, and Σ (1 − e^W)_+ over its blocks.
type terms struct{ log, blocks []float64 }

func newEnumerator(w *laws.World) *enumerator { return enumeratorOf(w, w.Rows(1)) }

// enumeratorOf returns the enumerator of a world with other rows.
func enumeratorOf(w *laws.World, rows []float64) *enumerator {
	e := &enumerator{World: w, rows: rows, orders: combin.Permutations(w.D, w.D), known: make(map[string]terms)}
	for _, order := range e.orders {
		for x := range w.Sequences {
			p, state := 1/float64(len(e.orders)), w.AllMask()
			for _, l := range order {
				a := w.Sequence(x)[l]
				p *= e.row(state, l)[a]
				state = w.Reveal(state, l, a)
			}
			e.chance = append(e.chance, p)
		}
	}
	return e
}

func (w *enumerator) of(t testing.TB, s *catalog.Sampler) (e exact) {
	t.Helper()
	c := math.Pow(1-s.Left(), float64(w.D))
	ratio := make([]float64, len(w.chance))
	var sum float64
	for pattern, chance := range patterns(t, s, w.D) {
		sum += chance
		if chance == 0 {
			continue
		}
		if _, ok := w.known[pattern]; !ok {
			w.known[pattern] = w.pattern(parse(t, pattern))
		}
		for i, log := range w.known[pattern].log {
			if p := chance * w.chance[i]; p > 0 {
				log += math.Log(c)
				ratio[i] += chance * math.Exp(log)
				e.plan.tv += p * max(0, -math.Expm1(log))
				e.plan.kl -= p * log
				e.blocks.tv += p * (1 - c + c*w.known[pattern].blocks[i])
			}
		}
	}
	for i, p := range w.chance {
		if p > 0 {
			e.order.tv += p * max(0, 1-ratio[i])
			e.order.kl -= p * math.Log(ratio[i])
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("%s: patterns have probability %v", s, sum)
	}
	return e
}

func (w *enumerator) row(state, l int) []float64 {
	return w.rows[(state*w.D+l)*w.V : (state*w.D+l+1)*w.V]
}

func (w *enumerator) pattern(sizes []int) (out terms) {
	for _, order := range w.orders {
		for x := range w.Sequences {
			var log, total float64
			state := w.AllMask()
			rank := 0
			for _, size := range sizes {
				start, blockLog := state, 0.0
				for range size {
					l := order[rank]
					a := w.Sequence(x)[l]
					own, other := w.row(state, l), w.row(start, l)
					if own[a] > 0 {
						blockLog += math.Log(other[a] / own[a])
					}
					state = w.Reveal(state, l, a)
					rank++
				}
				log += blockLog
				total += max(0, -math.Expm1(blockLog))
			}
			out.log, out.blocks = append(out.log, log), append(out.blocks, total)
		}
	}
	return out
}
