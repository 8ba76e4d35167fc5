package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// pairsOn lists worlds of three or four positions, with groups of the positions.
var pairsOn = []struct {
	world  string
	groups [][][]int
}{
	{"markov3-exact", [][][]int{{{0, 1, 2}}, {{0, 2}, {1}}, {{1}, {0, 2}}, {{0, 1}, {2}}}},
	{"markov4-sharp", [][][]int{{{0, 1, 2, 3}}, {{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1}, {2}}}},
	{"xor3-mixed", [][][]int{{{0, 1, 2}}, {{0, 2}, {1}}, {{1}, {0, 2}}}},
}

// groupCosts holds the losses of groups on a world, by enumeration, in nats per text.
type groupCosts struct {
	// KL is KL(P ‖ P̃) of the texts, TC the expected sum under P of the total correlations of the
	// groups, and Pairs that of their pair interactions.
	KL, TC, Pairs float64
}

// costOf enumerates all texts on a time-free world.
func costOf(w *world.World, groups [][]int) (c groupCosts) {
	f := w.Facts()
	row := func(canvas []int, l int) []float64 {
		out := make([]float64, f.Columns)
		lawstest.Mu(w, out, w.State(canvas), l, 0)
		return out
	}
	with := func(canvas []int, l, a int) []int {
		out := slices.Clone(canvas)
		out[l] = a
		return out
	}
	kl := func(p, q []float64) (sum float64) {
		for a, x := range p {
			if x > 0 {
				sum += x * math.Log(x/q[a])
			}
		}
		return sum
	}
	// before is the canvas at the group's call, and at the canvas with its first i tokens; p and q
	// are the probabilities of at under P and P̃.
	var walk func(k, i int, before, at []int, p, q float64)
	walk = func(k, i int, before, at []int, p, q float64) {
		if p == 0 {
			return
		}
		if k == len(groups) {
			c.KL += p * math.Log(p/q)
			return
		}
		g := groups[k]
		if i == len(g) {
			walk(k+1, 0, at, at, p, q)
			return
		}
		together, apart := row(before, g[i]), row(at, g[i])
		c.TC += p * kl(apart, together)
		if i == 0 {
			for j := range g {
				for _, first := range g[:j] {
					for a, x := range row(before, first) {
						if x > 0 {
							c.Pairs += p * x * kl(row(with(before, first, a), g[j]), row(before, g[j]))
						}
					}
				}
			}
		}
		for a, x := range apart {
			walk(k, i+1, before, with(at, g[i], a), p*x, q*together[a])
		}
	}
	blank := slices.Repeat([]int{f.MaskID}, f.Length)
	walk(0, 0, blank, blank, 1, 1)
	return c
}

// TestPairs checks on every world and plan that KL(P ‖ P̃) is Σ TC to the last digits. A group of
// two loses the interaction of its pair. The loss of a larger group differs from the sum over its
// pairs: on a chain it is less, because pairs share information, and on an exclusive or it is more,
// because two positions have information that neither has alone. The page has these numbers, with
// the limit of Theorem 4.
func TestPairs(t *testing.T) {
	t.Parallel()
	table := report.Table{Head: []string{"world", "groups", "KL(P‖P̃)", "Σ TC", "Σ pairs", "ε″"}}
	for _, at := range pairsOn {
		file := reftest.Must(world.Open(reftest.Law(t, at.world)))(t)
		w := reftest.Must(laws.New(file))(t)
		epsilon := w.Theorem4(w.NELBO()).Epsilon
		for _, groups := range at.groups {
			c := costOf(file, groups)
			if math.Abs(c.KL-c.TC) > 1e-12 {
				t.Errorf("%s, %v: KL %v, Σ TC %v", at.world, groups, c.KL, c.TC)
			}
			largest := 0
			var names []string
			for _, g := range groups {
				largest = max(largest, len(g))
				names = append(names, strings.ReplaceAll(strings.Trim(fmt.Sprint(g), "[]"), " ", ","))
			}
			switch apart := c.Pairs - c.TC; {
			case largest == 2 && math.Abs(apart) > 1e-12,
				largest > 2 && at.world == "xor3-mixed" && apart > -0.01,
				largest > 2 && at.world != "xor3-mixed" && apart < 0.01:
				t.Errorf("%s, %v: Σ TC %v, of pairs %v", at.world, groups, c.TC, c.Pairs)
			}
			table.Rows = append(table.Rows, []string{at.world, strings.Join(names, " then "), decimals(c.KL), decimals(c.TC), decimals(c.Pairs), decimals(epsilon)})
		}
	}
	page := reftest.Must(os.ReadFile("../../docs/research/interactions.md"))(t)
	if want := markdown(table); !bytes.Contains(page, want) {
		t.Errorf("docs/research/interactions.md does not have\n%s", want)
	}
}

// decimals formats nats with four decimals, rounding errors below 0 as 0.
func decimals(x float64) string { return fmt.Sprintf("%.4f", max(x, 0)) }
