package laws_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/laws/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// TestLawsSumToOne: every sampler's law is one.
func TestLawsSumToOne(t *testing.T) {
	g := lawstest.Thetas(t, 4, 2, 0.7, 0.1)
	lawstest.Worlds(func(name string, w *laws.World) {
		total := func(what string, p []float64) {
			if got := total(p); !near(got, 1, 1e-12) {
				t.Errorf("%s, d = %d: %s sums to %v", name, w.D, what, got)
			}
			for _, x := range p {
				if x < 0 {
					t.Fatalf("%s: %s has the probability %v", name, what, x)
				}
			}
		}
		total("exact chain", w.ExactChain(g.Lambda[0], g.Lambda[3]))
		total("DMPM", w.FrozenLaw(g))
		half := lawstest.Steps(t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambdaList, List: []float64{1, 0.82, 0.4, 0.31, 0.1}})
		total("trapezoidal", w.TrapezoidLaw(half, 0.3, 0.1))
		sizes := []int{1, w.D - 1}
		total("parallel", w.ParallelLaw(sizes))
		total("paired", w.BlockLaw(sizes, []float64{0, 0.5}, 0.1))
	})
}

// TestExactChain: with T large and δ → 0 it is FHS; in between it solves the forward equation.
func TestExactChain(t *testing.T) {
	lawstest.Worlds(func(name string, w *laws.World) {
		fhs := w.FHSLaw()
		if d := lawstest.Apart(w.OnSequences(w.ExactChain(1, 0)), fhs); d > 1e-14 {
			t.Errorf("%s: from T = ∞ to 0 it differs from FHS by %v", name, d)
		}
		if d := lawstest.Apart(w.OnSequences(w.ExactChain(-math.Expm1(-40), 1e-12)), fhs); d > 1e-10 {
			t.Errorf("%s: from T = 40 to 1e-12 it differs from FHS by %v", name, d)
		}
		// −λ dP/dλ (y) = Σ_x P(x)·μ(x→y) − m(y)·P(y).
		const lambda, h = 0.4, 1e-4
		at := func(last float64) []float64 { return w.ExactChain(0.9, last) }
		now, rows := at(lambda), w.Rows(lambda)
		up, down := at(lambda+h), at(lambda-h)
		for y := range now {
			want := -float64(w.Masks(y)) * now[y]
			for l := range w.D {
				a := w.Token(y, l)
				if a == w.V {
					continue
				}
				x := w.Hide(y, l)
				want += now[x] * rows[(x*w.D+l)*w.V+a]
			}
			if got := -lambda * (up[y] - down[y]) / (2 * h); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: state %d: −λ dP/dλ is %v, the rates give %v", name, y, got, want)
			}
		}
	})
}

// TestDMPM: its leftovers are those of its step probabilities, and what has none is
// FHS's law, where μ does not depend on time.
func TestDMPM(t *testing.T) {
	g := lawstest.Thetas(t, 5, 3, 1, 0.2, 0.01)
	lawstest.Worlds(func(name string, w *laws.World) {
		law := w.FrozenLaw(g)
		left := 1.0
		for k := range g.Steps() {
			left *= math.Exp(-(g.Theta[k] - g.Theta[k+1]) * laws.Rate(g.Theta[k]))
		}
		clean := w.OnSequences(law)
		if got, want := total(clean), math.Pow(1-left, float64(w.D)); !near(got, want, 1e-12) {
			t.Errorf("%s: nothing is left with probability %v, want %v", name, got, want)
		}
		if w.Timed() {
			return
		}
		scale := total(clean)
		for i := range clean {
			clean[i] /= scale
		}
		if d := lawstest.Apart(clean, w.FHSLaw()); d > 1e-14 {
			t.Errorf("%s: without leftovers DMPM differs from FHS by %v", name, d)
		}
	})
}

