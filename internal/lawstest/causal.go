package lawstest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Causal is a world with two laws of random tables. After[l−1] holds the causal rows of position l, one
// for each text before it.
type Causal struct {
	*world.World
	After [][][]float64
}

// NewCausal makes one of d positions over v tokens, in blocks of block positions. Without noise the rows
// of blocks are those of the causal law, as far as visible positions decide; noise mixes in random ones.
func NewCausal(t testing.TB, seed uint64, d, v, block int, noise float64) Causal {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	row := func() []float64 {
		out := make([]float64, v)
		for a := range out {
			out[a] = r.ExpFloat64() + 0.1
		}
		floats.Scale(1/floats.Sum(out), out)
		return out
	}
	w := Causal{}
	for texts := v; len(w.After) < d-1; texts *= v {
		rows := make([][]float64, texts)
		for i := range rows {
			rows[i] = row()
		}
		w.After = append(w.After, rows)
	}
	s := laws.NewSpace(d, v)
	mu := make([][][]float64, s.States)
	for x := range mu {
		mu[x] = make([][]float64, d)
		var text []int
		for l := range d {
			if text = append(text, s.Token(x, l)); text[l] < v {
				continue
			}
			out, random := row(), row()
			if l > 0 && !slices.Contains(text[:l], v) {
				out = slices.Clone(w.after(text[:l]))
			}
			floats.Scale(1-noise, out)
			floats.AddScaled(out, noise, random)
			mu[x][l] = out
		}
	}
	data := reftest.Must(json.Marshal(map[string]any{"schema": world.SchemaCausal, "d": d, "V": v, "mu_kind": "time_free", "block_size": block, "mu0": mu, "causal": w.After}))(t)
	w.World = reftest.Must(world.Parse(data))(t)
	return w
}

// after returns the causal row that follows a text.
func (w Causal) after(text []int) []float64 {
	at := 0
	for _, id := range text {
		at = at*len(w.After[0][0]) + id
	}
	return w.After[len(text)-1][at]
}

// Log returns log P of the causal law of the tokens at free positions, given the others.
func (w Causal) Log(ids []int, free []int) (sum float64) {
	for _, l := range free {
		sum += math.Log(w.after(ids[:l])[ids[l]])
	}
	return sum
}

// keptIDs holds, for each position, the id whose causal row is kept, −1 for none. A table has no keys and
// values; this knows when a network's would be stale.
type keptIDs []int

// Clone implements [samplers.Kept].
func (k keptIDs) Clone() samplers.Kept { return slices.Clone(k) }

// Cut implements [samplers.Kept].
func (k keptIDs) Cut(from, to int) samplers.Kept { return slices.Clone(k[from:to]) }

// Paste implements [samplers.Kept].
func (k keptIDs) Paste(from int, rows samplers.Kept) { copy(k[from:], rows.(keptIDs)) }

// Keep implements [samplers.Keeper].
func (w Causal) Keep(length int) samplers.Kept { return keptIDs(slices.Repeat([]int{-1}, length)) }

// KeptBytes returns a byte a position.
func (w Causal) KeptBytes(length int) int64 { return int64(length) }

// Logits implements [samplers.Network].
func (w Causal) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := w.Rows(ctx, c)
	return out.Float32(), err
}

// LogProbs returns log μ of tokens in Rows.
func (w Causal) LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error {
	rows, err := w.Rows(ctx, c)
	for i, token := range targets {
		if err == nil {
			logMu[i], logMass[i] = rows.At(i*w.Facts().Columns+int(token)), 0
		}
	}
	return err
}

// Rows returns the world's, or an error if a network's would depend on stale kept rows.
func (w Causal) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	n, each := c.Length(), len(c.Compute)/len(c.Counts)
	for r := range c.Kept {
		ids, block := c.IDs[r*n:(r+1)*n], c.Blocks[r]
		k, computed := c.Kept[r].(keptIDs), c.Compute[r*each:(r+1)*each]
		for l := range k {
			if _, ok := slices.BinarySearch(computed, int64(l)); c.Noisy || each > 0 && !ok {
				continue
			}
			if k[l] = -1; l < block.From {
				k[l] = int(ids[l])
			}
		}
		for l := range block.From {
			if k[l] != int(ids[l]) {
				return draw.Row{}, fmt.Errorf("the row of position %d is used as kept, but was not computed for its token", l)
			}
		}
	}
	if !c.Noisy {
		return w.World.Rows(ctx, c)
	}
	// Each row of a noisy copy is that of its block behind the kept text.
	out, at := draw.Double(nil), 0
	for r, count := range c.Counts {
		first := c.Blocks[r]
		for _, l := range c.Positions[at : at+count] {
			size := first.To - first.From
			from := first.From + (int(l)-first.From)/size*size
			one := samplers.Call{IDs: slices.Clone(c.IDs[r*n : (r+1)*n]), Positions: []int64{l}, Counts: []int{1}, Blocks: []samplers.Span{{From: from, To: min(from+size, n)}}}
			for k, id := range c.Kept[r].(keptIDs)[:from] {
				one.IDs[k] = int64(id)
			}
			row, err := w.World.Rows(ctx, one)
			if err != nil {
				return row, err
			}
			out = out.Append(row)
		}
		at += count
	}
	return out, nil
}
