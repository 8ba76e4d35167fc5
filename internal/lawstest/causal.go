package lawstest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// Causal is a world with two laws of random tables. After[l−1] holds the causal rows of position l, one
// for each text before it.
type Causal struct {
	*world.World
	Tables *laws.World
	After  [][][]float64
}

// NewCausal makes one of d positions over v tokens, in blocks of block positions. Without noise the rows
// of blocks are those of the causal law, as far as visible positions decide; noise mixes in random ones.
func NewCausal(t testing.TB, seed uint64, d, v, block int, noise float64) Causal {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	row := func() []float64 {
		out, sum := make([]float64, v), 0.0
		for a := range out {
			out[a] = r.ExpFloat64() + 0.1
			sum += out[a]
		}
		for a := range out {
			out[a] /= sum
		}
		return out
	}
	w := Causal{}
	for l := 1; l < d; l++ {
		var rows [][]float64
		for range int(math.Pow(float64(v), float64(l))) {
			rows = append(rows, row())
		}
		w.After = append(w.After, rows)
	}
	s := laws.NewSpace(d, v)
	mu := make([][][]float64, s.States)
	flat := make([]float64, s.States*d*v)
	for x := range mu {
		mu[x] = make([][]float64, d)
		for l := range d {
			if s.Token(x, l) != v {
				continue
			}
			out, random := row(), row()
			if l > 0 {
				text, known := 0, true
				for k := range l {
					text, known = text*v+s.Token(x, k), known && s.Token(x, k) < v
				}
				if known {
					out = w.After[l-1][text]
				}
			}
			mixed := make([]float64, v)
			for a := range mixed {
				mixed[a] = (1-noise)*out[a] + noise*random[a]
			}
			mu[x][l] = mixed
			copy(flat[(x*d+l)*v:], mixed)
		}
	}
	data := reftest.Must(json.Marshal(map[string]any{"schema": world.SchemaCausal, "d": d, "V": v, "mu_kind": "time_free", "block_size": block, "mu0": mu, "causal": w.After}))(t)
	w.World = reftest.Must(world.Parse(data))(t)
	w.Tables = laws.FromTables(d, v, make([]float64, s.Sequences), flat, nil, 0, 0)
	return w
}

// Log returns log P of the causal law of the tokens at free positions, given the others.
func (w Causal) Log(ids []int, free []int) (sum float64) {
	for _, l := range free {
		text := 0
		for _, id := range ids[:l] {
			text = text*w.Facts().Columns + id
		}
		sum += math.Log(w.After[l-1][text][ids[l]])
	}
	return sum
}