// TestTrapezoid: one step of two positions by hand. In a quarter of plans each half
// reveals one, a given one first.
func TestTrapezoid(t *testing.T) {
	w := lawstest.Random(9, 2, 3, false)
	s := lawstest.Steps(t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambdaList, List: []float64{1, 0.5, 0}})
	got := w.TrapezoidLaw(s, 0.5, 0.1)
	rows := w.Rows(1)
	row := func(x, l int) []float64 { return rows[(x*2+l)*3 : (x*2+l+1)*3] }
	all := w.AllMask()
	mixed := make([]float64, 3)
	for a := range 3 {
		for b := range 3 {
			want := row(all, 0)[a] * row(all, 1)[b] / 2
			draw.Mix(mixed, row(w.Reveal(all, 0, a), 1), row(all, 1), 1, 0.1)
			want += row(all, 0)[a] * mixed[b] / 4
			draw.Mix(mixed, row(w.Reveal(all, 1, b), 0), row(all, 0), 1, 0.1)
			want += row(all, 1)[b] * mixed[a] / 4
			if y := w.Reveal(w.Reveal(all, 0, a), 1, b); !near(got[y], want, 1e-14) {
				t.Errorf("%d, %d has probability %v, want %v", a, b, got[y], want)
			}
		}
	}
}

// TestBlocks: plain blocks are parallel FHS, those of one position FHS, and λ of a
// first hit is a Beta variable.
func TestBlocks(t *testing.T) {
	lawstest.Worlds(func(name string, w *laws.World) {
		ones := make([]int, w.D)
		for i := range ones {
			ones[i] = 1
		}
		if d := lawstest.Apart(w.ParallelLaw(ones), w.FHSLaw()); d > 1e-13 {
			t.Errorf("%s: blocks of one differ from FHS by %v", name, d)
		}
		sizes := []int{w.D - 1, 1}
		if d := lawstest.Apart(w.ParallelLaw(sizes), w.BlockLaw(sizes, make([]float64, len(sizes)), 0)); !w.Timed() && d > 1e-14 {
			t.Errorf("%s: two recursions differ by %v", name, d)
		}
		// One block: λ ~ Beta(d,1), by the midpoint rule in its quantile.
		want, n := make([]float64, w.Sequences), 4000
		for i := range n {
			rows := w.Rows(math.Pow((float64(i)+0.5)/float64(n), 1/float64(w.D)))
			for x := range want {
				p := 1.0
				for l, rest := w.D-1, x; l >= 0; l, rest = l-1, rest/w.V {
					p *= rows[(w.AllMask()*w.D+l)*w.V+rest%w.V]
				}
				want[x] += p / float64(n)
			}
		}
		if d := lawstest.Apart(w.ParallelLaw([]int{w.D}), want); d > 1e-6 {
			t.Errorf("%s: one block differs by %v", name, d)
		}
	})
}

// TestProposition2Null: equality in Proposition 2 does not say that μ is the posterior in every
// context, as printed, but in those of positive probability. With another μ in the others the
// loss stays 0, and Euler, which comes to them, has another law.
func TestProposition2Null(t *testing.T) {
	data, err := os.ReadFile(reftest.Law(t, "pairs4-exact"))
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]json.RawMessage
	var mu, posterior [][][]float64
	for _, x := range []struct {
		from func() []byte
		to   any
	}{
		{func() []byte { return data }, &content}, {func() []byte { return content["mu0"] }, &mu}, {func() []byte { return content["posterior"] }, &posterior},
	} {
		if err := json.Unmarshal(x.from(), x.to); err != nil {
			t.Fatal(err)
		}
	}
	changed := 0
	for state, rows := range mu {
		for l, row := range rows {
			if row != nil && posterior[state][l] == nil {
				clear(row)
				row[0] = 1
				changed++
			}
		}
	}
	if content["mu0"], err = json.Marshal(mu); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(content); err != nil {
		t.Fatal(err)
	}
	file, err := world.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	other, err := laws.New(file)
	if err != nil {
		t.Fatal(err)
	}
	_, w := lawstest.Open(t, "pairs4-exact")
	steps := lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridUniform, T: 5, Delta: 0.01, Steps: 4})
	if x := other.Proposition2(other.NELBO()).ScoreEntropyIntegral; changed == 0 || math.Abs(x) > 1e-12 {
		t.Errorf("%d rows are changed, the integral is %v", changed, x)
	}
	if tv := laws.TV(w.Run(steps).Law, other.Run(steps).Law); !(tv > 1e-3) {
		t.Errorf("Euler's laws are %v apart", tv)
	}
}
