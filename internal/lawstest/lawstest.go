// Package lawstest provides worlds, networks and samplers for tests, and compares samples with laws.
package lawstest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/subset"
)

// Open opens a reference world as a model and for enumeration. It skips the test if there is no
// file of that name.
func Open(t testing.TB, name string) (*world.World, *laws.World) {
	t.Helper()
	file := reftest.Must(world.Open(reftest.Law(t, name)))(t)
	return file, reftest.Must(laws.New(file))(t)
}

// Masks returns the number of masked positions of a state.
func Masks(s laws.Space, state int) (n int) {
	for l := range s.D {
		if s.Token(state, l) == s.V {
			n++
		}
	}
	return n
}

// Mu writes to dst, of length V, the distribution of the clean token at a masked position of a state, at the
// masked fraction lambda. It returns false, and leaves dst alone, if the position is visible.
func Mu(w *world.World, dst []float64, state, position int, lambda float64) bool {
	mu0, mu1, c, p := w.Mixture()
	d, v := w.Facts().Length, w.Facts().Columns
	digit := state
	for range d - 1 - position {
		digit /= v + 1
	}
	if digit%(v+1) != v {
		return false
	}
	at := (state*d + position) * v
	copy(dst, mu0[at:at+v])
	for a := range dst {
		if mu1 != nil {
			dst[a] = world.WeightsAt(c, p, lambda).Mix(dst[a], mu1[at+a])
		}
	}
	return true
}

// Field decodes a field of a world file that the network itself does not use.
func Field[T any](t testing.TB, w *world.World, name string) (out T) {
	t.Helper()
	raw, _ := w.Extra(name)
	reftest.OK(t, json.Unmarshal(raw, &out))
	return out
}

// Law is a grid sampler's law as stored in a world's file: Law is over states, Denoised over
// sequences, after one more call that fills the remaining masks.
type Law struct {
	Grid, Sampler        string
	Law                  []float64
	Denoised             []float64 `json:"law_denoised"`
	LeftMasked           float64   `json:"left_masked_probability"`
	ExpectedNonemptyStep float64   `json:"expected_nonempty_steps"`
}

// LawOf returns the law of a sampler on a grid from a world's file.
func LawOf(t testing.TB, w *world.World, grid, sampler string) Law {
	t.Helper()
	for _, l := range Field[[]Law](t, w, "laws") {
		if l.Grid == grid && l.Sampler == sampler {
			return l
		}
	}
	t.Fatalf("no law of %s on %s", sampler, grid)
	return Law{}
}

// FHS returns the first-hitting law over sequences from a world's file.
func FHS(t testing.TB, w *world.World) []float64 {
	t.Helper()
	return Field[struct{ Law []float64 }](t, w, "fhs").Law
}

// Random returns a world of random tables, some of whose probabilities are 0.
func Random(seed uint64, d, v int, timed bool) *laws.World {
	r := rand.New(rand.NewPCG(seed, 1))
	s := laws.NewSpace(d, v)
	law := func(out []float64, zero float64) {
		sum := 0.0
		for i := range out {
			out[i] = 0
			if r.Float64() >= zero {
				out[i] = r.ExpFloat64()
			}
			sum += out[i]
		}
		if sum == 0 {
			out[0], sum = 1, 1
		}
		for i := range out {
			out[i] /= sum
		}
	}
	q0 := make([]float64, s.Sequences)
	law(q0, 0.2)
	table := func() []float64 {
		out := make([]float64, s.States*d*v)
		for i := 0; i < len(out); i += v {
			law(out[i:i+v], 0)
		}
		return out
	}
	mu0 := table()
	if !timed {
		return laws.FromTables(d, v, q0, mu0, nil, 0, 0)
	}
	return laws.FromTables(d, v, q0, mu0, table(), 0.2+0.8*r.Float64(), 0.5+2*r.Float64())
}

// RandomTable returns a table of log-probabilities of a given size, some of them −Inf.
func RandomTable(d int, nats float64, seed uint64, zeros bool) *subset.Table {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &subset.Table{D: d, LogMu: make([]float64, d<<d)}
	for a := range 1 << d {
		for i := range d {
			if a>>i&1 == 1 {
				continue
			}
			t.LogMu[a*d+i] = -nats * r.Float64()
			if zeros && r.IntN(4) == 0 {
				t.LogMu[a*d+i] = math.Inf(-1)
			}
		}
	}
	return t
}

// Sharp returns a world of random, nearly deterministic rows: a permutation of (0.98, 0.01, 0.01) at
// every masked position of every state of d positions.
func Sharp(t testing.TB, d int, seed uint64) (*world.World, *laws.World) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0x7368617270))
	s := laws.NewSpace(d, 3)
	mu, q0 := make([][][]float64, s.States), slices.Repeat([]float64{1 / float64(s.Sequences)}, s.Sequences)
	for x := range mu {
		mu[x] = make([][]float64, d)
		for l := range mu[x] {
			if s.Token(x, l) == s.V {
				mu[x][l] = []float64{0.01, 0.01, 0.01}
				mu[x][l][r.IntN(s.V)] = 0.98
			}
		}
	}
	data := reftest.Must(json.Marshal(map[string]any{"schema": world.Schema, "d": d, "V": s.V, "mu_kind": "time_free", "mu0": mu, "q0": q0}))(t)
	w := reftest.Must(world.Parse(data))(t)
	return w, reftest.Must(laws.New(w))(t)
}

// Grid returns the grid of a specification.
func Grid(t testing.TB, spec schedule.GridSpec) schedule.Grid {
	t.Helper()
	return reftest.Must(schedule.NewGrid(spec))(t)
}

// Thetas returns the grid of given times.
func Thetas(t testing.TB, list ...float64) schedule.Grid {
	return Grid(t, schedule.GridSpec{Kind: schedule.GridThetaList, List: list})
}

// Steps returns the steps of a grid sampler.
func Steps(t testing.TB, rule schedule.Rule, spec schedule.GridSpec) schedule.Steps {
	t.Helper()
	return reftest.Must(schedule.NewSteps(rule, schedule.Exp, Grid(t, spec)))(t)
}

// Worlds calls do with small random worlds, every second one time-conditioned.
func Worlds(do func(name string, w *laws.World)) {
	for seed := range uint64(6) {
		timed := seed%2 == 1
		d, v := 2+int(seed%3), 2+int(seed/3)
		name := "time-free"
		if timed {
			name = "timed"
		}
		do(name, Random(seed+40, d, v, timed))
	}
}

// Outcomes returns the law over n states of a sampler written as a program: run draws with pick, which
// returns an index with the given weights, and returns a state. It is run once for each sequence of
// draws of positive weight. If weights do not sum to 1, neither does the law.
func Outcomes(n int, run func(pick func(weights []float64) int) int) []float64 {
	type choice struct {
		weights []float64
		at      int
	}
	next := func(c *choice) bool {
		for c.at++; c.at < len(c.weights) && c.weights[c.at] == 0; {
			c.at++
		}
		return c.at < len(c.weights)
	}
	law := make([]float64, n)
	var path []choice
	for {
		drawn, p := 0, 1.0
		state := run(func(weights []float64) int {
			if drawn == len(path) {
				path = append(path, choice{slices.Clone(weights), -1})
				next(&path[drawn])
			}
			c := path[drawn]
			drawn, p = drawn+1, p*c.weights[c.at]
			return c.at
		})
		law[state] += p
		for len(path) > 0 && !next(&path[len(path)-1]) {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return law
		}
	}
}

// Apart returns the greatest absolute difference of two lists of equal length.
func Apart(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}
