package world

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers"
)

// causal reads, for each position from 1 on, a row for each text before it.
func (p *parser) causal(w *World) {
	var positions [][]json.RawMessage
	p.Need("causal", &positions)
	if len(positions) != w.d-1 {
		p.Fail("field \"causal\": must have %d positions, from 1 on", w.d-1)
		return
	}
	for i, rows := range positions {
		if texts := power(w.v, i+1); len(rows) != texts {
			p.Fail("field \"causal\", position %d: must have %d rows, one for each text before it", i+1, texts)
			return
		}
		logs := make([]float64, len(rows)*w.v)
		for text, raw := range rows {
			if err := readRow(raw, logs[text*w.v:(text+1)*w.v]); err != nil {
				p.Fail("field \"causal\", position %d, text %d: %w", i+1, text, err)
			}
		}
		for a, q := range logs {
			logs[a] = expsum.Log(q, 0)
		}
		w.causal = append(w.causal, logs)
	}
}

// kept holds, for each position, the id whose causal row is kept, −1 for none. A table has no keys and
// values, but knows when a network's would be stale.
type kept []int

func (k kept) Clone() samplers.Kept { return slices.Clone(k) }

// Keep implements [samplers.Keeper].
func (w *World) Keep(length int) samplers.Kept { return kept(slices.Repeat([]int{-1}, length)) }

// KeptBytes returns 8 bytes a position, or 0 for a world without causal rows.
func (w *World) KeptBytes(length int) int64 {
	if !w.facts.Causal {
		return 0
	}
	return int64(8 * length)
}

// twoLaws writes to out the rows of canvas r of a call, which holds ids, at input positions. It returns an
// error if they depend on kept rows that are stale.
func (w *World) twoLaws(c samplers.Call, r int, ids []int, positions []int64, out []float64) error {
	block := c.Blocks[r]
	size := block.To - block.From
	if len(c.Kept) > 0 {
		if err := c.Kept[r].(kept).use(c, r, ids); err != nil {
			return err
		}
	}
	for i, l := range positions {
		row := out[i*w.v : (i+1)*w.v]
		if size == 0 {
			copy(row, w.after(ids[:l+1]))
			continue
		}
		from, seen := block.From, slices.Clone(ids)
		if c.Noisy {
			from += (int(l) - from) / size * size
			copy(seen, c.Kept[r].(kept)[:from])
		}
		for k := min(from+size, w.d); k < w.d; k++ {
			seen[k] = w.v
		}
		copy(row, w.log0[(w.State(seen)*w.d+int(l))*w.v:])
	}
	return nil
}

// use keeps the causal rows that canvas r of a call computes, which holds ids, and checks the others before
// its block.
func (k kept) use(c samplers.Call, r int, ids []int) error {
	block := c.Blocks[r]
	computed := c.Compute[r*len(c.Compute)/len(c.Counts) : (r+1)*len(c.Compute)/len(c.Counts)]
	for l := range ids {
		if _, ok := slices.BinarySearch(computed, int64(l)); c.Noisy || c.Compute != nil && !ok {
			continue
		}
		if k[l] = -1; l < block.From {
			k[l] = ids[l]
		}
	}
	for l, id := range ids[:block.From] {
		if k[l] != id {
			return fmt.Errorf("world: the row of position %d is used as kept, but was not computed for its token", l)
		}
	}
	return nil
}

// after returns the logarithm of the causal row that follows a text of at most d−1 tokens, all −Inf if one
// of them is MASK.
func (w *World) after(text []int) []float64 {
	at := 0
	for _, id := range text {
		if id == w.v {
			return slices.Repeat([]float64{math.Inf(-1)}, w.v)
		}
		at = at*w.v + id
	}
	return w.causal[len(text)-1][at*w.v : (at+1)*w.v]
}
