// Package world opens small worlds, files of the layout "mdm-laws-world/1", as networks. A world is
// a table: for every canvas of d positions over V tokens and MASK, and every masked position of it,
// the distribution of the clean token. A world is a model like any other, so the samplers and the
// likelihoods can be compared with laws computed by enumeration. Those laws are in the same file;
// [World.Extra] returns them.
//
// The layout "mdm-laws-world/2" adds a second law, so that the network is [samplers.Spec].Causal: the field
// causal has, for each position from 1 on, the distribution of its token after each text of the positions
// before it, position 0 the most significant digit in base V. block_size, at most d, is d if it is left
// out. In a call about a block the positions behind it count as MASK.
//
// MASK has the id V. The rows have V columns, none of them for MASK.
package world

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/internal/plainfile"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// The layouts that this package reads, without and with causal rows.
const (
	Schema       = "mdm-laws-world/1"
	SchemaCausal = "mdm-laws-world/2"
)

// World is a table of distributions. All methods except Logits and Rows may be used by several
// goroutines at the same time.
type World struct {
	facts facts.Facts
	d, v  int
	q0    []float64
	// mu0 and mu1 hold states·d·V probabilities, 0 at visible positions; mu1 is nil
	// for a world that does not depend on time.
	mu0, mu1 []float64
	// c and p define the weight of mu1, w = c·λ^p.
	c, p float64
	// log0 is log mu0, for worlds that do not depend on time.
	log0 []float64
	// causal[l−1] is the logarithm of the causal rows [V^l·V] of position l; nil without a second law.
	causal [][]float64
	// masked has a bit for each position of a state, set if it is MASK.
	masked []uint32
	extra  map[string]json.RawMessage
	out    []float64
}

// Open reads a world file, which must be a regular file.
func Open(path string) (*World, error) {
	data, err := plainfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("world: %s: %w", path, err)
	}
	w, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("world: %s: %w", path, err)
	}
	w.facts.Name = cmp.Or(w.facts.Name, facts.Plain(filepath.Base(path)))
	return w, nil
}

// Facts describes the world as a network: V columns, MASK the id V, canvases of exactly d
// positions, noise α = e^(−t).
func (w *World) Facts() facts.Facts { return w.facts }

// SetFacts replaces the facts by others that fit the tables, such as with another name.
func (w *World) SetFacts(f facts.Facts) { w.facts = f }

// Close does nothing; models must have it.
func (w *World) Close() error { return nil }

// Spec follows from the facts. Rows exist at σ = +Inf, when everything is masked: a table needs no
// arithmetic that fails there.
func (w *World) Spec() samplers.Spec {
	s := w.facts.Spec()
	s.InfiniteSigma = true
	return s
}

// Q0 returns the data's distribution over the V^d clean sequences, position 0 the most significant
// digit in base V; nil if the file has none. It must not be changed.
func (w *World) Q0() []float64 { return w.q0 }

// Extra returns the raw text of a field of the file that the network itself does not use.
func (w *World) Extra(field string) (json.RawMessage, bool) {
	raw, ok := w.extra[field]
	return raw, ok
}

// State returns the index of a canvas among the (V+1)^d states: its ids as a number in base V+1,
// position 0 the most significant digit. It panics unless there are d ids in 0..V.
func (w *World) State(ids []int) int {
	if len(ids) != w.d {
		panic(fmt.Sprintf("world: %d ids of a world with %d positions", len(ids), w.d))
	}
	s := 0
	for _, id := range ids {
		if id < 0 || id > w.v {
			panic(fmt.Sprintf("world: id %d is not in 0..%d", id, w.v))
		}
		s = s*(w.v+1) + id
	}
	return s
}

// Mixture returns the tables, [states·d·V] each and 0 at visible positions, of which the distribution of
// the clean token at a masked position is, at the masked fraction λ in [0,1],
//
//	μ(·) = (1−w)·μ0(·) + w·μ1(·),  w = c·λ^p,
//
// or μ0 alone with a nil mu1 if the world does not depend on time. The tables must not be changed.
func (w *World) Mixture() (mu0, mu1 []float64, c, p float64) { return w.mu0, w.mu1, w.c, w.p }

// Logits returns Rows in float32.
func (w *World) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := w.Rows(ctx, c)
	return out.Float32(), err
}

// LogProbs returns, for each position of a call, log μ of a token, −Inf only where μ is 0, however small λ^p may be,
// and the logarithm of the sum of its row. Nothing is normalised again.
func (w *World) LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error {
	if _, err := w.Rows(ctx, c); err != nil {
		return err
	}
	for i, token := range targets {
		row := w.out[i*w.v : (i+1)*w.v]
		logMu[i], logMass[i] = row[token], floats.LogSumExp(row)
	}
	return nil
}

// Rows returns log μ for the wanted positions of a call, [len(Positions)·V], in float64 and valid
// until the next call. Sigma may contain +Inf; it is nil for a world that does not depend on time.
// A probability of 0 is −Inf, and so is every entry of a visible position. Rows is not safe for
// concurrent use.
func (w *World) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	if err := ctx.Err(); err != nil {
		return draw.Row{}, err
	}
	if len(c.IDs) != len(c.Counts)*w.d {
		return draw.Row{}, fmt.Errorf("world: %d ids in %d rows: need %d ids a row", len(c.IDs), len(c.Counts), w.d)
	}
	if (c.Sigma != nil) != (w.mu1 != nil) || c.Sigma != nil && len(c.Sigma) != len(c.Counts) {
		return draw.Row{}, fmt.Errorf("world: %d values of sigma for %d rows: need one a row if and only if the world depends on time", len(c.Sigma), len(c.Counts))
	}
	if (c.Blocks != nil) != w.facts.Causal || c.Blocks != nil && len(c.Blocks) != len(c.Counts) {
		return draw.Row{}, fmt.Errorf("world: %d blocks for %d rows: need one a row if and only if the world is causal", len(c.Blocks), len(c.Counts))
	}
	if c.Noisy {
		return draw.Row{}, errors.New("world: noisy copies need keys and values, which a table does not keep: compute exact values")
	}
	w.out = slices.Grow(w.out[:0], len(c.Positions)*w.v)[:len(c.Positions)*w.v]
	at, ids := 0, make([]int, w.d)
	for r, k := range c.Counts {
		for l := range ids {
			ids[l] = int(c.IDs[r*w.d+l])
		}
		var block samplers.Span
		var weights Weights
		if w.facts.Causal {
			block = c.Blocks[r]
			for l := block.To; l < w.d; l++ {
				ids[l] = w.v
			}
		} else if w.mu1 != nil {
			weights = WeightsAt(w.c, w.p, -math.Expm1(-c.Sigma[r]))
		}
		state := w.State(ids)
		for _, l := range c.Positions[at : at+k] {
			from := (state*w.d + int(l)) * w.v
			dst := w.out[at*w.v : (at+1)*w.v]
			at++
			switch {
			case w.facts.Causal && block.From == block.To:
				copy(dst, w.after(ids[:l+1]))
			case w.log0 != nil:
				copy(dst, w.log0[from:])
			default:
				for a := range dst {
					dst[a] = weights.LogMix(w.mu0[from+a], w.mu1[from+a])
				}
			}
		}
	}
	return draw.Double(w.out), nil
}
